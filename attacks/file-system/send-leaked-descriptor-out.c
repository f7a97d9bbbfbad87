/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: have the kernel copy from every descriptor that its caller may have left
 *           open
 * Promise:  host-files
 * Control:  bare
 * Oracle:   secret
 * Stops:    EBADF=absent
 */
#include <sys/sendfile.h>

#include "attacks/attack.h"

ATTACK(send_leaked_descriptor_out)
{
	bool any = false;
	off_t at;

	for (int fd = 3; fd < 1024; fd++) {
		at = 0;
		if (sendfile(STDOUT_FILENO, fd, &at, 4096) > 0)
			any = true;
		else
			any = any || errno != EBADF;
	}
	errno = EBADF;
	if (!any)
		attack_stopped("sendfile");
	return 0;
}
