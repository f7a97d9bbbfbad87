/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to:     open a folder of the host to every user by changing its mode
 * Promise:      host-writes
 * Oracle:       files
 * Stops:        ENOENT=mount
 * Not promised: process=process-attributes
 */
#include <sys/stat.h>

#include "attacks/attack.h"

ATTACK(chmod_a_private_folder)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/private", attack_value("BASE"));
	if (chmod(path, 0777) < 0)
		attack_stopped("chmod");
	return 0;
}
