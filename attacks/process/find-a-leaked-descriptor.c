/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: read from a file that its caller forgot to close
 * Promise:  host-files
 * Control:  bare
 * Oracle:   secret
 * Stops:    EBADF=absent
 */
#include "attacks/attack.h"

ATTACK(find_a_leaked_descriptor)
{
	char data[64] = "";
	bool found = false;

	for (int fd = 3; fd < 1024; fd++)
		if (pread(fd, data, sizeof(data) - 1, 0) > 0) {
			(void)puts(data);
			found = true;
		}
	if (!found)
		attack_stopped("pread");
	return 0;
}
