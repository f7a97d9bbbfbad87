/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: delete all that is in the workspace
 * Promise:  host-writes
 * Oracle:   files
 * Options:  --workspace {base}/ws
 * Stops:    EROFS=mount EACCES=landlock
 */
const fs = require("fs");

for (const name of ["readme.txt", ".git/config", "src/main.py"]) {
  try {
    fs.unlinkSync(name);
  } catch (e) {
    console.log("stopped:", e.code, "at", e.syscall, name);
  }
}
