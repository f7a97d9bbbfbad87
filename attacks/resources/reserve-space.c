/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: exceed its /tmp limit by reserving space without writing (fallocate)
 * Promise:  limits
 * Options:  --tmp 8M
 * Oracle:   count tmp_mb > 20
 * Stops:    ENOSPC=limit:tmp disk=limit:tmp EFBIG=limit:tmp
 */
#include <signal.h>

#include "attacks/attack.h"

ATTACK(reserve_space)
{
	int fd = open("filling", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	(void)signal(SIGXFSZ, SIG_IGN);
	if (fallocate(fd, 0, 0, (off_t)40 << 20) < 0)
		attack_stopped("fallocate");
	else
		attack_hold();
	return 0;
}
