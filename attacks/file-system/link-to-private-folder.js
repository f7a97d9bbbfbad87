/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a link to a folder that only its owner may enter, and list and read it
 * Promise:  host-files
 * Oracle:   secret
 * Stops:    ENOENT=mount EACCES=landlock
 */
const fs = require("fs");

for (const what of ["private", "home/.ssh"]) {
  try {
    fs.symlinkSync(process.env.DW_BASE + "/" + what, "hop");
    for (const name of fs.readdirSync("hop")) console.log(fs.readFileSync("hop/" + name, "utf8"));
  } catch (e) {
    console.log("stopped:", e.code, "at", e.syscall);
  }
  fs.unlinkSync("hop");
}
