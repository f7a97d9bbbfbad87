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
 *	dewar ── spawns ──> outer   (or one that stays forks it: serve.c)
 *	                     1  read the plan, close what we were not given
 *	                     2  join the cgroups: from here on all is counted
 *	                     3  as root: open the host trees, then give up root for
 *	                        an id that nobody else has; or, for a zygote's cell,
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
 * Where a zygote forks the program (DW_PLAN_ENTERED), stage 9 is the zygote's
 * (runners/walls.c), and init waits for it (entered.c).
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
#include <grp.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/pidfd.h"
#include "launch/launch.h"

/* mutant: cell-namespaces */
#define NAMESPACES                                                                  \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | \
	 CLONE_NEWUTS | CLONE_NEWCGROUP)

/* What came along with the plan; -1 where nothing did. */
struct given {
	int userns;
	int pidns;
	int letter;
	int nursery; /* a socket */
	int base;    /* a plan */
	int cgroups[DW_REPORT_FDS_MAX];
	int n_cgroups;
};

_Noreturn void dw_launch_die(const struct dw_error *err)
{
	struct dw_report report = {
		.kind = DW_REPORT_ERROR,
		.stage = dw_launch_stage,
		.error = *err,
	};

	(void)dw_report_send(DW_LAUNCH_FD, &report, -1);
	_exit(125);
}

int dw_launch_map_plan(int fd, struct dw_plan *ret, struct dw_error *err)
{
	struct stat st;
	void *map;

	/* What is not sealed could change under our eyes. */
	if (fcntl(fd, F_GET_SEALS) != DW_PLAN_SEALS || fstat(fd, &st) < 0)
		return dw_fail(err, DW_E_INTERNAL, 0, "the plan is not sealed");
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return dw_fail(err, DW_E_INTERNAL, errno, "map the plan");
	(void)close(fd);
	return dw_plan_read(map, (size_t)st.st_size, ret, err);
}

/*
 * Stage 1: the plan.
 *
 * On entry:  whatever descriptors our parent let through; no signal is ignored
 *            or blocked (the spawn saw to it).
 * Does:      waits for the plan, maps it and checks it.
 * Leaves:    no descriptor besides 0, 1, 2, the socket and those in given.
 */
static int read_plan(struct dw_plan *plan, struct given *given, struct dw_error *err)
{
	int fds[DW_REPORT_FDS_MAX], n, r, at = 1;

	/*
	 * A session of our own: whoever kills or stops dewar's process group does
	 * not take away the one who cleans up after it.
	 */
	(void)setsid();
	(void)umask(0); /* every mode below says it all */
	/* mutant: close-inherited-fds */
	r = dw_fd_close_from(DW_LAUNCH_FD + 1);
	if (r < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, -r,
		               "close inherited descriptors (Linux 5.9 or newer is "
		               "needed, or a /proc)");
	(void)fcntl(DW_LAUNCH_FD, F_SETFD, FD_CLOEXEC);

	n = dw_report_receive_fds(DW_LAUNCH_FD, fds);
	if (n < 0)
		return dw_fail(err, DW_E_INTERNAL, -n,
		               "dewar-launch is started by dewar, never by hand");
	if (n == 0)
		_exit(125); /* whoever asked for this cell does not want it any more */

	if (dw_launch_map_plan(fds[0], plan, err) < 0)
		return -1;
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): dw_fail() returns -1 */
	if (plan->h->flags & DW_PLAN_NESTED)
		given->userns = at < n ? fds[at++] : -1;
	if (plan->h->flags & DW_PLAN_NESTED)
		given->pidns = at < n ? fds[at++] : -1;
	if (plan->h->flags & DW_PLAN_LETTER)
		given->letter = at < n ? fds[at++] : -1;
	if (plan->h->flags & DW_PLAN_NURSERY)
		given->nursery = at < n ? fds[at++] : -1;
	if (plan->h->flags & DW_PLAN_NURSERY)
		given->base = at < n ? fds[at++] : -1;
	while (at < n)
		given->cgroups[given->n_cgroups++] = fds[at++];
	return 0;
}

/* Stage 2: a thread that writes 0 into the list of a group moves itself. */
static int join_cgroups(const struct given *given, struct dw_error *err)
{
	int r;

	for (int i = 0; i < given->n_cgroups; i++) {
		/* mutant: cgroup-join */
		r = dw_fd_write_all(given->cgroups[i], "0", 1);
		if (r < 0)
			return dw_fail(err, DW_E_INTERNAL, -r, "join the cell's cgroup");
		(void)close(given->cgroups[i]);
	}
	return 0;
}

/*
 * Does outer write the id map? Inner may map one id to its own; for any other
 * map it takes rights in the namespace outside, which outer has not given up yet.
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
		dw_launch_die(&err); /* inner finds the gate closed */
	(void)dw_fd_write_all(gate[1], "m", 1);
}

/* Stage 5: inner's side of it. */
static int map_ids(const struct dw_plan *plan, uid_t uid, gid_t gid, const int *gate,
                   struct dw_error *err)
{
	char byte;

	if (!is_mapped_by_outer(plan))
		return dw_ids_map(plan->h->inside_id, uid, gid, err);
	(void)close(gate[1]);
	if (read(gate[0], &byte, 1) != 1)
		_exit(125); /* outer has said why */
	(void)close(gate[0]);
	return dw_ids_take(plan->h->inside_id, err);
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
		return dw_fail(err, DW_E_UNSUPPORTED, errno, "create namespaces");
	if (pid == 0)
		return 0;

	if (is_mapped_by_outer(plan))
		map_for_inner(plan, pidfd, gate);
	hello.pid = (int32_t)pid;
	_exit(dw_report_send(DW_LAUNCH_FD, &hello, pidfd) < 0 ? 125 : 0);
}

/* Stage 6, second half: pasta, or whoever gives us a network, needs us alive. */
static int wait_for_network(struct dw_error *err)
{
	const struct dw_report ready = {.kind = DW_REPORT_NETWORK};
	char go;
	int r = dw_report_send(DW_LAUNCH_FD, &ready, -1);

	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "ask for a network");
	if (read(DW_LAUNCH_FD, &go, 1) != 1 || go != 'g')
		_exit(125); /* whoever asked for this cell does not want it any more */
	return dw_net_keep_loopback_inside(err);
}

static int send_open(enum dw_report_kind kind, const char *path, int flags,
                     struct dw_error *err)
{
	const struct dw_report report = {.kind = kind};
	int fd = open(path, O_RDONLY | O_CLOEXEC | flags), r;

	if (fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "open %s in the cell", path);
	r = dw_report_send(DW_LAUNCH_FD, &report, fd);
	(void)close(fd);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "hand over %s", path);
	return 0;
}

/* What dewar wants to have of a cell that stands. */
static int send_asked(const struct dw_plan *plan, struct dw_error *err)
{
	if ((plan->h->flags & DW_PLAN_ZYGOTE) &&
	    (send_open(DW_REPORT_USERNS, "/proc/self/ns/user", 0, err) < 0 ||
	     send_open(DW_REPORT_PIDNS, "/proc/self/ns/pid", 0, err) < 0))
		return -1;
	if ((plan->h->flags & DW_PLAN_SEND_TMP) &&
	    send_open(DW_REPORT_TMP, "/tmp", O_DIRECTORY | O_NOFOLLOW, err) < 0)
		return -1;
	return 0;
}

/*
 * A zygote can fork into pid namespaces below its own, and nowhere else; so the
 * cell's has to be made there. Who joins one sends only children there: the
 * launcher goes on as its own child, which is dewar's, too.
 */
static int join_pidns(int pidns, struct dw_error *err)
{
	struct dw_report handed = {.kind = DW_REPORT_HANDED};
	struct clone_args args = {.flags = CLONE_PARENT};
	long pid;

	if (setns(pidns, CLONE_NEWPID) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "enter the zygote's pid namespace");
	pid = dw_clone(&args);
	if (pid < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "fork into the pid namespace");
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
	/* Inner gives up the rest of it, once its ids are mapped. */
	if (setgroups(0, NULL) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "drop the groups of root");
	return 0;
}

static int build_cell(const struct dw_plan *plan, const struct given *given,
                      struct dw_error *err)
{
	static struct dw_sources sources;
	const char *hostname = dw_plan_text(plan, plan->h->hostname);
	bool early = (plan->h->flags & DW_PLAN_OPEN_EARLY) != 0;
	int gate[2] = {-1, -1};
	uid_t uid;
	gid_t gid;

	/* Root opens what the caller named; a plain user does it as itself, below. */
	dw_launch_stage = DW_STAGE_SOURCES;
	if (early && dw_sources_open(plan, &sources, err) < 0)
		return -1;
	dw_launch_stage = DW_STAGE_OTHER;
	if (give_up_root(plan, given, err) < 0)
		return -1;

	if (is_mapped_by_outer(plan) && pipe2(gate, O_CLOEXEC) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "make a pipe");
	uid = geteuid();
	gid = getegid();
	dw_launch_stage = DW_STAGE_NAMESPACES;
	if (enter_namespaces(plan, gate, err) < 0)
		return -1;

	dw_launch_stage = DW_STAGE_INSIDE;
	if (map_ids(plan, uid, gid, gate, err) < 0)
		return -1;
	/* A new namespace begins with the host's names, both of them. */
	/* mutant: host-name */
	if (sethostname(hostname, strlen(hostname)) < 0 ||
	    setdomainname("(none)", strlen("(none)")) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "set the cell's host name");
	/* mutant: loopback */
	if (dw_net_loopback_up(err) < 0)
		return -1;
	if (plan->h->flags & DW_PLAN_WAIT_NETWORK)
		dw_net_disable_dad();
	dw_launch_stage = DW_STAGE_SOURCES;
	if (!early && dw_sources_open(plan, &sources, err) < 0)
		return -1;
	dw_launch_stage = DW_STAGE_MOUNTS;
	if (dw_mounts_build(plan, &sources, err) < 0)
		return -1;
	dw_launch_stage = DW_STAGE_OTHER;
	if ((plan->h->flags & DW_PLAN_WAIT_NETWORK) && wait_for_network(err) < 0)
		return -1;
	return send_asked(plan, err);
}

/* Levels without namespaces: the files, and a HELLO of our own. */
static int build_plain(const struct dw_plan *plan, struct dw_error *err)
{
	struct dw_report hello = {.kind = DW_REPORT_HELLO, .pid = getpid()};
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0), r;

	if (pidfd < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, errno,
		               "open a pidfd (Linux 5.3 or newer is needed)");
	r = dw_report_send(DW_LAUNCH_FD, &hello, pidfd);
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

int main(int argc, char **argv)
{
	struct given given = {-1, -1, -1, -1, -1, {0}, 0};
	const struct dw_report start = {.kind = DW_REPORT_START};
	struct dw_init init;
	struct dw_error err = {0};
	struct dw_plan plan;
	pid_t program;
	char word;

	(void)argv;
	if (argc > 1) /* the one word there is: "serve" */
		dw_launch_serve();
	if (read_plan(&plan, &given, &err) < 0 || join_cgroups(&given, &err) < 0)
		dw_launch_die(&err);

	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): dw_fail() returns -1 */
	if ((plan.h->flags & DW_PLAN_NAMESPACES ? build_cell(&plan, &given, &err)
	                                        : build_plain(&plan, &err)) < 0)
		dw_launch_die(&err);

	if ((plan.h->flags & DW_PLAN_NURSERY) &&
	    dw_nursery_start(given.nursery, given.base, &plan) &&
	    send_asked(&plan, &err) < 0)
		dw_launch_die(&err);

	/*
	 * Nothing below needs a capability any more: not init, and the program
	 * least of all.
	 */
	if ((plan.h->flags & DW_PLAN_DROP) &&
	    dw_caps_drop((plan.h->flags & DW_PLAN_NAMESPACES) != 0, &err) < 0)
		dw_launch_die(&err);

	/* Asked to end before we began? */
	if (recv(DW_LAUNCH_FD, &word, 1, MSG_PEEK | MSG_DONTWAIT) >= 0)
		_exit(125);
	if (dw_init_prepare(&init, &err) < 0)
		dw_launch_die(&err);
	if (plan.h->flags & DW_PLAN_ENTERED) {
		program = dw_entered_wait(&plan, &err);
		/* mutant: warm-init-closed */
		if (program < 0 || dw_init_close(&err) < 0)
			dw_launch_die(&err);
		dw_init_run(&plan, &init, program);
	}
	if (dw_init_close(&err) < 0)
		dw_launch_die(&err);
	(void)dw_report_send(DW_LAUNCH_FD, &start, -1);

	/*
	 * The child borrows our memory until it execs, which spares the copy; we
	 * stand still meanwhile, and have nothing that it could spoil. It never
	 * returns from dw_program_start(), and leaves there what init wants to know.
	 */
	program = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork): as said */
	if (program < 0) {
		(void)dw_fail(&err, DW_E_INTERNAL, errno, "fork the program");
		dw_launch_die(&err);
	}
	if (program == 0)
		/* NOLINTNEXTLINE(clang-analyzer-unix.Vfork): as said */
		dw_program_start(&plan, given.letter);
	dw_init_run(&plan, &init, program);
}
