/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: send a forged report through every descriptor, as if it were the launcher
 * Promise:  honest-result
 * Control:  bare
 * Oracle:   forged
 * Oracle:   files
 * Stops:    EBADF=absent
 * Because:  in the control it is the file that its caller left open that it gets to
 */
#include "attacks/attack.h"

ATTACK(forge_a_report)
{
	char report[512] = {0};
	bool any = false;

	report[0] = 5;
	for (int fd = 3; fd < 1024; fd++)
		if (write(fd, report, sizeof(report)) >= 0 || errno != EBADF)
			any = true;
	errno = EBADF;
	if (!any)
		attack_stopped("write");
	return 7;
}
