/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: hold a file of the host with O_PATH, and open it for good through
 *           /proc/self/fd
 * Promise:  host-files
 * Oracle:   secret
 * Stops:    ENOENT=mount EACCES=landlock
 * Because:  Landlock does not look at O_PATH, but at what is opened through it
 */
#include "attacks/attack.h"

ATTACK(reopen_an_o_path_descriptor)
{
	int fd = open(attack_value("FLAG"), O_PATH | O_CLOEXEC);
	char path[64];

	if (fd < 0) {
		attack_stopped("open");
		return 0;
	}
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)attack_spill_file(path);
	return 0;
}
