/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: read what the host's kernel was started with
 * Promise:  identity
 * Oracle:   host command-line
 * Stops:    ENOENT=mount
 * Not promised: process=process-sees-host
 */
try {
	console.log(require('fs').readFileSync('/proc/cmdline', 'latin1'));
} catch (e) {
	console.log(`stopped: ${e.code} at /proc/cmdline`);
}
