/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its memory limit with a nameless file that no process maps
 * Promise:  limits
 * Options:  --memory 64M --tmp 512M
 * Oracle:   count memory_mb > 128
 * Stops:    oom=limit:memory ENOMEM=limit:memory
 * Because:  in the end it maps the file, so that it can be counted from outside.
 *           --tmp is large since at level process it holds every file
 */
#include <sys/mman.h>

#include "attacks/attack.h"

#define STEP ((size_t)1 << 20)
#define STEPS 200

static char data[STEP];

ATTACK(fill_a_memfd)
{
	int fd = memfd_create("mine", MFD_CLOEXEC);

	memset(data, 1, sizeof(data));
	for (int i = 0; i < STEPS; i++) {
		if (write(fd, data, sizeof(data)) < 0) {
			attack_stopped("write");
			return 0;
		}
		attack_pause(1);
	}
	attack_pause(300);
	if (mmap(NULL, STEPS * STEP, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0) ==
	    MAP_FAILED)
		attack_stopped("mmap");
	else
		attack_hold();
	return 0;
}
