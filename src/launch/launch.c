/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/launch_own.h"

#include <errno.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init/init.h"

enum dw_report_stage dw_launch_stage;

void dw_launch_send_error(int sock, const struct dw_error *err)
{
	struct dw_report report = {
		.kind = DW_REPORT_ERROR,
		.stage = dw_launch_stage,
		.error = *err,
	};

	(void)dw_report_send(sock, &report, -1);
}

_Noreturn void dw_init_die(const struct dw_error *err)
{
	dw_launch_send_error(DW_LAUNCH_FD, err);
	_exit(125);
}

int dw_launch_map_plan(int fd, struct dw_plan *ret, struct dw_error *err)
{
	size_t len = 0;
	const void *map = dw_report_map(fd, &len);

	if (!map)
		return dw_fail(err, DW_E_INTERNAL, 0, "the plan is not sealed");
	(void)close(fd);
	return dw_plan_read(map, len, ret, err);
}

/*
 * Docker's seccomp filter refuses clone3() with ENOSYS, since a filter cannot read the
 * flags of clone3(), and Linux before 5.3 lacks the call. clone() takes the same flags,
 * up to 32 bits.
 */
long dw_clone(const struct clone_args *args)
{
	long pid = syscall(SYS_clone3, args, sizeof(*args));

	if (pid >= 0 || errno != ENOSYS || args->flags >> 32 != 0 || args->stack != 0)
		return pid;
	/* With CLONE_PIDFD the third argument is the address for the pidfd. */
	return syscall(SYS_clone, args->flags | args->exit_signal, 0, args->pidfd, 0, 0);
}
