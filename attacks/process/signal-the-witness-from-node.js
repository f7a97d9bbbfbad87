/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: send a signal to a process of the host from JavaScript
 * Promise:  host-processes
 * Oracle:   witness
 * Stops:    ESRCH=namespace EPERM=landlock
 * Not promised: landlock6:process=process-old-landlock
 */
try {
	process.kill(Number(process.env.DW_PID), 'SIGUSR2');
} catch (e) {
	console.log(`stopped: ${e.code} at kill`);
}
