// SPDX-License-Identifier: Apache-2.0
/*
 * Node in a standby cell. Node cannot fork, so it is started ahead of each run as
 * `node -r this /tmp/main.js`: this file runs before Node opens the code, waits for the
 * job, puts everything in the same place as a cold start does, and lets Node go on.
 *
 * The first call of a function costs most, so this file does all that a short run does
 * once before, as far as the program cannot notice.
 */
'use strict';

const fs = require('fs');

const LIBRARY = '/tmp/.dewar/zygote.so';
const SOCKET = 3; // wire/enter.h defines the messages
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

  // Dewar closes the socket without a job if it no longer needs this cell.
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

/* Hold the program to the list of modules, with the hook.js that came with the job. */
function holdTo(names, text) {
  const hook = { exports: {} };

  // Node's thread for imports loads this file too: give it an empty one.
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

/* Print to a stream without output, through all code that console.log() uses. */
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

/* Handle a job with a file, run the file, and remove it. */
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

/* A function that ends the process at once with 0; undefined if Node loads no libraries. */
function loadLibrary() {
  const library = { exports: {} };

  process.env.DEWAR_WAIT = 'nowhere';
  try {
    process.dlopen(library, LIBRARY);
  } catch {
    // Then the process only takes longer to end.
  }
  delete process.env.DEWAR_WAIT;
  return typeof library.exports === 'function' ? library.exports : undefined;
}

/*
 * When Node ends, it reads process.emit to send the exit event. Add our listener only
 * then, as the last one: the program cannot see it before, and it is in no stack trace.
 * An end with an error is left to Node.
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

/* Without its own execArgv a worker would load this file too. */
function freeWorkers() {
  const threads = require('worker_threads');

  threads.Worker = new Proxy(threads.Worker, {
    construct(target, [file, options], self) {
      return Reflect.construct(target, [file, { execArgv: [], ...options }], self);
    },
  });
}

/* Remove the runner's files and options, which a cold start does not have. */
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
