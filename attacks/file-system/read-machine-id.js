/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: read the host's /etc/machine-id
 * Promise:  host-files
 * Oracle:   secret
 * Stops:    ENOENT=mount EACCES=landlock
 */
const fs = require("fs");

try {
  console.log(fs.readFileSync("/etc/machine-id", "utf8"));
} catch (e) {
  console.log("stopped:", e.code, "at", e.path);
}
