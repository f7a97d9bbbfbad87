/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its process limit by starting processes as an agent's tool would
 * Promise:  limits
 * Options:  --pids 24
 * Oracle:   count processes > 40
 * Stops:    EAGAIN=limit:pids pids=limit:pids
 * Not promised: foreign:docker=docker-threads
 */
const { spawn } = require("child_process");

let begun = 0;
for (let i = 0; i < 60; i++) {
  const child = spawn("/bin/sleep", ["4"], { stdio: "ignore" });
  child.on("error", (e) => {
    console.log("stopped:", e.code, "at spawn");
    process.exit();
  });
  child.on("spawn", () => {
    if (++begun === 60) process.title = "dw-hold";
  });
}
