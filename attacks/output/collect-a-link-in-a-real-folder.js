/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: have a file of the host collected from behind a real folder, a linked one
 *           and dots
 * Promise:  honest-result
 * Control:  bare
 * Oracle:   secret
 * Options:  --collect d/e/flag
 * Stops:    collect=supervisor
 */
const fs = require("fs");

fs.mkdirSync("d");
fs.symlinkSync("../../../../../../../../.." + process.env.DW_BASE + "/private", "d/e");
