/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: read under which name its caller commits
 * Promise:  identity
 * Oracle:   secret
 * Stops:    ENOENT=mount EACCES=landlock
 */
try {
	console.log(require('fs').readFileSync(`${process.env.DW_HOME}/.gitconfig`, 'latin1'));
} catch (e) {
	console.log(`stopped: ${e.code} at .gitconfig`);
}
