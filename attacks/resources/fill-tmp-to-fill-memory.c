/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its memory limit with a file in a file system in memory
 * Promise:  limits
 * Options:  --memory 16M --tmp 64M
 * Oracle:   count tmp_mb > 40
 * Stops:    oom=limit:memory
 * Not promised: unenforced:tmp=limit-not-enforced
 * Because:  at level process the folder is the host's, and what is written there
 *           counts as the host's disk
 */
#include "attacks/attack.h"

#define STEP ((size_t)1 << 20)
#define STEPS 56

static char data[STEP];

ATTACK(fill_tmp_to_fill_memory)
{
	int fd = open("filling", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	for (int i = 0; i < STEPS; i++) {
		if (write(fd, data, sizeof(data)) < 0) {
			attack_stopped("write");
			return 0;
		}
		attack_pause(2);
	}
	attack_pause(300);
	attack_hold();
	return 0;
}
