/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nursery: a process in a zygote's cell that creates further cells inside it, one for
 * each message from dewar.
 *
 * All cells of a template have the tree that the zygote's cell has. A process cloned there
 * starts with a copy of that tree, so it need not open sources, mount them or pivot, and
 * no launcher has to be started and reaped. Only the cell's own parts are created:
 * namespaces, ids, cgroups, /tmp, /dev/shm and /proc.
 *
 * The nursery keeps the capabilities of the zygote's cell, which are valid only there;
 * the zygote itself drops them. The nursery never runs untrusted code, and receives
 * messages from dewar only.
 *
 * A message is the header of the cell's plan, with the cell's report socket and cgroups.
 * The rest of the plan is the same for all cells: the nursery got it when it started.
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
#include "init/init.h"
#include "launch/launch_own.h"

/* The cgroup namespace is created later: its root is the cgroup of its creator. */
/* mutant: nursery-namespaces */
#define NAMESPACES                                                                  \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | \
	 CLONE_NEWUTS)

#define FIRST_OWN_FD (DW_LAUNCH_FD + 1)

static struct dw_plan_header header;

/* In the nursery: map the ids that the cell's first process waits for; send HELLO. */
static void map_and_report(int report, pid_t pid, int pidfd, int gate)
{
	struct dw_report hello = {.kind = DW_REPORT_HELLO, .pid = pid};
	struct dw_error err = {0};

	if (header.become != 0 &&
	    dw_ids_map_for(pid, header.inside_id, header.map_to, 1, &err) < 0) {
		dw_launch_send_error(report, &err);
		return; /* that process finds the gate closed */
	}
	(void)dw_fd_write_all(gate, "m", 1);
	(void)dw_report_send(report, &hello, pidfd);
}

/* In the cell's first process: build the cell, and keep nothing of the nursery. */
static void become_cell(struct dw_plan *plan, const int *fds, int n, int gate)
{
	const struct dw_builder builder = {
		.plan = plan,
		.gate = gate,
		.is_mapped = header.become != 0,
		.uid = header.inside_id, /* our ids in the zygote's user namespace */
		.gid = header.inside_id,
		.is_copy = true,
		.cgroups = fds + 1,
		.n_cgroups = n - 1,
	};
	struct dw_error err = {0};
	int r;

	/* The cell's report socket gets the same descriptor as in a launcher. */
	if (dup3(fds[0], DW_LAUNCH_FD, O_CLOEXEC) < 0)
		_exit(125);
	plan->h = &header;
	if (dw_build_cell(&builder, &err) < 0)
		dw_init_die(&err);
	r = dw_fd_close_from(FIRST_OWN_FD);
	if (r < 0) {
		(void)dw_fail(&err, DW_E_INTERNAL, -r,
		              "cannot close the nursery's descriptors");
		dw_init_die(&err);
	}
}

/* Create one cell. Returns true in its first process, once the cell is built. */
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
		(void)dw_fail(&err, DW_E_INTERNAL, errno, "cannot make a pipe");
		dw_launch_send_error(report, &err);
		return false;
	}
	pid = dw_clone(&args);
	if (pid == 0) {
		(void)close(gate[1]);
		become_cell(plan, fds, n, gate[0]);
		return true;
	}
	if (pid < 0) {
		(void)dw_fail(&err, DW_E_INTERNAL, errno, "cannot create namespaces");
		dw_launch_send_error(report, &err);
	} else {
		map_and_report(report, (pid_t)pid, pidfd, gate[1]);
		(void)close(pidfd);
	}
	(void)close(gate[0]);
	(void)close(gate[1]);
	return false;
}

/* Check the header, and keep of it only what may differ from the base plan. */
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

bool dw_zygote_cells_start(int sock, int base_fd, struct dw_plan *plan)
{
	struct dw_error err = {0};
	struct dw_plan base;
	pid_t pid;
	int null;

	if (dw_launch_map_plan(base_fd, &base, &err) < 0)
		dw_init_die(&err);
	pid = fork();
	if (pid < 0) {
		(void)dw_fail(&err, DW_E_INTERNAL, errno, "cannot fork the nursery");
		dw_init_die(&err);
	}
	if (pid > 0) {
		(void)close(sock);
		return false;
	}
	/*
	 * Give up the zygote's stdio and its init's socket, but keep their numbers taken,
	 * so that the descriptors of messages get higher numbers.
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
