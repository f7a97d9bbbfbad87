/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: write more than it may, into the holes of a file whose size was
 *           granted at once
 * Promise:  limits
 * Options:  --tmp 8M
 * Oracle:   count tmp_mb > 20
 * Stops:    ENOSPC=limit:tmp disk=limit:tmp EFBIG=limit:tmp
 */
#include <signal.h>

#include "attacks/attack.h"

#define STEP ((size_t)1 << 20)
#define STEPS 40

static char data[STEP];

ATTACK(fill_a_sparse_file)
{
	int fd = open("filling", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	(void)signal(SIGXFSZ, SIG_IGN);
	if (ftruncate(fd, (off_t)(STEPS * STEP)) < 0) {
		attack_stopped("ftruncate");
		return 0;
	}
	for (int i = STEPS - 1; i >= 0; i--)
		if (pwrite(fd, data, STEP, (off_t)i * (off_t)STEP) != (ssize_t)STEP) {
			attack_stopped("pwrite");
			return 0;
		}
	attack_hold();
	return 0;
}
