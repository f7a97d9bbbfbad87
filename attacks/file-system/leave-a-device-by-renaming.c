/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: leave a device in a folder that it may write to by renaming a file there
 * Promise:  host-writes
 * Oracle:   files
 * Options:  --workspace {base}/ws --writable {base}/ws/out
 * Stops:    EPERM=seccomp|landlock EACCES=landlock EINVAL=seccomp
 * Because:  RENAME_WHITEOUT puts device 0:0, which means "deleted" to an overlay, in
 *           the place of the old name
 */
#include "attacks/attack.h"

ATTACK(leave_a_device_by_renaming)
{
	if (renameat2(AT_FDCWD, "out/old.txt", AT_FDCWD, "out/new.txt", RENAME_WHITEOUT) <
	    0)
		attack_stopped("renameat2");
	return 0;
}
