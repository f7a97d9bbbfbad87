// SPDX-License-Identifier: Apache-2.0
/*
 * Node in a cell that waits. Node cannot fork, so it is started for each run ahead
 * of need, as `node -r this /tmp/main.js`: we run before it looks for the code, wait
 * for the job, put everything where a cold start has it, and let Node go on.
 *
 * What a run does for the first time costs most, so all that a short one does is
 * done once before, as far as nobody can tell afterwards.
 */
'use strict';

const fs = require('fs');

const LIBRARY = '/tmp/.dewar/zygote.so';
const SOCKET = 3; // wire/enter.h has the forms
const READY_MAGIC = 0x31454457;
const READY_SIZE = 64;
const JOB_MAGIC = 0x314c4457;
const JOB_MAX = 1 << 16;
const FILE = 1, CODE = 2, ARG = 3, ENV = 4, HOOK = 5;

function sayReady() {
  const ready = Buffer.alloc(READY_SIZE);

  ready.writeUInt32LE(READY_MAGIC, 0);
  ready.writeInt32LE(process.pid, 4);
  fs.writeSync(SOCKET, ready);
}

function readJob() {
  const buffer = Buffer.alloc(JOB_MAX);
  const length = fs.readSync(SOCKET, buffer);

  // Dewar closes the socket without a job if it does not want us any more.
  if (length < 16 || buffer.readUInt32LE(0) !== JOB_MAGIC) process.reallyExit(125);
  return buffer.subarray(16, length);
}

function* records(job) {
  for (let at = 0; at < job.length;) {
    const kind = job.readUInt32LE(at);
    const name = at + 12, data = name + job.readUInt32LE(at + 4);

    at = data + job.readUInt32LE(at + 8);
    yield { kind, name: job.toString('utf8', name, data), data: job.subarray(data, at) };
  }
}

function makeFile(path, data) {
  const folder = path.slice(0, path.lastIndexOf('/'));

  if (folder !== '/tmp') fs.mkdirSync(folder, { recursive: true, mode: 0o755 });
  fs.writeFileSync(path, data, { flag: 'wx', mode: 0o644 });
}

/* Only these modules for the program: hook.js, which came with the job. */
function holdTo(names, text) {
  const hook = { exports: {} };

  // Node's thread for imports begins with the runner, too: with nothing, in its place.
  fs.mkdirSync(__dirname);
  fs.writeFileSync(__filename, '');
  // eslint-disable-next-line no-new-func
  new Function('require', 'module', text)(require, hook);
  hook.exports(names);
  fs.unlinkSync(__filename);
  fs.rmdirSync(__dirname);
}

function heed(job) {
  for (const { kind, name, data } of records(job)) {
    if (kind === FILE || kind === CODE) makeFile(name, data);
    else if (kind === ARG) process.argv.push(data.toString());
    else if (kind === ENV) process.env[name] = data.toString();
    else if (kind === HOOK) holdTo(name, data.toString());
  }
}

function compose(kind, name, data) {
  const head = Buffer.alloc(12);

  head.writeUInt32LE(kind, 0);
  head.writeUInt32LE(name.length, 4);
  head.writeUInt32LE(data.length, 8);
  return Buffer.concat([head, Buffer.from(name + data)]);
}

/* Print to nobody, by all that console.log() goes through. */
function rehearsePrinting() {
  const util = require('util');
  const { Console } = require('console');
  const { Writable } = require('stream');
  const nowhere = new Writable({ write(chunk, encoding, done) { done(); } });
  const mute = new Console(nowhere, nowhere);

  for (let i = 0; i < 3; i++) {
    mute.log(i, 'text', [1, { a: 'b' }]);
    mute.error(util.inspect(new Error('none')));
  }
  process.stdout.write('');
}

/* Take a job with a file, run that, and take it away again. */
function rehearseRun() {
  for (let i = 0; i < 3; i++) {
    const path = `${__dirname}/rehearsal${i}.js`;

    heed(compose(CODE, path, 'module.exports = 1;'));
    require(path);
    delete require.cache[path];
    module.children.length = 0;
    fs.unlinkSync(path);
    process.emit('beforeExit', 0);
  }
}

/* A function that ends us at once, with 0; none if this Node takes no libraries. */
function loadLibrary() {
  const library = { exports: {} };

  process.env.DEWAR_WAIT = 'nowhere';
  try {
    process.dlopen(library, LIBRARY);
  } catch {
    // It takes longer to end, and that is all.
  }
  delete process.env.DEWAR_WAIT;
  return typeof library.exports === 'function' ? library.exports : undefined;
}

/*
 * When Node ends it asks process for emit, to tell of its exit. Only then we come
 * in, behind all others who listen: whoever looked before saw nobody, and no trace
 * of an error has us in it. An end that is not a good one takes its usual way.
 */
function endSooner(succeed) {
  const prototype = Object.getPrototypeOf(process);
  const { emit } = prototype;
  const last = (code) => {
    if (code === 0 && !process.exitCode) succeed();
  };
  let ending = false;

  Object.defineProperty(prototype, 'emit', {
    configurable: true,
    get() {
      if (process._exiting && !ending) {
        ending = true;
        process.on('exit', last);
      }
      return emit;
    },
    set(value) {
      Object.defineProperty(this, 'emit',
                            { value, configurable: true, enumerable: true, writable: true });
    },
  });
}

/* A worker would start with our runner, too, unless it is given options of its own. */
function freeWorkers() {
  const threads = require('worker_threads');

  threads.Worker = new Proxy(threads.Worker, {
    construct(target, [file, options], self) {
      return Reflect.construct(target, [file, { execArgv: [], ...options }], self);
    },
  });
}

/* A cold start has no runner. */
function leaveNoTrace() {
  fs.rmSync(LIBRARY, { force: true });
  fs.unlinkSync(__filename);
  fs.rmdirSync(__dirname);
  process.execArgv.length = 0;
  process._preload_modules.length = 0;
  delete require.cache[__filename];
}

rehearsePrinting();
rehearseRun();
const succeed = loadLibrary();
if (succeed) endSooner(succeed);
freeWorkers();
leaveNoTrace();
sayReady();
const job = readJob();
fs.closeSync(SOCKET);
heed(job);
