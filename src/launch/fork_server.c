/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage 0, for many cells: one launcher stays and forks another launcher for each cell,
 * at a sixth of the cost of starting one.
 *
 * It keeps no descriptor but its socket; each launcher gets its own plan, and is dewar's
 * child, not ours (CLONE_PARENT).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launch/launch_own.h"

/* In the child: move the four descriptors to the numbers that a launcher expects. */
static void place_fds(const int *fds)
{
	/* Move them above the fixed numbers: then no dup2() overwrites a source. */
	int source[DW_LAUNCH_FD + 1];

	for (int i = 0; i <= DW_LAUNCH_FD; i++)
		source[i] = fcntl(fds[i], F_DUPFD, DW_REPORT_FDS_MAX * 2);
	for (int i = 0; i <= DW_LAUNCH_FD; i++)
		if (source[i] < 0 || dup2(source[i], i) < 0)
			_exit(125);
}

void dw_launch_fork_server(void)
{
	struct clone_args args = {0};
	int fds[DW_REPORT_FDS_MAX], n;
	int64_t pid;

	(void)setsid(); /* a signal to dewar's process group must not end us */
	for (;;) {
		n = dw_report_receive_fds(DW_LAUNCH_FD, fds);
		if (n != DW_LAUNCH_FD + 1 && n != DW_LAUNCH_FD + 2)
			_exit(n == 0 ? 0 : 125);
		args = (struct clone_args){.flags = CLONE_PARENT};
		if (n > DW_LAUNCH_FD + 1) { /* the cgroup to start in */
			args.flags |= CLONE_INTO_CGROUP;
			args.cgroup = (uint64_t)fds[DW_LAUNCH_FD + 1];
		}
		pid = dw_clone(&args);
		if (pid == 0) {
			place_fds(fds);
			return;
		}
		if (pid < 0)
			pid = -errno;
		for (int i = 0; i < n; i++)
			(void)close(fds[i]);
		if (send(DW_LAUNCH_FD, &pid, sizeof(pid), MSG_NOSIGNAL) < 0)
			_exit(125);
	}
}
