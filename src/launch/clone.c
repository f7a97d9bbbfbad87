/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launch/launch.h"

/*
 * Docker's own filter says ENOSYS to clone3(), since it cannot read its flags; Linux
 * before 5.3 has none. clone() takes them all, but for those above its 32 bits.
 */
long dw_clone(const struct clone_args *args)
{
	long pid = syscall(SYS_clone3, args, sizeof(*args));

	if (pid >= 0 || errno != ENOSYS || args->flags >> 32 != 0 || args->stack != 0)
		return pid;
	/* With CLONE_PIDFD, the third is where the pidfd goes. */
	return syscall(SYS_clone, args->flags | args->exit_signal, 0, args->pidfd, 0, 0);
}
