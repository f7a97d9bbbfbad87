/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages 8 to 10 of a cell whose program a zygote forks: init waits until the program has
 * entered, and checks its walls.
 *
 * Until then only our own code is in the cell, and init is still dumpable: the kernel
 * requires that of a process whose namespaces another process enters. The launcher makes
 * init undumpable (dw_init_close()) before any untrusted code runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "init/init.h"

pid_t dw_entered_holder;

bool dw_entered_receive(struct dw_init_message *ret)
{
	return recv(DW_LAUNCH_FD, ret, sizeof(*ret), 0) == sizeof(*ret);
}

/* Returns true if the process is alive and is our child. */
static bool is_our_child(pid_t pid)
{
	siginfo_t info = {0};

	return pid > 1 &&
	       waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == 0;
}

void dw_entered_find_holder(pid_t program)
{
	char path[64], text[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", program, program);
	if (dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) > 0)
		dw_entered_holder = (pid_t)strtol(text, NULL, 10);
}

/* Count the filters that init itself has, such as those of a container around us. */
static int32_t count_outer(void)
{
	struct dw_walls own;

	dw_readback_own(0, 0, &own);
	return own.seccomp_filters > 0 ? own.seccomp_filters : 0;
}

/* Returns true if no filter is missing; the program inherits most from the zygote. */
static bool is_filtered(const struct dw_walls *walls, int32_t outer)
{
	return walls->seccomp_mode == SECCOMP_MODE_FILTER &&
	       (walls->seccomp_filters == outer + DW_SECCOMP_FILTERS ||
	        walls->seccomp_filters < 0); /* kernels before 5.11 do not count */
}

pid_t dw_entered_wait(const struct dw_plan *plan, struct dw_error *err)
{
	const struct dw_report empty = {.kind = DW_REPORT_EMPTY};
	autoclose int ruleset = -1;
	struct dw_walls shared = {0};
	struct dw_init_message m;
	int32_t outer;
	int abi = 0, r;

	/* The program does not start on this core, so init need not stay here. */
	(void)sched_setaffinity(0, sizeof(plan->h->cpus), &plan->h->cpus);
	if ((plan->h->flags & DW_PLAN_LANDLOCK) &&
	    dw_landlock_ruleset(plan, &abi, &ruleset, err) < 0)
		return -1;
	dw_readback_shared(&shared); /* now, while dewar does not wait for us */
	outer = count_outer();
	r = dw_report_send(DW_LAUNCH_FD, &empty, ruleset);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "cannot report the empty cell");

	if (!dw_entered_receive(&m) || m.kind != DW_INIT_READY)
		_exit(125); /* dewar has cancelled the cell */
	if (!is_our_child(m.pid))
		return dw_fail(err, DW_E_INTERNAL, 0, "process %d did not enter the cell",
		               m.pid);
	/* The proof reports our namespaces and mounts, so the program must share them. */
	/* mutant: compare-namespaces */
	if (!dw_readback_shares_all(m.pid, &shared))
		return dw_fail(err, DW_E_INTERNAL, 0,
		               "process %d is not in all of the cell's namespaces",
		               m.pid);
	dw_entered_find_holder(m.pid);
	dw_readback_own(m.pid, abi, &dw_program_walls);
	/* mutant: count-filters */
	if ((plan->h->flags & DW_PLAN_SECCOMP) && !is_filtered(&dw_program_walls, outer))
		return dw_fail(err, DW_E_INTERNAL, 0, "process %d lacks a seccomp filter",
		               m.pid);
	dw_readback_join(&shared, &dw_program_walls);
	return m.pid;
}
