/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a set-id file without a name, and then give it one in a shared folder
 * Promise:  privileges
 * Options:  --workspace {base}/ws --writable out
 * Oracle:   files
 * Stops:    EPERM=seccomp
 */
#include "attacks/attack.h"

ATTACK(leave_a_set_id_link)
{
	int fd = open("out", O_WRONLY | O_TMPFILE, 04755);
	char from[32], to[64];

	if (fd < 0) {
		attack_stopped("open");
		return 0;
	}
	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", fd);
	(void)snprintf(to, sizeof(to), "out/%s", attack_value("NONCE"));
	if (linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW) < 0)
		attack_stopped("linkat");
	return 0;
}
