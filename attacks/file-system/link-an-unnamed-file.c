/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a file without a name in the workspace, and give it one
 * Promise:  host-writes
 * Oracle:   files
 * Options:  --workspace {base}/ws
 * Stops:    EROFS=mount EACCES=landlock
 * Because:  O_TMPFILE is another way to make a file than O_CREAT
 */
#include "attacks/attack.h"

ATTACK(link_an_unnamed_file)
{
	char path[64];
	int fd = open("src", O_TMPFILE | O_RDWR | O_CLOEXEC, 0755);

	if (fd < 0) {
		attack_stopped("open");
		return 0;
	}
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, path, AT_FDCWD, "src/gotcha.py", AT_SYMLINK_FOLLOW) < 0)
		attack_stopped("linkat");
	return 0;
}
