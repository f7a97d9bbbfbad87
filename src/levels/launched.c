/* SPDX-License-Identifier: Apache-2.0 */
#include "levels/launched.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "base/path.h"
#include "cgroup/cgroup.h"
#include "wire/enter.h"
#include "wire/report.h"

#define INIT_GRACE_MS 1000

int dw_launched_make_workdir(struct dw_launched *l, struct dw_error *err)
{
	dw_cell_folder_name(l->folder, sizeof(l->folder), l->spec->id);
	if (mkdir(l->folder, 0700) < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "cannot make a working folder in %s: %s; try: "
		               "TMPDIR=/var/tmp dewar ...",
		               dw_launched_temp_folder(), strerrordesc_np(errno));
	(void)snprintf(l->workdir, sizeof(l->workdir), "%s", l->folder);
	l->plan.h.workdir = dw_plan_add_text(&l->plan, l->workdir);
	return 0;
}

static struct dw_launched *new_launched(const struct dw_level *level,
                                        const struct dw_spec *spec)
{
	struct dw_launched *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->spec = spec;
	dw_cell_init(&l->cell, level);
	l->child[0] = l->child[1] = l->child[2] = -1;
	l->plan_fd = l->report = l->pidfd = l->userns = -1;
	l->pidns = l->ruleset = -1;
	l->job[0] = l->job[1] = l->report_child = -1;
	dw_cgroup_init(&l->cgroup);
	dw_plan_init(&l->plan);
	return l;
}

/* ---- the launcher ---- */

/* Spawn into a cgroup, or into ours if it is -1; by a fork server if there is one. */
static int spawn_into(const int fds[DW_LAUNCH_FD + 1], struct dw_launched *l, int cgroup,
                      struct dw_error *err)
{
	struct dw_fork_server *spawner = dw_cgroup_scope_launcher();
	cpu_set_t *cpus = &l->plan.h.cpus;

	if (!spawner)
		spawner = l->spec->spawner;
	if (spawner && dw_fork_server_fork(spawner, fds, cgroup, &l->launcher, cpus) == 0)
		return 0;
	return dw_spawn_launcher(fds, cgroup, &l->launcher, cpus, err);
}

static int spawn(const int fds[DW_LAUNCH_FD + 1], struct dw_launched *l,
                 struct dw_error *err)
{
	int cgroup = dw_cgroup_born_in(&l->cgroup);

	/* This fails without clone3(): the launcher then joins the cgroup itself. */
	l->born = cgroup >= 0 && spawn_into(fds, l, cgroup, NULL) == 0;
	return l->born ? 0 : spawn_into(fds, l, -1, err);
}

static bool has_role(const struct dw_launched *l, enum dw_role_kind kind)
{
	return l->spec->role && l->spec->role->kind == kind;
}

/* Create the stdio, the report socket and, for a program that waits, the job socket. */
static int open_sockets(struct dw_launched *l, struct dw_error *err)
{
	const int type = SOCK_SEQPACKET | SOCK_CLOEXEC;
	bool zygote = has_role(l, DW_ROLE_ZYGOTE);
	int pair[2];

	/* A zygote gets its orders through stdin. */
	if (dw_cell_open_stdio(&l->cell, l->child, zygote, err) < 0)
		return -1;
	if (socketpair(AF_UNIX, type, 0, pair) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot make a report socket");
	l->report = pair[0];
	l->report_child = pair[1];
	if (l->spec->role && !zygote && socketpair(AF_UNIX, type, 0, l->job) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot make a job socket");
	return 0;
}

static int start_launcher(struct dw_launched *l, struct dw_error *err)
{
	int r = spawn((int[]){l->child[0], l->child[1], l->child[2], l->report_child}, l,
	              err);

	dw_fd_close(&l->report_child);
	/* In an ENTERED cell, the program that the zygote forks gets them later. */
	for (int i = 0; i < 3 && !has_role(l, DW_ROLE_ENTERED); i++)
		dw_fd_close(&l->child[i]);
	return r;
}

/* Returns true if a nursery creates the cell: it has the whole plan except the header. */
static bool has_nursery(const struct dw_launched *l)
{
	return has_role(l, DW_ROLE_ENTERED) && l->spec->role->nursery > 0;
}

int dw_launched_plan(const struct dw_level *level, const struct dw_spec *spec,
                     dw_fill_fn *fill, struct dw_error *err)
{
	struct dw_launched *l = new_launched(level, spec);
	int fd = -1;

	if (!l)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot make a plan");
	if (fill(l, err) == 0)
		fd = dw_plan_seal(&l->plan, err);
	dw_launched_destroy(&l->cell);
	return fd;
}

/*
 * The launcher starts while we write its plan, except where it is to be born in its
 * cgroup, which has to exist first.
 */
static int make_cell(struct dw_launched *l, dw_fill_fn *fill, struct dw_error *err)
{
	bool late = dw_cgroup_is_unified();

	if (open_sockets(l, err) < 0)
		return -1;
	if (has_nursery(l))
		(void)sched_getaffinity(0, sizeof(l->plan.h.cpus), &l->plan.h.cpus);
	else if (!late && start_launcher(l, err) < 0)
		return -1;
	if (fill(l, err) < 0 || dw_limits_plan(l, err) < 0)
		return -1;
	if (has_nursery(l))
		return 0;
	if (late && start_launcher(l, err) < 0)
		return -1;
	if (l->spec->probe)
		l->plan.h.flags |= DW_PLAN_PROBE;
	l->plan_fd = dw_plan_seal(&l->plan, err);
	return l->plan_fd < 0 ? -1 : 0;
}

int dw_launched_create(const struct dw_level *level, const struct dw_spec *spec,
                       dw_fill_fn *fill, struct dw_cell **ret_cell, struct dw_error *err)
{
	struct dw_launched *l;

	if (dw_kernel_calls_check((level->guarantees & DW_G_NAMESPACES) != 0, err) < 0)
		return -1;
	l = new_launched(level, spec);
	if (!l)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot create a cell");
	if (make_cell(l, fill, err) < 0) {
		dw_launched_destroy(&l->cell);
		return -1;
	}
	dw_plan_finish(&l->plan);
	*ret_cell = &l->cell;
	return 0;
}

static int send_header(struct dw_launched *l, struct dw_error *err)
{
	int fds[DW_REPORT_FDS_MAX] = {l->report_child}, n, r;

	n = dw_cgroup_open_procs(&l->cgroup, false, fds + 1, err);
	if (n < 0)
		return -1;
	r = dw_report_send_data(l->spec->role->nursery, &l->plan.h, sizeof(l->plan.h),
	                        fds, n + 1);
	for (int i = 1; i <= n; i++)
		(void)close(fds[i]);
	dw_fd_close(&l->report_child);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r,
		               "cannot request a cell from the nursery");
	return 0;
}

/* The plan and its descriptors, in the order in which launch/main.c reads them. */
static int send_plan(struct dw_launched *l, struct dw_error *err)
{
	const struct dw_role *role = l->spec->role;
	int fds[DW_REPORT_FDS_MAX], own = 0, n, r;

	if (has_nursery(l))
		return send_header(l, err);
	fds[own++] = l->plan_fd;
	if (has_role(l, DW_ROLE_ENTERED)) {
		fds[own++] = role->userns;
		fds[own++] = role->pidns;
	}
	if (has_role(l, DW_ROLE_STANDBY))
		fds[own++] = l->job[1];
	if (has_role(l, DW_ROLE_ZYGOTE) && role->nursery > 0) {
		fds[own++] = role->nursery;
		fds[own++] = role->base;
	}
	n = dw_cgroup_open_procs(&l->cgroup, l->born, fds + own, err);
	if (n < 0)
		return -1;
	r = dw_report_send_fds(l->report, fds, own + n);
	for (int i = own; i < own + n; i++)
		(void)close(fds[i]);
	dw_fd_close(&l->plan_fd);
	if (has_role(l, DW_ROLE_STANDBY))
		dw_fd_close(&l->job[1]);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r,
		               "cannot send the plan to dewar-launch");
	return 0;
}

int dw_launched_start(struct dw_cell *cell, struct dw_error *err)
{
	struct dw_launched *l = dw_launched(cell);

	if (send_plan(l, err) < 0)
		return -1;
	if (!l->spec->role)
		dw_limits_begin(l);
	cell->watch[DW_WATCH_REPORT] = (struct dw_watch){l->report, POLLIN};
	cell->watch[DW_WATCH_OOM] = (struct dw_watch){
		l->cgroup.oom_fd,
		dw_cgroup_events(&l->cgroup, DW_CONTROLLER_MEMORY),
	};
	cell->watch[DW_WATCH_PIDS] = (struct dw_watch){
		l->cgroup.pids_fd,
		dw_cgroup_events(&l->cgroup, DW_CONTROLLER_PIDS),
	};
	return 0;
}

/* ---- ending ---- */

/* Without a pid namespace or a cgroup, only init can find the cell's processes. */
static bool needs_init(const struct dw_launched *l)
{
	for (int i = 0; i < DW_CONTROLLER_COUNT; i++)
		if (l->cgroup.controllers[i].version != 0)
			return false;
	return !(l->plan.h.flags & DW_PLAN_NAMESPACES);
}

/*
 * The first call asks init, which kills and reaps every process and so can report what
 * they used. The second call kills init itself: the kernel then ends its pid namespace,
 * or we kill the cgroup. Without either, the program's processes would survive init. So
 * init is not killed: it is continued, if it was stopped, and gets more time.
 */
void dw_launched_kill(struct dw_cell *cell)
{
	struct dw_launched *l = dw_launched(cell);

	l->kills++;
	/* A run that yields keeps its cpu limit at first, and may die slowly. */
	if (l->kills > 1 || !l->spec || !l->spec->req->yields)
		dw_cgroup_unthrottle(&l->cgroup);
	if (l->pidfd < 0)
		return; /* on_hello() kills it */
	if (l->kills == 1 && send(l->report, "k", 1, MSG_NOSIGNAL) == 1)
		return;
	(void)syscall(SYS_pidfd_send_signal, l->pidfd, needs_init(l) ? SIGCONT : SIGKILL,
	              NULL, 0);
	dw_cgroup_kill(&l->cgroup);
}

/*
 * Returns true if a file has reached the size limit, which applies to each file where the
 * folder has no limit. Examines only the first names of the folder, and no folders in it.
 */
static bool has_full_file(int dir_fd, uint64_t limit)
{
	autodir DIR *dir = dir_fd < 0 ? NULL : dw_path_opendir(dir_fd);
	struct dirent *d;
	struct stat st;

	for (int i = 0; dir && i < 1000 && (d = readdir(dir)) != NULL; i++)
		if (fstatat(dir_fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && (uint64_t)st.st_size >= limit)
			return true;
	return false;
}

/* The program of a warm cell may have reported that it could not start its job. */
static void read_failure(struct dw_launched *l)
{
	struct dw_ready ready = {0};

	if (l->job[0] < 0 ||
	    recv(l->job[0], &ready, sizeof(ready), MSG_DONTWAIT) != sizeof(ready))
		return;
	ready.failed[sizeof(ready.failed) - 1] = '\0';
	(void)dw_fail(&l->cell.outcome.error, DW_E_INTERNAL, ready.eno,
	              "cannot %s in the warm cell", ready.failed);
}

void dw_launched_measure(struct dw_cell *cell)
{
	struct dw_launched *l = dw_launched(cell);
	struct dw_outcome *o = &cell->outcome;
	struct dw_cgroup_usage usage;

	dw_cgroup_read(&l->cgroup, &usage);
	if (usage.memory_peak != UINT64_MAX)
		o->memory_mb = (double)usage.memory_peak / (1 << 20);
	if (o->hit == DW_REASON_EXIT && usage.oom_kills != UINT64_MAX &&
	    usage.oom_kills > 0)
		o->hit = DW_REASON_OOM;
	if (o->hit == DW_REASON_EXIT && usage.pids_refused != UINT64_MAX &&
	    usage.pids_refused > 0)
		o->hit = DW_REASON_PIDS;
	read_failure(l);
	dw_limits_read_back(l);
	if (l->workdir[0] != '\0') {
		cell->tmp_fd = open(l->workdir,
		                    O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		o->tmp_full = has_full_file(cell->tmp_fd, l->spec->limits.tmp_bytes);
	}
}

static void reap_init(struct dw_launched *l)
{
	struct pollfd gone = {.fd = l->pidfd, .events = POLLIN};
	siginfo_t info;

	if (l->cell.watch[DW_WATCH_INIT].fd < 0)
		return;
	if (poll(&gone, 1, INIT_GRACE_MS) <= 0)
		(void)syscall(SYS_pidfd_send_signal, l->pidfd, SIGKILL, NULL, 0);
	while (waitid(P_PIDFD, (id_t)l->pidfd, &info, WEXITED) < 0 && errno == EINTR)
		;
}

/*
 * The launcher and init exit when the report socket is shut down. Their last reports may
 * name another process to reap.
 */
static void reap_all(struct dw_launched *l)
{
	if (l->report >= 0)
		(void)shutdown(l->report, SHUT_WR);
	for (int i = 0; i < 2; i++) {
		dw_launched_reap_launcher(l);
		if (l->report >= 0)
			dw_launched_on_event(&l->cell, DW_WATCH_REPORT);
	}
	dw_launched_reap_launcher(l);
	reap_init(l);
}

void dw_launched_destroy(struct dw_cell *cell)
{
	struct dw_launched *l;

	if (!cell)
		return;
	l = dw_launched(cell);
	dw_pasta_stop(l->pasta);
	reap_all(l);
	dw_fd_close(&l->report);
	dw_fd_close(&l->report_child);
	dw_fd_close(&l->pidfd);
	dw_fd_close(&l->userns);
	dw_fd_close(&l->pidns);
	dw_fd_close(&l->ruleset);
	dw_fd_close(&l->job[0]);
	dw_fd_close(&l->job[1]);
	dw_fd_close(&l->plan_fd);
	for (int i = 0; i < 3; i++)
		dw_fd_close(&l->child[i]);
	dw_cell_close(cell);
	(void)dw_cgroup_destroy(&l->cgroup, NULL); /* the next sweep retries */
	dw_cell_folder_remove(l->workdir);
	dw_plan_finish(&l->plan);
	free(l->shared);
	free(l);
}
