/* SPDX-License-Identifier: Apache-2.0 */
/* The names of JavaScript and Node.js that need a reason. */
#include "analysis/javascript.h"

const char *const dw_javascript_modules[] = {
	"child_process",
	"fs",
	"net",
	"http",
	"https",
	"http2",
	"os",
	"vm",
	"worker_threads",
	"cluster",
	"dgram",
	"dns",
	"tls",
	"module",
	"inspector",
	"v8",
	"repl",
	"process",
	"axios",
	"node-fetch",
	"request",
	"got",
	"undici",
	"ws",
	"superagent",
	"shelljs",
	"execa",
	"fs-extra",
	"rimraf",
	"ffi-napi",
	"puppeteer",
	"ssh2",
	"node-pty",
	"cross-spawn",
	"graceful-fs",
	NULL,
};

#define E DW_SEVERITY_ERROR
#define W DW_SEVERITY_WARNING

const struct dw_danger dw_javascript_dangers[] = {
	{"eval", "builtin:", E, DW_CODE_SELF},
	{"Function", "builtin:", E, 0},
	{"child_process.exec", "shell:", E, DW_CODE_SHELL},
	{"child_process.execSync", "shell:", E, DW_CODE_SHELL},
	{"child_process.spawn", "shell:", E, DW_CODE_SHELL},
	{"child_process.spawnSync", "shell:", E, DW_CODE_SHELL},
	{"child_process.execFile", "shell:", E, DW_CODE_SHELL},
	{"child_process.execFileSync", "shell:", E, DW_CODE_SHELL},
	{"child_process.fork", "shell:", E, 0},
	{"shelljs.exec", "shell:", E, DW_CODE_SHELL},
	{"execa.*", "shell:", E, 0},
	{"Deno.run", "shell:", E, 0},
	{"Deno.Command", "shell:", E, 0},
	{"Bun.spawn**", "shell:", E, 0},
	{"process.kill", "shell:", W, 0},
	{"fs.unlink**", "delete:", E, 0},
	{"fs.rm**", "delete:", E, 0},
	{"fs.truncate**", "delete:", E, 0},
	{"fs-extra.remove**", "delete:", E, 0},
	{"fs-extra.emptyDir**", "delete:", E, 0},
	{"rimraf.*", "delete:", E, 0},
	{"Deno.remove**", "delete:", E, 0},
	{"fetch", "network:", W, 0},
	{"XMLHttpRequest", "network:", W, 0},
	{"WebSocket", "network:", W, 0},
	{"EventSource", "network:", W, 0},
	{"navigator.sendBeacon", "network:", W, 0},
	{"net.connect", "network:", W, 0},
	{"net.createConnection", "network:", W, 0},
	{"net.createServer", "network:", W, 0},
	{"net.Socket", "network:", W, 0},
	{"tls.connect", "network:", W, 0},
	{"dgram.createSocket", "network:", W, 0},
	{"dns.resolve**", "network:", W, 0},
	{"dns.lookup", "network:", W, 0},
	{"http.request", "network:", W, 0},
	{"http.get", "network:", W, 0},
	{"http.createServer", "network:", W, 0},
	{"https.request", "network:", W, 0},
	{"https.get", "network:", W, 0},
	{"https.createServer", "network:", W, 0},
	{"http2.connect", "network:", W, 0},
	{"axios.*", "network:", W, 0},
	{"got.*", "network:", W, 0},
	{"undici.*", "network:", W, 0},
	{"vm.runIn**", "dynamic:", E, DW_CODE_SELF},
	{"vm.Script", "dynamic:", E, DW_CODE_SELF},
	{"vm.compileFunction", "dynamic:", E, DW_CODE_SELF},
	{"vm.SourceTextModule", "dynamic:", E, DW_CODE_SELF},
	{"worker_threads.Worker", "dynamic:", W, 0},
	{"Worker", "dynamic:", W, 0},
	{"importScripts", "dynamic:", E, 0},
	{"process.binding", "native:", E, 0},
	{"process._linkedBinding", "native:", E, 0},
	{"process.dlopen", "native:", E, 0},
	{"WebAssembly.*", "native:", W, 0},
	{"v8.setFlagsFromString", "native:", W, 0},
	{0},
};

#undef E
#undef W

/* What is there without an import, as far as we ask. */
const char dw_javascript_globals[] =
	" eval Function require process globalThis module Reflect Object String Buffer atob "
	"fetch XMLHttpRequest WebSocket EventSource Worker importScripts WebAssembly Deno Bun "
	"navigator setTimeout setInterval setImmediate unescape decodeURIComponent decodeURI ";

const char dw_javascript_everything[] = " globalThis global window self top frames ";
