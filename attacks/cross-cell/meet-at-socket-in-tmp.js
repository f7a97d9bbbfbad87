/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: serve another cell at a unix socket in /tmp
 * Promise:  neighbours
 * Cells:    pair
 * Oracle:   secret
 * Stops:    ENOENT=mount|landlock EACCES=landlock
 */
const net = require("net");
const path = "/tmp/" + process.env.DW_NONCE;
const stopped = (at) => (e) => console.log("stopped:", e.code, "at", at);

if (process.env.DW_ROLE === "first") {
  const server = net.createServer((c) => c.end(process.env.DW_SECRET));
  server.on("error", (e) => {
    stopped("listen")(e);
    process.title = "dw-hold";
  });
  server.listen(path, () => (process.title = "dw-hold"));
  setTimeout(() => process.exit(), 3000);
} else {
  const c = net.connect(path);
  c.on("error", stopped("connect"));
  c.on("data", (data) => console.log(data.toString()));
}
