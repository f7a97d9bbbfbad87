/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: write to a file that its caller had open
 * Promise:  host-writes
 * Control:  bare
 * Oracle:   files
 * Stops:    EBADF=absent
 */
#include "attacks/attack.h"

ATTACK(write_through_leaked_descriptor)
{
	if (pwrite(9, "gotcha", 6, 0) < 0)
		attack_stopped("pwrite");
	if (ftruncate(9, 0) < 0)
		attack_stopped("ftruncate");
	return 0;
}
