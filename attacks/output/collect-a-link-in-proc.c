/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: have a file collected through /proc, where links lead past every check of
 *           names
 * Promise:  honest-result
 * Control:  bare
 * Oracle:   secret
 * Options:  --collect out.txt
 * Stops:    collect=supervisor
 */
#include "attacks/attack.h"

ATTACK(collect_a_link_in_proc)
{
	char target[256];

	/* If the collector follows the link, it leads to the collector's own root. */
	(void)snprintf(target, sizeof(target), "/proc/self/root%s", attack_value("FLAG"));
	if (symlink(target, "out.txt") < 0)
		attack_stopped("symlink");
	return 0;
}
