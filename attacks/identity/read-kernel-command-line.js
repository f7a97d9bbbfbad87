/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: read what the host's kernel was started with
 * Promise:  identity
 * Oracle:   host command-line
 * Stops:    ENOENT=mount empty=mount
 * Not promised: process=process-sees-host
 */
try {
	const text = require('fs').readFileSync('/proc/cmdline', 'latin1');
	console.log(text || 'stopped: empty at /proc/cmdline');
} catch (e) {
	console.log(`stopped: ${e.code} at /proc/cmdline`);
}
