/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar-launch: builds one cell and becomes its init.
 *
 * Theory of operation
 *
 * Dewar may have threads, a large memory and many descriptors; it must not
 * unshare, mount or change ids. It starts this program instead, once for each
 * cell, with a plan (kernel/plan.h) in a sealed memfd and a socket to report on
 * (kernel/report.h). The stages, in their order:
 *
 *	dewar ── spawns ──> outer
 *	                     1  read the plan, close what we were not given
 *	                     2  join the cgroups: from here on all is counted
 *	                     3  as root: open the host trees, then give up root for
 *	                        an id that nobody else has
 *	                     4  clone into new namespaces, say HELLO, end
 *	                           └──> inner, pid 1 of the cell
 *	                                 5  map the one id that the cell has
 *	                                 6  host name, loopback, network if asked
 *	                                 7  build the root, move in, leave the old
 *	                                 8  fork the program; be its init (init.c)
 *	                                       └──> program (program.c)
 *	                                             9  session, limits, capabilities,
 *	                                                Landlock, seccomp
 *	                                            10  read the walls back, report
 *	                                            11  exec
 *
 * Inner is cloned with CLONE_PARENT: it is dewar's own child, so that dewar can
 * wait for it and nobody stands between. Without namespaces (levels none and
 * process) outer itself goes on to be init, as a subreaper.
 *
 * Every stage either does all it says or ends the cell with an ERROR report.
 * There is no step whose failure is made up for by a weaker wall.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "launch/launch.h"

#define NAMESPACES                                                                         \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC |        \
	 CLONE_NEWUTS | CLONE_NEWCGROUP)

_Noreturn void dw_launch_die(const struct dw_error *err)
{
	struct dw_report report = {.kind = DW_REPORT_ERROR, .error = *err};

	(void)dw_report_send(DW_PLAN_FD_REPORT, &report, -1);
	_exit(125);
}

/*
 * Stage 1: the plan.
 *
 * On entry:  whatever descriptors and signal settings our parent had.
 * Does:      maps the plan and checks it.
 * Leaves:    no descriptor besides 0, 1, 2 and those of the plan; default
 *            signals, none blocked.
 */
static void read_plan(struct dw_plan *plan, struct dw_error *err)
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
	struct stat st;
	sigset_t none;
	void *map;

	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	for (int sig = 1; sig < NSIG; sig++)
		(void)signal(sig, SIG_DFL);
	(void)umask(022);

	/* What is not sealed could change under our eyes. */
	if (fcntl(DW_PLAN_FD_PLAN, F_GET_SEALS) != seals ||
	    fstat(DW_PLAN_FD_PLAN, &st) < 0) {
		(void)dw_fail(err, DW_E_INTERNAL, 0,
		              "dewar-launch is started by dewar, never by hand");
		dw_launch_die(err);
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, DW_PLAN_FD_PLAN, 0);
	if (map == MAP_FAILED) {
		(void)dw_fail(err, DW_E_INTERNAL, errno, "map the plan");
		dw_launch_die(err);
	}
	if (dw_plan_read(map, (size_t)st.st_size, plan, err) < 0)
		dw_launch_die(err);

	(void)close(DW_PLAN_FD_PLAN);
	if (close_range(DW_PLAN_FD_CGROUP + plan->h->n_cgroups, ~0U, 0) < 0) {
		(void)dw_fail(err, DW_E_UNSUPPORTED, errno,
		              "close inherited descriptors (Linux 5.9 or newer is needed)");
		dw_launch_die(err);
	}
	(void)fcntl(DW_PLAN_FD_REPORT, F_SETFD, FD_CLOEXEC);
}

/* Stage 2: a process that writes 0 into cgroup.procs moves itself. */
static int join_cgroups(const struct dw_plan *plan, struct dw_error *err)
{
	int fd = DW_PLAN_FD_CGROUP, r;

	for (uint32_t i = 0; i < plan->h->n_cgroups; i++, fd++) {
		r = dw_fd_write_all(fd, "0", 1);
		if (r < 0)
			return dw_fail(err, DW_E_INTERNAL, -r, "join the cell's cgroup");
		(void)close(fd);
	}
	return 0;
}

static int explain_clone(int eno, struct dw_error *err)
{
	switch (eno) {
	case EPERM:
	case EACCES:
		return dw_fail(err, DW_E_UNSUPPORTED, eno,
		               "create a user namespace: this host does not let "
		               "unprivileged users do it; try: "
		               "sysctl kernel.unprivileged_userns_clone=1 "
		               "kernel.apparmor_restrict_unprivileged_userns=0");
	case ENOSPC:
	case EUSERS:
		return dw_fail(err, DW_E_UNSUPPORTED, eno,
		               "create namespaces: the limit is reached or 0; try: "
		               "sysctl user.max_user_namespaces=10000");
	case ENOSYS:
	case EINVAL:
		return dw_fail(err, DW_E_UNSUPPORTED, eno,
		               "create namespaces: this kernel lacks one of user, mnt, "
		               "pid, net, ipc, uts, cgroup (or clone3)");
	default:
		return dw_fail(err, DW_E_INTERNAL, eno, "create namespaces");
	}
}

/* Stage 4. Returns in inner only. */
static int enter_namespaces(struct dw_error *err)
{
	struct dw_report hello = {.kind = DW_REPORT_HELLO};
	int pidfd = -1;
	struct clone_args args = {
		.flags = NAMESPACES | CLONE_PARENT | CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)&pidfd,
	};
	long pid = syscall(SYS_clone3, &args, sizeof(args));

	if (pid < 0)
		return explain_clone(errno, err);
	if (pid == 0)
		return 0;

	hello.pid = (int32_t)pid;
	_exit(dw_report_send(DW_PLAN_FD_REPORT, &hello, pidfd) < 0 ? 125 : 0);
}

/* Stage 6, second half: pasta, or whoever gives us a network, needs us alive. */
static int wait_for_network(struct dw_error *err)
{
	const struct dw_report ready = {.kind = DW_REPORT_NETWORK};
	char go;
	int r = dw_report_send(DW_PLAN_FD_REPORT, &ready, -1);

	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "ask for a network");
	if (read(DW_PLAN_FD_REPORT, &go, 1) != 1)
		_exit(125); /* whoever asked for this cell does not want it any more */
	return 0;
}

static int send_tmp(struct dw_error *err)
{
	const struct dw_report report = {.kind = DW_REPORT_TMP};
	int fd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), r;

	if (fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "open /tmp in the cell");
	r = dw_report_send(DW_PLAN_FD_REPORT, &report, fd);
	(void)close(fd);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "hand over /tmp");
	return 0;
}

static int build_cell(const struct dw_plan *plan, struct dw_error *err)
{
	static struct dw_sources sources;
	const char *hostname = dw_plan_text(plan, plan->h->hostname);
	bool root = plan->h->become != 0;
	uid_t uid;
	gid_t gid;

	/* Root opens what the caller named; a plain user does it as itself, below. */
	if (root && dw_sources_open(plan, &sources, err) < 0)
		return -1;
	if (root && dw_ids_become(plan->h->become, err) < 0)
		return -1;

	uid = geteuid();
	gid = getegid();
	if (enter_namespaces(err) < 0)
		return -1;

	if (dw_ids_map(plan->h->inside_id, uid, gid, err) < 0)
		return -1;
	if (sethostname(hostname, strlen(hostname)) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "set the cell's host name");
	if (dw_net_loopback_up(err) < 0)
		return -1;
	if (!root && dw_sources_open(plan, &sources, err) < 0)
		return -1;
	if (dw_mounts_build(plan, &sources, err) < 0)
		return -1;
	if ((plan->h->flags & DW_PLAN_WAIT_NETWORK) && wait_for_network(err) < 0)
		return -1;
	if ((plan->h->flags & DW_PLAN_SEND_TMP) && send_tmp(err) < 0)
		return -1;
	return 0;
}

/* Levels without namespaces: the files, and a HELLO of our own. */
static int build_plain(const struct dw_plan *plan, struct dw_error *err)
{
	struct dw_report hello = {.kind = DW_REPORT_HELLO, .pid = getpid()};
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0), r;

	if (pidfd < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, errno,
		               "open a pidfd (Linux 5.3 or newer is needed)");
	r = dw_report_send(DW_PLAN_FD_REPORT, &hello, pidfd);
	(void)close(pidfd);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "report to dewar");

	/* Orphans of the program come to us, and not to the host's init. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "become a subreaper");

	for (uint32_t i = 0; i < plan->h->n_entries; i++) {
		const struct dw_plan_entry *e = &plan->entries[i];

		if (e->op <= DW_PLAN_FILE && dw_files_make(plan, e, err) < 0)
			return -1;
	}
	return 0;
}

int main(void)
{
	struct dw_error err = {0};
	struct dw_plan plan;
	pid_t program;
	int r;

	read_plan(&plan, &err);
	if (join_cgroups(&plan, &err) < 0)
		dw_launch_die(&err);

	if (plan.h->flags & DW_PLAN_NAMESPACES)
		r = build_cell(&plan, &err);
	else
		r = build_plain(&plan, &err);
	if (r < 0)
		dw_launch_die(&err);

	program = fork();
	if (program < 0) {
		(void)dw_fail(&err, DW_E_INTERNAL, errno, "fork the program");
		dw_launch_die(&err);
	}
	if (program == 0)
		dw_program_start(&plan);
	dw_init_run(&plan, program);
}
