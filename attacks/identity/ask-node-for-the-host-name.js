/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: learn the host's name from JavaScript
 * Promise:  identity
 * Oracle:   secret
 * Stops:    renamed=namespace
 * Not promised: process=process-sees-host
 * Because:  all cells have the same name
 */
const name = require('os').hostname();

console.log(name === 'dewar' ? 'stopped: renamed at hostname' : name);
