/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its limit on open files with copies of one descriptor
 * Promise:  limits
 * Options:  --files 32
 * Oracle:   count open_files > 100
 * Stops:    EMFILE=limit:files
 */

#include "attacks/attack.h"

ATTACK(copy_descriptors)
{
	for (int i = 0; i < 200; i++)
		if (dup(1) < 0) {
			attack_stopped("open");
			return 0;
		}
	attack_hold();
	return 0;
}
