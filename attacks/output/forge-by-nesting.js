/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: put a list in a list in a list, a thousand deep, into the result
 * Promise:  honest-result
 * Control:  bare
 * Oracle:   forged
 * Stops:    result=supervisor
 */
const deep = "[".repeat(1000) + "]".repeat(1000);

process.stdout.write('", "forged": ' + deep + ', "more": "');
process.exitCode = 7;
