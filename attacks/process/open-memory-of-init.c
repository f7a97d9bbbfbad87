/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: open the memory of the first process there is, which in a cell is ours
 *           and tells how the run ended
 * Promise:  honest-result
 * Control:  root
 * Oracle:   held fd ^/proc/1/mem
 * Stops:    EACCES=capability|landlock
 * Because:  init has the program's own id, but it is not dumpable, and not in its Landlock
 *           domain
 */
#include "attacks/attack.h"

ATTACK(open_memory_of_init)
{
	int fd = open("/proc/1/mem", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		attack_stopped("/proc/1/mem");
	else
		attack_hold();
	return 0;
}
