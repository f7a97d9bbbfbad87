/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its memory limit with buffers outside of the script's own heap
 * Promise:  limits
 * Options:  --memory 96M
 * Oracle:   count memory_mb > 180
 * Stops:    oom=limit:memory ENOMEM=limit:memory
 */
const held = [];
const grow = () => {
  held.push(Buffer.alloc(8 << 20, 1));
  if (held.length < 28) return setTimeout(grow, 5);
  setTimeout(() => (process.title = "dw-hold"), 300);
  setTimeout(() => process.exit(), 3300);
};
grow();
