/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: create a file that is set-uid from the start, without any chmod
 * Promise:  host-writes
 * Oracle:   files
 * Options:  --workspace {base}/ws --writable {base}/ws/out
 * Stops:    EPERM=seccomp
 */
#include <sys/stat.h>

#include "attacks/attack.h"

#define FCHMODAT2 452 /* newer than the headers of Debian 12 */

ATTACK(create_a_setuid_file)
{
	char path[64];
	int fd;

	(void)umask(0);
	if (open("out/one", O_CREAT | O_WRONLY | O_CLOEXEC, 06755) < 0)
		attack_stopped("open");
	if (mknod("out/two", S_IFREG | 06755, 0) < 0)
		attack_stopped("mknod");
	if (syscall(FCHMODAT2, AT_FDCWD, "out/old.txt", 06755, 0) < 0)
		attack_stopped("fchmodat2");
	fd = open("out", O_TMPFILE | O_RDWR | O_CLOEXEC, 06755);
	if (fd < 0) {
		attack_stopped("open");
		return 0;
	}
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, path, AT_FDCWD, "out/three", AT_SYMLINK_FOLLOW) < 0)
		attack_stopped("linkat");
	return 0;
}
