/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: read the environment that it was started with, as the kernel keeps it
 * Promise:  identity
 * Oracle:   secret
 * Stops:    unset=absent
 * Because:  a cell gets a new environment without its caller's variables
 */
const variables = require('fs').readFileSync('/proc/self/environ', 'latin1').split('\0');

console.log(variables.filter((v) => v.startsWith('HOST_'))[0] || 'stopped: unset at environ');
