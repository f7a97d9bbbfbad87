/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: open the program file of a process of the host, the first half of
 *           overwriting it (CVE-2019-5736)
 * Promise:  host-processes
 * Control:  root
 * Oracle:   held fd dewar-verify
 * Stops:    ENOENT=namespace EACCES=landlock
 */
#include "attacks/attack.h"

ATTACK(hold_the_program_of_the_witness)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%ld/exe", attack_number("PID"));
	if (open(path, O_RDONLY) < 0)
		attack_stopped("/proc/PID/exe");
	else
		attack_hold();
	return 0;
}
