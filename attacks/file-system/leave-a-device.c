/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: leave a device in a folder that it may write to
 * Promise:  host-writes
 * Oracle:   files
 * Options:  --workspace {base}/ws --writable {base}/ws/out
 * Stops:    EPERM=seccomp|landlock|capability
 * Because:  every user may create device 0:0: to an overlay it means
 *           "deleted"
 */
#include <sys/stat.h>

#include "attacks/attack.h"

ATTACK(leave_a_device)
{
	if (mknod("out/null", S_IFCHR | 0666, 0) < 0)
		attack_stopped("mknod");
	return 0;
}
