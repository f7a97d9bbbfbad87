// SPDX-License-Identifier: Apache-2.0
/*
 * Node with an allow-list of modules: the program may require or import only these. The
 * file that loads a module decides: the program's own files are held to the list, and may
 * load each other by path; installed packages load what they need. All of this is in the
 * same process as the program, which can circumvent it: only the walls are a boundary.
 *
 * Cold, Node starts as `node -r this /tmp/main.js`. Warm, zygote.js calls the exported
 * function.
 */
'use strict';

/* The rules for require and import; its text is also part of the module IMPORTS. */
function makeRules(names, folder) {
  const bare = (name) => (name.startsWith('node:') ? name.slice(5) : name);
  const allowed = names.map(bare);

  return {
    isAllowed: (name) => allowed.some((one) => bare(name) === one ||
                                               bare(name).startsWith(one + '/')),
    isLibrary: (file) => file.startsWith('/usr/') ||
                         (file.includes('/node_modules/') && !file.startsWith(folder + '/')),
    isPath: (name) => /^(\.{0,2}\/|\.{1,2}$|file:|data:)/.test(name),
    refusal(name) {
      const these = names.length ? names.join(', ') : 'none';
      const error = new Error(`${name} may not be imported here; these may: ${these}`);

      error.code = 'ERR_MODULE_NOT_ALLOWED';
      return error;
    },
  };
}

/* For import: Node runs this module in its own thread, and gets it as text. */
const IMPORTS = `
${makeRules}
let rules;
export function initialize({ names, folder }) {
  rules = makeRules(names, folder);
}
const pathOf = (url) => url.startsWith('file:') ? decodeURIComponent(new URL(url).pathname) : '';
export async function resolve(name, context, next) {
  const parent = context.parentURL;

  if (!parent || rules.isLibrary(pathOf(parent))) return next(name, context);
  if (!rules.isPath(name) && !rules.isAllowed(name)) throw rules.refusal(name);
  const found = await next(name, context);
  if (rules.isPath(name) && (found.url.startsWith('node:') || rules.isLibrary(pathOf(found.url))))
    throw rules.refusal(name);
  return found;
}`;

function holdRequire(Module, rules) {
  const { _load } = Module;
  const isLibrary = (parent) => typeof parent.filename === 'string' &&
    rules.isLibrary(parent.filename) && Module._cache[parent.filename] === parent;

  Module._load = function (name, parent, isMain) {
    const request = String(name);

    // Node's import passes no parent, and has already resolved the file.
    if (isMain || (parent ? isLibrary(parent) : request.startsWith('/')))
      return Reflect.apply(_load, this, [request, parent, isMain]);
    if (rules.isPath(request)
      ? rules.isLibrary(Module._resolveFilename(request, parent, false))
      : !rules.isAllowed(request))
      throw rules.refusal(request);
    return Reflect.apply(_load, this, [request, parent, isMain]);
  };
}

/* Guard the other functions that load built-in modules or native code. */
function holdProcess(Module, rules) {
  const { dlopen, getBuiltinModule } = process;
  const threads = require('worker_threads');

  process.binding = (name) => { throw rules.refusal(name); };
  process.dlopen = function (module, file, ...rest) {
    if (!rules.isLibrary(String(file))) throw rules.refusal(file);
    return Reflect.apply(dlopen, process, [module, file, ...rest]);
  };
  if (getBuiltinModule)
    process.getBuiltinModule = (name) => {
      if (!rules.isAllowed(String(name))) throw rules.refusal(name);
      return getBuiltinModule(name);
    };
  threads.Worker = function Worker() {
    throw new Error('a worker would not be held to the list of modules');
  };
  Module.syncBuiltinESMExports();
}

function install(names) {
  const Module = require('module');
  const folder = require('path').dirname(process.argv[1]);
  const rules = makeRules(names, folder);

  if (!Module.register) {
    process._rawDebug('dewar: allowed_modules takes a Node with module.register (18.19, 20.6)');
    process.reallyExit(125);
  }
  Module.register('data:text/javascript,' + encodeURIComponent(IMPORTS),
                  { parentURL: 'file:///', data: { names, folder } });
  holdProcess(Module, rules);
  holdRequire(Module, rules);
}

function split(text) {
  return text.split(',').filter((name) => name);
}

module.exports = (text) => install(split(text));
if (process.env.DEWAR_MODULES !== undefined) {
  const fs = require('fs');
  const names = process.env.DEWAR_MODULES;

  delete process.env.DEWAR_MODULES;
  module.exports(names);
  // Only now: Node's thread for imports loads this file too, and then does nothing.
  fs.unlinkSync(__filename);
  fs.rmdirSync(__dirname);
  process.execArgv.length = 0;
  process._preload_modules.length = 0;
  delete require.cache[__filename];
}
