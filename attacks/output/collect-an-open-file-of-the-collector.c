/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: have a file collected that the collector itself has open
 * Promise:  honest-result
 * Control:  bare
 * Oracle:   secret
 * Options:  --collect out.txt
 * Stops:    collect=supervisor
 */
#include "attacks/attack.h"

ATTACK(collect_an_open_file_of_the_collector)
{
	char target[64];

	(void)snprintf(target, sizeof(target), "/proc/%s/fd/5", attack_value("PID"));
	if (symlink(target, "out.txt") < 0)
		attack_stopped("symlink");
	return 0;
}
