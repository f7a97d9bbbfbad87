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
#include "base/kernel_calls.h"
#include "base/path.h"
#include "base/pidfd.h"
#include "cgroup/cgroup.h"
#include "levels/fork_server.h"
#include "levels/limits.h"
#include "levels/pasta.h"
#include "levels/scope.h"
#include "levels/spawn.h"
#include "wire/enter.h"
#include "wire/report.h"

#define INIT_GRACE_MS 1000

/* ---- making ---- */

const char *dw_launched_temp_folder(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir == '/' && strlen(dir) < 32 ? dir : "/tmp";
}

int dw_launched_make_workdir(struct dw_launched *l, struct dw_error *err)
{
	(void)snprintf(l->workdir, sizeof(l->workdir), "%s/dewar-%.16s",
	               dw_launched_temp_folder(), l->spec->id);
	if (mkdir(l->workdir, 0700) < 0) {
		(void)dw_fail(
			err, DW_E_UNSUPPORTED, 0,
			"make a working folder in %s: %s; try: TMPDIR=/var/tmp dewar ...",
			dw_launched_temp_folder(), strerrordesc_np(errno));
		l->workdir[0] = '\0';
		return -1;
	}
	(void)snprintf(l->folder, sizeof(l->folder), "%s", l->workdir);
	l->plan.h.workdir = dw_plan_add_text(&l->plan, l->workdir);
	return 0;
}

/* Its name is ours; what is in it is the program's. */
static void remove_workdir(const struct dw_launched *l)
{
	autoclose int parent = -1;

	if (l->workdir[0] == '\0')
		return;
	parent = open(dw_launched_temp_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent >= 0)
		(void)dw_path_remove_tree(parent, strrchr(l->workdir, '/') + 1);
}

static int make_input(const struct dw_launched *l, int pair[2])
{
	const struct dw_way *way = l->spec->way;

	/* A zygote takes orders there. */
	if (way && way->kind == DW_WAY_ZYGOTE)
		return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
	return pipe2(pair, O_CLOEXEC);
}

static int make_pipes(struct dw_launched *l, struct dw_error *err)
{
	int in[2], out[2], errs[2];

	if (make_input(l, in) < 0)
		goto fail;
	l->child[0] = in[0];
	l->cell.in = in[1];
	if (pipe2(out, O_CLOEXEC) < 0)
		goto fail;
	l->cell.out[DW_STDOUT] = out[0];
	l->child[1] = out[1];
	if (pipe2(errs, O_CLOEXEC) < 0)
		goto fail;
	l->cell.out[DW_STDERR] = errs[0];
	l->child[2] = errs[1];

	/* Ours are polled; the program's stay as programs expect them. */
	(void)dw_fd_nonblock(l->cell.in);
	(void)dw_fd_nonblock(l->cell.out[DW_STDOUT]);
	(void)dw_fd_nonblock(l->cell.out[DW_STDERR]);
	return 0;
fail:
	return dw_fail(err, DW_E_INTERNAL, errno, "make pipes for the cell");
}

static struct dw_launched *new_launched(const struct dw_level *level,
                                        const struct dw_spec *spec)
{
	struct dw_launched *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->spec = spec;
	l->cell.level = level;
	l->cell.in = l->cell.out[0] = l->cell.out[1] = l->cell.tmp_fd = -1;
	l->child[0] = l->child[1] = l->child[2] = -1;
	l->plan_fd = l->report = l->pidfd = l->userns = -1;
	l->pidns = l->ruleset = -1;
	l->letter[0] = l->letter[1] = l->report_child = -1;
	for (size_t i = 0; i < DW_CELL_WATCHES; i++)
		l->cell.watch[i].fd = -1;
	l->cell.outcome.run_ms = l->cell.outcome.cpu_ms = l->cell.outcome.memory_mb = -1;
	dw_cgroup_init(&l->cgroup);
	dw_plan_init(&l->plan);
	return l;
}

/* ---- the launcher ---- */

/* Into a cgroup, or with -1 beside us. Whoever can do it cheapest does it. */
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

	/* A kernel without clone3, or a filter around us: it joins by itself then. */
	l->born = cgroup >= 0 && spawn_into(fds, l, cgroup, NULL) == 0;
	return l->born ? 0 : spawn_into(fds, l, -1, err);
}

static int start_launcher(struct dw_launched *l, struct dw_error *err)
{
	int pair[2], r;

	if (make_pipes(l, err) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "make a socket to talk to the cell");
	l->report = pair[0];
	r = spawn((int[]){l->child[0], l->child[1], l->child[2], pair[1]}, l, err);
	(void)close(pair[1]);
	if (l->spec->way && l->spec->way->kind == DW_WAY_ENTERED)
		return r; /* they are for whom the zygote forks */
	for (int i = 0; i < 3; i++)
		dw_fd_close(&l->child[i]);
	return r;
}

static int make_letter(struct dw_launched *l, struct dw_error *err)
{
	const struct dw_way *way = l->spec->way;

	if (!way || way->kind == DW_WAY_ZYGOTE)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, l->letter) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "make a socket for the letter");
	return 0;
}

/* Is there somebody who makes such cells, and knows all of the plan but its header? */
static bool has_nursery(const struct dw_spec *spec)
{
	return spec->way && spec->way->kind == DW_WAY_ENTERED && spec->way->nursery > 0;
}

static int prepare_nested(struct dw_launched *l, dw_fill_fn *fill, struct dw_error *err)
{
	int pair[2];

	if (make_letter(l, err) < 0 || make_pipes(l, err) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "make a socket to talk to the cell");
	l->report = pair[0];
	l->report_child = pair[1];
	(void)sched_getaffinity(0, sizeof(l->plan.h.cpus), &l->plan.h.cpus);
	if (fill(l, err) < 0 || dw_limits_plan(l, err) < 0)
		return -1;
	dw_plan_finish(&l->plan);
	return 0;
}

int dw_launched_plan(const struct dw_level *level, const struct dw_spec *spec,
                     dw_fill_fn *fill, struct dw_error *err)
{
	struct dw_launched *l = new_launched(level, spec);
	int fd = -1;

	if (!l)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "make a plan");
	if (fill(l, err) == 0)
		fd = dw_plan_seal(&l->plan, err);
	dw_launched_destroy(&l->cell);
	return fd;
}

/*
 * The launcher starts up on another core while we write its plan; but where it is to
 * be born in its group, that comes first.
 */
static int make_cell(struct dw_launched *l, dw_fill_fn *fill, struct dw_error *err)
{
	bool born = dw_cgroup_is_unified();

	if (make_letter(l, err) < 0)
		return -1;
	if (!born && start_launcher(l, err) < 0)
		return -1;
	if (fill(l, err) < 0 || dw_limits_plan(l, err) < 0)
		return -1;
	return born ? start_launcher(l, err) : 0;
}

int dw_launched_create(const struct dw_level *level, const struct dw_spec *spec,
                       dw_fill_fn *fill, struct dw_cell **ret_cell, struct dw_error *err)
{
	struct dw_launched *l;

	if (dw_kernel_calls_check((level->guarantees & DW_G_NAMESPACES) != 0, err) < 0)
		return -1;
	l = new_launched(level, spec);
	if (!l)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "make a cell");

	if (has_nursery(spec)) {
		if (prepare_nested(l, fill, err) < 0)
			goto fail;
		*ret_cell = &l->cell;
		return 0;
	}
	if (make_cell(l, fill, err) < 0)
		goto fail;
	if (spec->probe)
		l->plan.h.flags |= DW_PLAN_PROBE;
	l->plan_fd = dw_plan_seal(&l->plan, err);
	if (l->plan_fd < 0)
		goto fail;
	dw_plan_finish(&l->plan);

	*ret_cell = &l->cell;
	return 0;
fail:
	dw_launched_destroy(&l->cell);
	return -1;
}

static int send_header(struct dw_launched *l, struct dw_error *err)
{
	int fds[DW_REPORT_FDS_MAX] = {l->report_child}, n, r;

	n = dw_cgroup_open_procs(&l->cgroup, false, fds + 1, err);
	if (n < 0)
		return -1;
	r = dw_report_send_data(l->spec->way->nursery, &l->plan.h, sizeof(l->plan.h), fds,
	                        n + 1);
	for (int i = 1; i <= n; i++)
		(void)close(fds[i]);
	dw_fd_close(&l->report_child);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "ask the nursery for a cell");
	return 0;
}

/* The plan, and what goes along with it: in the order in which launch reads it. */
static int send_plan(struct dw_launched *l, struct dw_error *err)
{
	const struct dw_way *way = l->spec->way;
	int fds[DW_REPORT_FDS_MAX], own = 0, n, r;

	if (has_nursery(l->spec))
		return send_header(l, err);
	fds[own++] = l->plan_fd;
	if (way && way->kind == DW_WAY_ENTERED)
		fds[own++] = way->userns;
	if (way && way->kind == DW_WAY_ENTERED)
		fds[own++] = way->pidns;
	if (way && way->kind == DW_WAY_LETTER)
		fds[own++] = l->letter[1];
	if (way && way->kind == DW_WAY_ZYGOTE && way->nursery > 0) {
		fds[own++] = way->nursery;
		fds[own++] = way->base;
	}
	n = dw_cgroup_open_procs(&l->cgroup, l->born, fds + own, err);
	if (n < 0)
		return -1;
	r = dw_report_send_fds(l->report, fds, own + n);
	for (int i = own; i < own + n; i++)
		(void)close(fds[i]);
	dw_fd_close(&l->plan_fd);
	if (way && way->kind == DW_WAY_LETTER)
		dw_fd_close(&l->letter[1]);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "hand the plan to dewar-launch");
	return 0;
}

int dw_launched_start(struct dw_cell *cell, struct dw_error *err)
{
	struct dw_launched *l = dw_launched(cell);

	if (send_plan(l, err) < 0)
		return -1;
	if (!l->spec->way)
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

/* Neither a pid namespace nor a cgroup: who is in the cell only init can tell. */
static bool needs_init(const struct dw_launched *l)
{
	for (int i = 0; i < DW_CONTROLLER_COUNT; i++)
		if (l->cgroup.held[i].version != 0)
			return false;
	return !(l->plan.h.flags & DW_PLAN_NAMESPACES);
}

/*
 * The first time we ask init, which kills everything, buries it and so can tell
 * what it used. The second time init itself is killed: with a pid namespace the
 * kernel then ends all that is in it, and the cgroup serves where there is none.
 * Where there is neither, init gets the time that it needs on a busy host: the
 * others would outlive it.
 */
void dw_launched_kill(struct dw_cell *cell)
{
	struct dw_launched *l = dw_launched(cell);

	l->kills++;
	/* What yields also dies slowly, unless that takes too long. */
	if (l->kills > 1 || !l->spec || !l->spec->req->yields)
		dw_cgroup_unthrottle(&l->cgroup);
	if (l->pidfd < 0)
		return; /* on_hello() sees to it */
	if (l->kills == 1 && send(l->report, "k", 1, MSG_NOSIGNAL) == 1)
		return;
	(void)syscall(SYS_pidfd_send_signal, l->pidfd, needs_init(l) ? SIGCONT : SIGKILL,
	              NULL, 0);
	dw_cgroup_kill(&l->cgroup);
}

/*
 * Where each file has a limit and not the folder: did one of them reach it? Only
 * the names at the top are looked at, and not many of them.
 */
static bool has_full_file(int dir_fd, uint64_t limit)
{
	int fd = dir_fd < 0 ? -1
	                    : openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autodir DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;
	struct stat st;

	for (int i = 0; dir && i < 1000 && (d = readdir(dir)) != NULL; i++)
		if (fstatat(fd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && (uint64_t)st.st_size >= limit)
			return true;
	return false;
}

/* A program that waited for its letter may have found that it cannot be followed. */
static void hear_complaint(struct dw_launched *l)
{
	struct dw_ready said = {0};

	if (l->letter[0] < 0 ||
	    recv(l->letter[0], &said, sizeof(said), MSG_DONTWAIT) != sizeof(said))
		return;
	said.failed[sizeof(said.failed) - 1] = '\0';
	(void)dw_fail(&l->cell.outcome.error, DW_E_INTERNAL, said.eno,
	              "in the warm cell: %s", said.failed);
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
	hear_complaint(l);
	dw_limits_read_back(l);
	if (l->workdir[0] != '\0') {
		cell->tmp_fd = open(l->workdir,
		                    O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		o->tmp_full = has_full_file(cell->tmp_fd, l->spec->limits.tmp_bytes);
	}
}

static void bury_init(struct dw_launched *l)
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
 * Whoever waits for a word of ours finds that none will come, and ends by itself.
 * What they say last may name another one to wait for.
 */
static void bury_all(struct dw_launched *l)
{
	if (l->report >= 0)
		(void)shutdown(l->report, SHUT_WR);
	for (int i = 0; i < 2; i++) {
		dw_launched_bury_launcher(l);
		if (l->report >= 0)
			dw_launched_on_event(&l->cell, DW_WATCH_REPORT);
	}
	dw_launched_bury_launcher(l);
	bury_init(l);
}

void dw_launched_destroy(struct dw_cell *cell)
{
	struct dw_launched *l;

	if (!cell)
		return;
	l = dw_launched(cell);
	dw_pasta_stop(l->pasta);
	bury_all(l);
	dw_fd_close(&l->report);
	dw_fd_close(&l->report_child);
	dw_fd_close(&l->pidfd);
	dw_fd_close(&l->userns);
	dw_fd_close(&l->pidns);
	dw_fd_close(&l->ruleset);
	dw_fd_close(&l->letter[0]);
	dw_fd_close(&l->letter[1]);
	dw_fd_close(&l->plan_fd);
	dw_fd_close(&cell->in);
	dw_fd_close(&cell->tmp_fd);
	for (int i = 0; i < 3; i++)
		dw_fd_close(&l->child[i]);
	for (int i = 0; i < DW_STREAM_COUNT; i++)
		dw_fd_close(&cell->out[i]);
	(void)dw_cgroup_destroy(&l->cgroup, NULL); /* the next sweep tries again */
	remove_workdir(l);
	dw_plan_finish(&l->plan);
	free(l->shared);
	free(l);
}
