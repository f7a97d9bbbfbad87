/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: empty a file of the workspace by opening it for reading with O_TRUNC
 * Promise:  host-writes
 * Oracle:   files
 * Options:  --workspace {base}/ws
 * Stops:    EROFS=mount EACCES=landlock
 */
#include "attacks/attack.h"

ATTACK(truncate_while_only_reading)
{
	if (open("readme.txt", O_RDONLY | O_TRUNC | O_CLOEXEC) < 0)
		attack_stopped("open");
	if (truncate("src/main.py", 1) < 0)
		attack_stopped("truncate");
	return 0;
}
