/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to:     change the times of a file of the host, so that make or a backup passes
 *               it over
 * Promise:      host-writes
 * Oracle:       files
 * Stops:        ENOENT=mount
 * Not promised: process=process-attributes
 */
#include <sys/stat.h>

#include "attacks/attack.h"

ATTACK(touch_a_file_of_the_host)
{
	const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};

	if (utimensat(AT_FDCWD, attack_value("FLAG"), times, AT_SYMLINK_NOFOLLOW) < 0)
		attack_stopped("utimensat");
	return 0;
}
