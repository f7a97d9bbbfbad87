/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: leave a module where the next cell's require() finds it
 * Promise:  neighbours
 * Cells:    after
 * Oracle:   secret
 * Stops:    MODULENOTFOUND=mount|supervisor
 * Because:  each cell has a home of its own, that goes with it; at level process
 *           it is dewar that makes the folder and removes it
 */
const fs = require("fs");
const folder = process.env.HOME + "/.node_modules";

if (process.env.DW_ROLE === "first") {
  fs.mkdirSync(folder);
  fs.writeFileSync(
    folder + "/left-pad.js",
    `console.log("${process.env.DW_SECRET}")`,
  );
} else {
  try {
    require("left-pad");
  } catch (e) {
    console.log("stopped:", e.code.replace(/_/g, ""), "at require");
  }
}
