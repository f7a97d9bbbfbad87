/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nursery: a process of a zygote's cell, beside the zygote, that makes cells
 * inside of it, one for each message of dewar's.
 *
 * All cells of a template have the same tree, and the zygote's cell has it, too. A
 * clone of a process in there begins with a copy of it, so nothing has to be
 * opened, put together and pivoted into, as dewar-launch has to for a cell from
 * outside; nor is there a launcher to start and to bury. Only what is to be the
 * cell's own is made: namespaces, ids, cgroups, /tmp, /dev/shm and /proc.
 *
 * It keeps the capabilities that the zygote's cell began with, which are worth
 * something in that cell and nowhere else; the zygote has none. It never runs
 * anybody's code and hears nobody but dewar.
 *
 * A message is the header of the cell's plan, and with it come the cell's report
 * socket and the cgroups to join. Everything else of the plan came once.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "launch/launch.h"

/* All but the cgroup namespace: its root is where one is, and that comes later. */
/* mutant: nursery-namespaces */
#define NAMESPACES                                                                  \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | \
	 CLONE_NEWUTS)

#define FIRST_OWN_FD (DW_LAUNCH_FD + 1)

static struct dw_plan_header header;

/* Tell dewar why there will be no cell; it has heard nothing else yet. */
static void refuse(int report, const struct dw_error *err)
{
	struct dw_report said = {
		.kind = DW_REPORT_ERROR,
		.stage = dw_launch_stage,
		.error = *err,
	};

	(void)dw_report_send(report, &said, -1);
}

/* In the nursery: the cell's first process is there, and waits for its ids. */
static void see_off(int report, pid_t pid, int pidfd, int gate)
{
	struct dw_report hello = {.kind = DW_REPORT_HELLO, .pid = pid};
	struct dw_error err = {0};

	if (header.become != 0 &&
	    dw_ids_map_for(pid, header.inside_id, header.map_to, 1, &err) < 0) {
		refuse(report, &err);
		return; /* it finds the gate closed */
	}
	(void)dw_fd_write_all(gate, "m", 1);
	(void)dw_report_send(report, &hello, pidfd);
}

/* Stages 2 and 5 to 7, in the cell's first process. */
static int settle_in(const struct dw_plan *plan, int gate, const int *cgroups, int n,
                     struct dw_error *err)
{
	char byte;
	int r;

	if (read(gate, &byte, 1) != 1)
		_exit(125); /* who could not map our ids has said so */
	if ((header.become != 0 ? dw_ids_take(header.inside_id, err)
	                        : dw_ids_map(header.inside_id, header.inside_id,
	                                     header.inside_id, err)) < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		r = dw_fd_write_all(cgroups[i], "0", 1);
		if (r < 0)
			return dw_fail(err, DW_E_INTERNAL, -r, "join the cell's cgroup");
	}
	if (unshare(CLONE_NEWCGROUP) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "create a cgroup namespace");
	/* mutant: nursery-loopback */
	if (dw_net_loopback_up(err) < 0)
		return -1;
	/* mutant: nursery-mounts */
	return dw_mounts_renew(plan, err);
}

/* The report's place is the launcher's; everything else goes. */
static void take_places(int report)
{
	struct dw_error err = {0};
	int r;

	if (dup2(report, DW_LAUNCH_FD) < 0)
		_exit(125);
	(void)fcntl(DW_LAUNCH_FD, F_SETFD, FD_CLOEXEC);
	r = dw_fd_close_from(FIRST_OWN_FD);
	if (r < 0) {
		(void)dw_fail(&err, DW_E_INTERNAL, -r, "close the nursery's descriptors");
		dw_launch_die(&err);
	}
}

/* One cell. Returns true in its first process, where all of it stands. */
static bool make_cell(struct dw_plan *plan, const int *fds, int n)
{
	int pidfd = -1, report = fds[0], gate[2];
	struct clone_args args = {
		.flags = NAMESPACES | CLONE_PARENT | CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)&pidfd,
	};
	struct dw_error err = {0};
	long pid;

	if (pipe2(gate, O_CLOEXEC) < 0) {
		(void)dw_fail(&err, DW_E_INTERNAL, errno, "make a pipe");
		refuse(report, &err);
		return false;
	}
	pid = dw_clone(&args);
	if (pid == 0) {
		(void)close(gate[1]);
		plan->h = &header;
		if (settle_in(plan, gate[0], fds + 1, n - 1, &err) < 0) {
			refuse(report, &err);
			_exit(125);
		}
		take_places(report);
		return true;
	}
	if (pid < 0) {
		(void)dw_fail(&err, DW_E_INTERNAL, errno, "create namespaces");
		refuse(report, &err);
	} else {
		see_off(report, (pid_t)pid, pidfd, gate[1]);
		(void)close(pidfd);
	}
	(void)close(gate[0]);
	(void)close(gate[1]);
	return false;
}

/* What a header may say: what the plan that came once has room for. */
static bool is_sound(const struct dw_plan *base, ssize_t len, int n)
{
	if (len != sizeof(header) || n < 1 || header.magic != DW_PLAN_MAGIC ||
	    header.n_rlimits > DW_PLAN_RLIMITS_MAX)
		return false;
	header.n_entries = base->h->n_entries;
	header.n_argv = header.n_env = 0;
	header.cwd = base->h->cwd;
	header.workdir = base->h->workdir;
	header.hostname = base->h->hostname;
	header.root_bytes = base->h->root_bytes;
	header.root_inodes = base->h->root_inodes;
	return true;
}

static void serve(int sock, struct dw_plan *plan)
{
	const struct dw_plan base = *plan;

	for (;;) {
		int fds[DW_REPORT_FDS_MAX], n = 0;
		ssize_t len = dw_report_receive_data(sock, &header, sizeof(header), fds,
		                                     &n);

		if (len <= 0)
			_exit(0);
		if (is_sound(&base, len, n) && make_cell(plan, fds, n))
			return;
		for (int i = 0; i < n; i++)
			(void)close(fds[i]);
	}
}

bool dw_nursery_start(int sock, int base_fd, struct dw_plan *plan)
{
	struct dw_error err = {0};
	struct dw_plan base;
	pid_t pid;
	int null;

	if (dw_launch_map_plan(base_fd, &base, &err) < 0)
		dw_launch_die(&err);
	pid = fork();
	if (pid < 0) {
		(void)dw_fail(&err, DW_E_INTERNAL, errno, "fork the nursery");
		dw_launch_die(&err);
	}
	if (pid > 0) {
		(void)close(sock);
		return false;
	}
	/*
	 * The zygote's stdio and its init's socket are not ours. Their numbers stay
	 * taken: what comes with a message goes above them.
	 */
	sock = fcntl(sock, F_DUPFD_CLOEXEC, DW_REPORT_FDS_MAX * 2);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = 0; fd <= DW_LAUNCH_FD; fd++)
		if (dup3(null, fd, O_CLOEXEC) < 0)
			_exit(125);
	*plan = base;
	serve(sock, plan);
	return true;
}
