/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: read the environment of a process of the host through the folder of its
 *           thread
 * Promise:  host-processes
 * Control:  root
 * Oracle:   secret
 * Stops:    ENOENT=namespace EACCES=landlock
 */
const fs = require('fs');
const pid = process.env.DW_PID;

try {
	console.log(fs.readFileSync(`/proc/${pid}/task/${pid}/environ`, 'latin1'));
} catch (e) {
	console.log(`stopped: ${e.code} at environ`);
}
