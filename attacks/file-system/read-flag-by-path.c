/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: read a file of the host by its full path
 * Promise:  host-files
 * Oracle:   secret
 * Stops:    ENOENT=mount EACCES=landlock
 */
#include "attacks/attack.h"

ATTACK(read_flag_by_path)
{
	(void)attack_spill_file(attack_value("FLAG"));
	return 0;
}
