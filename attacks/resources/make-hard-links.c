/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: create so many names for one file that no other process can create a file
 * Promise:  limits
 * Options:  --tmp 1M
 * Oracle:   count tmp_files > 1000
 * Stops:    ENOSPC=limit:tmp disk=limit:tmp
 * Not promised: unenforced:tmp=limit-not-enforced noted:tmp=docker-files
 *   foreign:docker=docker-files
 */

#include "attacks/attack.h"

#define MANY 1500

ATTACK(make_hard_links)
{
	char name[32];

	(void)close(open("one", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	for (int i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof(name), "n%d", i);
		if (link("one", name) < 0) {
			attack_stopped("link");
			return 0;
		}
	}
	attack_hold();
	return 0;
}
