/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar-launch: builds one cell and becomes its init.
 *
 * Theory of operation
 *
 * Dewar may have threads, a large memory and many descriptors; it must not
 * unshare, mount or change ids. It starts this program instead, once for each
 * cell, with a plan (wire/plan.h) in a sealed memfd and a socket to report on
 * (wire/report.h). The stages, in their order:
 *
 *	dewar ── spawns ──> outer   (or the fork server does: fork_server.c)
 *	                     1  close inherited descriptors, read the plan
 *	                     2  join the cgroups, which count all use from here on
 *	                     3  as root: open the host trees, then give up root for
 *	                        an id that is used for nothing else; or, for a zygote's cell,
 *	                        join the zygote's user namespace
 *	                     4  clone into new namespaces, say HELLO, end
 *	                           └──> inner, pid 1 of the cell
 *	                                 5  map the one id that the cell has
 *	                                 6  host name, loopback, network if asked
 *	                                 7  build the root, move in, leave the old
 *	                                 8  drop every capability; fork the program
 *	                                    and be its init (init.c)
 *	                                       └──> program (program.c)
 *	                                             9  session, limits, Landlock,
 *	                                                seccomp, exec
 *	                                10  read back the program's walls, report
 *
 * If a zygote forks the program (DW_PLAN_ENTERED), the fork does stage 9 by itself
 * (runners/walls.c), and init waits for it (entered.c).
 *
 * Inner is cloned with CLONE_PARENT: it is dewar's own child, so that dewar can
 * wait for it directly. Without namespaces (levels none and process) outer itself
 * goes on to be init, as a subreaper.
 *
 * Every stage either does all it says or ends the cell with an ERROR report.
 * No step that fails falls back to a weaker wall.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/kernel.h"
#include "init/init.h"
#include "launch/launch_own.h"

/* mutant: cell-namespaces */
#define NAMESPACES                                                                  \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | \
	 CLONE_NEWUTS | CLONE_NEWCGROUP)

/* The descriptors that came with the plan, or -1. */
struct given {
	int userns;
	int pidns;
	int job;
	int nursery; /* a socket */
	int base;    /* a plan */
	int cgroups[DW_REPORT_FDS_MAX];
	int n_cgroups;
};

/*
 * Stage 1: the plan.
 *
 * On entry:  any descriptors that our parent left open; no signal is ignored or
 *            blocked (levels/spawn.c).
 * Does:      waits for the plan, maps it and checks it.
 * Leaves:    no descriptor besides 0, 1, 2, the socket and those in given.
 */
static int read_plan(struct dw_plan *plan, struct given *given, struct dw_error *err)
{
	int fds[DW_REPORT_FDS_MAX], n, r, at = 1;

	/*
	 * A session of our own: a signal to dewar's process group must not end or
	 * stop the process that cleans up after dewar.
	 */
	(void)setsid();
	(void)umask(0); /* every mode below is exact */
	/* mutant: close-inherited-fds */
	r = dw_fd_close_from(DW_LAUNCH_FD + 1);
	if (r < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, -r,
		               "cannot close inherited descriptors (Linux 5.9 or newer is "
		               "needed, or a /proc)");
	(void)fcntl(DW_LAUNCH_FD, F_SETFD, FD_CLOEXEC);

	n = dw_report_receive_fds(DW_LAUNCH_FD, fds);
	if (n < 0)
		return dw_fail(err, DW_E_INTERNAL, -n, "only dewar starts dewar-launch");
	if (n == 0)
		_exit(125); /* dewar has cancelled the cell */

	if (dw_launch_map_plan(fds[0], plan, err) < 0)
		return -1;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): dw_fail() returns -1 */
	if (plan->h->flags & DW_PLAN_NESTED)
		given->userns = at < n ? fds[at++] : -1;
	if (plan->h->flags & DW_PLAN_NESTED)
		given->pidns = at < n ? fds[at++] : -1;
	if (plan->h->flags & DW_PLAN_JOB)
		given->job = at < n ? fds[at++] : -1;
	if (plan->h->flags & DW_PLAN_NURSERY)
		given->nursery = at < n ? fds[at++] : -1;
	if (plan->h->flags & DW_PLAN_NURSERY)
		given->base = at < n ? fds[at++] : -1;
	while (at < n)
		given->cgroups[given->n_cgroups++] = fds[at++];
	return 0;
}

/*
 * Returns true if outer writes the id map. Inner may map only its own id; any other map
 * needs capabilities in the parent namespace, which outer still has.
 */
static bool is_mapped_by_outer(const struct dw_plan *plan)
{
	return plan->h->become != 0 &&
	       (plan->h->flags & (DW_PLAN_NESTED | DW_PLAN_RANGE));
}

static void map_for_inner(const struct dw_plan *plan, int pidfd, const int *gate)
{
	const struct dw_plan_header *h = plan->h;
	struct dw_error err = {0};

	if (dw_ids_map_for(dw_pidfd_pid(pidfd), h->inside_id,
	                   h->flags & DW_PLAN_NESTED ? h->map_to : h->become,
	                   h->flags & DW_PLAN_NESTED ? 1 : h->map_count, &err) < 0)
		dw_init_die(&err); /* inner then finds the gate closed */
	(void)dw_fd_write_all(gate[1], "m", 1);
}

/* Stage 4. Returns in inner only. */
static int enter_namespaces(const struct dw_plan *plan, const int *gate,
                            struct dw_error *err)
{
	struct dw_report hello = {.kind = DW_REPORT_HELLO};
	int pidfd = -1;
	struct clone_args args = {
		.flags = NAMESPACES | CLONE_PARENT | CLONE_PIDFD,
		.pidfd = (uint64_t)(uintptr_t)&pidfd,
	};
	long pid = dw_clone(&args);

	if (pid < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, errno, "cannot create namespaces");
	if (pid == 0)
		return 0;

	if (is_mapped_by_outer(plan))
		map_for_inner(plan, pidfd, gate);
	hello.pid = (int32_t)pid;
	_exit(dw_report_send(DW_LAUNCH_FD, &hello, pidfd) < 0 ? 125 : 0);
}

/*
 * A zygote can fork only into pid namespaces below its own, so the cell's is created
 * there. setns() moves only the caller's children, so the launcher goes on as a new
 * process, which is a child of dewar (CLONE_PARENT).
 */
static int join_pidns(int pidns, struct dw_error *err)
{
	struct dw_report handed = {.kind = DW_REPORT_HANDED};
	struct clone_args args = {.flags = CLONE_PARENT};
	long pid;

	if (setns(pidns, CLONE_NEWPID) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot enter the zygote's pid namespace");
	pid = dw_clone(&args);
	if (pid < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot fork into the pid namespace");
	if (pid == 0)
		return 0;
	handed.pid = (int32_t)pid;
	_exit(dw_report_send(DW_LAUNCH_FD, &handed, -1) < 0 ? 125 : 0);
}

/* Stage 3. */
static int give_up_root(const struct dw_plan *plan, const struct given *given,
                        struct dw_error *err)
{
	const struct dw_plan_header *h = plan->h;

	if ((h->flags & DW_PLAN_NESTED) &&
	    dw_ids_join(given->userns, h->become != 0, h->inside_id, err) < 0)
		return -1;
	if (h->flags & DW_PLAN_NESTED)
		return join_pidns(given->pidns, err);
	if (h->become == 0)
		return 0;
	/* mutant: give-up-root */
	if (!(h->flags & DW_PLAN_RANGE))
		return dw_ids_become(h->become, err);
	/* Inner gives up root once its ids are mapped. */
	if (setgroups(0, NULL) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot drop the groups of root");
	return 0;
}

/* Stages 3 to 7. Returns in the cell's first process only. */
static int make_cell(const struct dw_plan *plan, const struct given *given,
                     struct dw_error *err)
{
	static struct dw_sources sources;
	struct dw_builder builder = {
		.plan = plan,
		.gate = -1,
		.is_mapped = is_mapped_by_outer(plan),
		.sources = &sources,
	};
	int gate[2] = {-1, -1};

	/* Root opens the caller's trees now; a plain user does so in stage 7. */
	dw_launch_stage = DW_STAGE_SOURCES;
	if ((plan->h->flags & DW_PLAN_OPEN_EARLY) &&
	    dw_sources_open(plan, &sources, err) < 0)
		return -1;
	dw_launch_stage = DW_STAGE_OTHER;
	if (give_up_root(plan, given, err) < 0)
		return -1;

	if (builder.is_mapped && pipe2(gate, O_CLOEXEC) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot make a pipe");
	builder.uid = geteuid();
	builder.gid = getegid();
	dw_launch_stage = DW_STAGE_NAMESPACES;
	if (enter_namespaces(plan, gate, err) < 0)
		return -1;
	if (gate[1] >= 0)
		(void)close(gate[1]); /* else we would never see outer's end closed */
	builder.gate = gate[0];
	return dw_build_cell(&builder, err);
}

/* Levels without namespaces: the files, and a HELLO of our own. */
static int build_plain(const struct dw_plan *plan, struct dw_error *err)
{
	struct dw_report hello = {.kind = DW_REPORT_HELLO, .pid = getpid()};
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0), r;

	if (pidfd < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, errno,
		               "cannot open a pidfd (Linux 5.3 or newer is needed)");
	r = dw_report_send(DW_LAUNCH_FD, &hello, pidfd);
	(void)close(pidfd);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "cannot report to dewar");

	/* The program's orphans become our children, not those of the host's init. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot become a subreaper");

	for (uint32_t i = 0; i < plan->h->n_entries; i++) {
		const struct dw_plan_entry *e = &plan->entries[i];

		if (e->op <= DW_PLAN_FILE && dw_files_make(plan, e, err) < 0)
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct given given = {-1, -1, -1, -1, -1, {0}, 0};
	const struct dw_report start = {.kind = DW_REPORT_START};
	struct dw_init init;
	struct dw_error err = {0};
	struct dw_plan plan;
	pid_t program;
	char message;

	(void)argv;
	if (argc > 1) /* "serve" is the only argument */
		dw_launch_fork_server();
	if (read_plan(&plan, &given, &err) < 0 ||
	    dw_build_join_cgroups(given.cgroups, given.n_cgroups, &err) < 0)
		dw_init_die(&err);

	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): dw_fail() returns -1 */
	if ((plan.h->flags & DW_PLAN_NAMESPACES ? make_cell(&plan, &given, &err)
	                                        : build_plain(&plan, &err)) < 0)
		dw_init_die(&err);

	/* Also returns in the first process of each of the zygote's cells. */
	if (plan.h->flags & DW_PLAN_NURSERY)
		(void)dw_zygote_cells_start(given.nursery, given.base, &plan);

	/* Neither init nor the program needs a capability. */
	if ((plan.h->flags & DW_PLAN_DROP) &&
	    dw_caps_drop((plan.h->flags & DW_PLAN_NAMESPACES) != 0, &err) < 0)
		dw_init_die(&err);

	/* Any message now means that dewar has cancelled the cell. */
	if (recv(DW_LAUNCH_FD, &message, 1, MSG_PEEK | MSG_DONTWAIT) >= 0)
		_exit(125);
	if (dw_init_prepare(&init, &err) < 0)
		dw_init_die(&err);
	dw_init_set_oom(&init, DW_INIT_OOM_FIRST);
	if (plan.h->flags & DW_PLAN_ENTERED) {
		program = dw_entered_wait(&plan, &err);
		/* mutant: warm-init-closed */
		if (program < 0 || dw_init_close(&err) < 0)
			dw_init_die(&err);
		dw_init_run(&plan, &init, program);
	}
	if (dw_init_close(&err) < 0)
		dw_init_die(&err);
	(void)dw_report_send(DW_LAUNCH_FD, &start, -1);

	/*
	 * The child shares our memory until it execs, which saves the copy. We wait
	 * until then, and hold nothing that it could overwrite. The child never returns
	 * from dw_program_start(), and stores its walls in dw_program_walls.
	 */
	program = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): as said */
	if (program < 0) {
		(void)dw_fail(&err, DW_E_INTERNAL, errno, "cannot fork the program");
		dw_init_die(&err);
	}
	if (program == 0)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Vfork): as said */
		dw_program_start(&plan, given.job);
	dw_init_run(&plan, &init, program);
}
