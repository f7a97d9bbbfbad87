/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: move a folder of the host into one that it may read and write
 * Promise:  host-files
 * Oracle:   secret
 * Oracle:   files
 * Options:  --workspace {base}/ws --writable {base}/ws/out
 * Stops:    ENOENT=mount EXDEV=landlock EACCES=landlock
 */
const fs = require("fs");

try {
  fs.renameSync(process.env.DW_BASE + "/deep", "out/deep");
  console.log(fs.readFileSync("out/deep/a/b/c/flag", "utf8"));
} catch (e) {
  console.log("stopped:", e.code, "at", e.syscall);
}
