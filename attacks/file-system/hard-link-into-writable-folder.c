/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: link a read-only file into a folder that it may write to, and write to it
 *           there
 * Promise:  host-writes
 * Oracle:   files
 * Options:  --workspace {base}/ws --writable {base}/ws/out
 * Stops:    EXDEV=mount|landlock EPERM=mount|landlock EACCES=landlock
 */
#include "attacks/attack.h"

ATTACK(hard_link_into_writable_folder)
{
	int fd;

	if (link("readme.txt", "out/hard") < 0) {
		attack_stopped("link");
		return 0;
	}
	fd = open("out/hard", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "gotcha", 6) < 0)
		attack_stopped("write");
	return 0;
}
