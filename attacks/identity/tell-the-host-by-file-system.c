/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: tell one host from another by the number of a file system that is shown
 * Promise:  identity
 * Oracle:   host file-system
 * Stops:    hidden=mount
 * Not promised: process=shown-places container=shown-places
 */
#include <sys/statfs.h>

#include "attacks/attack.h"

ATTACK(tell_the_host_by_file_system)
{
	struct statfs fs;
	int id[2];

	if (statfs("/usr", &fs) < 0) {
		attack_stopped("statfs");
		return 0;
	}
	memcpy(id, &fs.f_fsid, sizeof(id));
	(void)printf("file system %08x%08x\n", id[0], id[1]);
	attack_stopped_by("hidden", "statfs");
	return 0;
}
