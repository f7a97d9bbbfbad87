/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: link a file of the host into a folder that it may read and write, and read
 *           it there
 * Promise:  host-files
 * Oracle:   secret
 * Oracle:   files
 * Options:  --workspace {base}/ws --writable {base}/ws/out
 * Stops:    ENOENT=mount EXDEV=landlock EACCES=landlock
 */
#include "attacks/attack.h"

ATTACK(hard_link_flag_to_read_it)
{
	const char *flag = attack_value("FLAG");
	int fd = open(flag, O_PATH | O_CLOEXEC);
	char path[64];

	if (link(flag, "out/one") < 0)
		attack_stopped("link");
	else
		(void)attack_spill_file("out/one");
	if (fd < 0)
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, path, AT_FDCWD, "out/two", AT_SYMLINK_FOLLOW) < 0)
		attack_stopped("linkat");
	else
		(void)attack_spill_file("out/two");
	return 0;
}
