/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Level docker: a fresh container of a Docker or Podman engine for each run.
 *
 * All talk with the engine is dewar-docker's (src/docker), one process a cell, and
 * what happens inside is our guest's (src/guest/main.c); here is what the engine of
 * dewar sees of both: pipes, a socket with reports, and a process to wait for.
 */
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
#include "base/clock.h"
#include "base/fd.h"
#include "base/namespaces.h"
#include "base/path.h"
#include "base/program.h"
#include "levels/docker_order.h"
#include "levels/level.h"
#include "levels/limits.h"
#include "levels/spawn.h"
#include "wire/docker.h"

#define PROBE_MS 4000U
#define BURY_MS 14000
#define REMOVE_MS 12000U /* more than dewar-docker takes for it */

enum {
	WATCH_REPORT,
	WATCH_COURIER
};

struct docker {
	struct dw_cell cell; /* first */
	const struct dw_spec *spec;
	int order_fd;
	int plan_fd;
	int report; /* our end */
	int child[4];
	int pid; /* of dewar-docker, until it is buried; or 0 */
	int pidfd;
	bool early;        /* over for who runs it at its end, not when it is removed */
	bool made;         /* the container ran, and was looked at */
	uint64_t noted_ms; /* when we last heard of a pull, or 0 */
	char folder[64];   /* for what is collected; ours to remove, or "" */
	char found[512];   /* which engine it is */
};

static struct docker *docker(struct dw_cell *cell)
{
	return (struct docker *)cell;
}

/* ---- making ---- */

/* dewar-docker takes no order that may change. */
static int seal_order(const json_t *order, struct dw_error *err)
{
	autofree char *text = order ? json_dumps(order, JSON_COMPACT) : NULL;
	const struct iovec part = {text, text ? strlen(text) : 0};

	if (!text)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot write the order");
	return dw_report_seal("dewar-order", &part, 1, err);
}

static int make_pipes(struct docker *d, struct dw_error *err)
{
	int in[2], out[2], errs[2], pair[2];

	if (pipe2(in, O_CLOEXEC) < 0)
		goto fail;
	d->child[0] = in[0];
	d->cell.in = in[1];
	if (pipe2(out, O_CLOEXEC) < 0)
		goto fail;
	d->cell.out[DW_STDOUT] = out[0];
	d->child[1] = out[1];
	if (pipe2(errs, O_CLOEXEC) < 0)
		goto fail;
	d->cell.out[DW_STDERR] = errs[0];
	d->child[2] = errs[1];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		goto fail;
	d->report = pair[0];
	d->child[3] = pair[1];
	(void)dw_fd_nonblock(d->cell.in);
	(void)dw_fd_nonblock(d->cell.out[DW_STDOUT]);
	(void)dw_fd_nonblock(d->cell.out[DW_STDERR]);
	return 0;
fail:
	return dw_fail(err, DW_E_INTERNAL, errno, "make pipes for the cell");
}

/* It loads its libraries while we write its order. */
static int spawn(struct docker *d, struct dw_error *err)
{
	if (make_pipes(d, err) < 0 || dw_spawn_courier(d->child, &d->pid, err) < 0)
		return -1;
	for (int i = 0; i < 4; i++)
		dw_fd_close(&d->child[i]);
	d->pidfd = (int)syscall(SYS_pidfd_open, d->pid, 0);
	if (d->pidfd < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, errno,
		               "open a pidfd (Linux 5.3 or newer is needed)");
	return 0;
}

static const char *temp_folder(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir == '/' && strlen(dir) < 32 ? dir : "/tmp";
}

/* Its name: dewar-docker makes it, if something comes to be put there. */
static void name_folder(struct docker *d)
{
	if (d->spec->req->n_collect > 0)
		(void)snprintf(d->folder, sizeof(d->folder), "%s/dewar-%.16s",
		               temp_folder(), d->spec->id);
}

static void remove_folder(const struct docker *d)
{
	autoclose int parent = -1;

	if (d->folder[0] == '\0')
		return;
	parent = open(temp_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (parent >= 0)
		(void)dw_path_remove_tree(parent, strrchr(d->folder, '/') + 1);
}

static int write_plan(struct docker *d, struct dw_error *err)
{
	struct dw_plan_builder plan;

	dw_plan_init(&plan);
	if (dw_docker_plan(d->spec, &plan, err) == 0)
		d->plan_fd = dw_plan_seal(&plan, err);
	dw_plan_finish(&plan);
	return d->plan_fd < 0 ? -1 : 0;
}

static const char *image_of(const struct dw_spec *spec)
{
	return spec->req->image ? spec->req->image : dw_docker_image(spec->runtime);
}

/* The image, and our init for it. */
static int choose(struct docker *d, char *ret_image, size_t size, char *ret_guest,
                  size_t guest_size, struct dw_error *err)
{
	const char *image = image_of(d->spec), *runtime = d->spec->req->runtime;

	if (runtime && strlen(runtime) >= sizeof(d->cell.outcome.runtime))
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "no engine has a runtime with so long a name");
	if (!image)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "no image is known for %s: name one with --image",
		               d->spec->runtime->name);
	if (strlen(image) >= size)
		return dw_fail(err, DW_E_INVALID, ENAMETOOLONG, "the image %.64s...",
		               image);
	if (dw_program_find("dewar-guest", "DEWAR_GUEST", ret_guest, guest_size, err) < 0)
		return -1;
	(void)snprintf(ret_image, size, "%s", image);
	(void)snprintf(d->cell.outcome.image, sizeof(d->cell.outcome.image), "%s", image);
	return 0;
}

static int write_order(struct docker *d, struct dw_error *err)
{
	char image[256], guest[512];
	json_t *order;

	if (choose(d, image, sizeof(image), guest, sizeof(guest), err) < 0)
		return -1;
	order = dw_docker_order(d->spec, image, guest,
	                        d->folder[0] != '\0' ? d->folder : NULL, err);
	if (!order)
		return -1;
	d->order_fd = seal_order(order, err);
	json_decref(order);
	return d->order_fd < 0 ? -1 : 0;
}

/* What the engine is asked for. What became of it is known once it is MADE. */
static void plan_limits(struct docker *d)
{
	const struct dw_limits *limits = &d->spec->limits;
	struct dw_limit_proof *proof = d->cell.outcome.limits;

#define PLAN(limit, value, who)                                  \
	proof[limit] = (struct dw_limit_proof){.asked = (value), \
	                                       .enforced = true, \
	                                       .by = (who)}
	PLAN(DW_LIMIT_TIMEOUT, limits->timeout_ms, "dewar");
	PLAN(DW_LIMIT_OUTPUT, limits->output_bytes, "dewar");
	PLAN(DW_LIMIT_MEMORY, limits->memory_bytes, "engine");
	PLAN(DW_LIMIT_CPU, limits->cpu_percent, "engine");
	PLAN(DW_LIMIT_PIDS, limits->pids, "engine");
	PLAN(DW_LIMIT_FILES, limits->files, "rlimit");
	PLAN(DW_LIMIT_TMP, limits->tmp_bytes, "tmpfs");
#undef PLAN
}

static struct docker *new_docker(const struct dw_spec *spec)
{
	struct docker *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->spec = spec;
	d->cell.level = &dw_level_docker;
	d->cell.in = d->cell.out[0] = d->cell.out[1] = d->cell.tmp_fd = -1;
	d->order_fd = d->plan_fd = d->report = d->pidfd = -1;
	d->child[0] = d->child[1] = d->child[2] = d->child[3] = -1;
	for (size_t i = 0; i < DW_CELL_WATCHES; i++)
		d->cell.watch[i].fd = -1;
	d->cell.outcome.run_ms = d->cell.outcome.cpu_ms = d->cell.outcome.memory_mb = -1;
	return d;
}

static void destroy(struct dw_cell *cell);

static int create(const struct dw_spec *spec, struct dw_cell **ret_cell,
                  struct dw_error *err)
{
	struct docker *d = new_docker(spec);

	if (!d)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "make a cell");
	name_folder(d);
	if (spawn(d, err) < 0 || write_plan(d, err) < 0 || write_order(d, err) < 0) {
		destroy(&d->cell);
		return -1;
	}
	plan_limits(d);
	*ret_cell = &d->cell;
	return 0;
}

static int write_waiting(struct docker *d, uint64_t idle_ms, struct dw_error *err)
{
	char image[256], guest[512];
	json_t *order;

	if (choose(d, image, sizeof(image), guest, sizeof(guest), err) < 0)
		return -1;
	order = dw_docker_order_waiting(d->spec, image, guest, idle_ms, err);
	if (!order)
		return -1;
	d->order_fd = seal_order(order, err);
	json_decref(order);
	return d->order_fd < 0 ? -1 : 0;
}

static int send_order(struct docker *d, struct dw_error *err)
{
	int r = dw_report_send_fds(d->report, (int[]){d->order_fd, d->plan_fd},
	                           d->plan_fd < 0 ? 1 : 2);

	dw_fd_close(&d->order_fd);
	dw_fd_close(&d->plan_fd);
	/* It may be gone already: why, its status tells (on_gone). */
	if (r < 0 && r != -EPIPE && r != -ECONNRESET)
		return dw_fail(err, DW_E_INTERNAL, -r, "hand the order to dewar-docker");
	d->cell.watch[WATCH_REPORT] = (struct dw_watch){d->report, POLLIN};
	d->cell.watch[WATCH_COURIER] = (struct dw_watch){d->pidfd, POLLIN};
	return 0;
}

static int start(struct dw_cell *cell, struct dw_error *err)
{
	return send_order(docker(cell), err);
}

/* ---- watching ---- */

/* As long as the engine tells of progress, the run's time stands still. */
static void on_note(struct docker *d, const char *text)
{
	const struct dw_request *req = d->spec->req;
	uint64_t now = dw_now_ms();

	if (d->noted_ms != 0)
		d->cell.waived_ms += now - d->noted_ms;
	d->noted_ms = now;
	if (req->on_note)
		req->on_note(req->user, text);
}

static const char *cgroup_name(uint32_t version)
{
	return version == 2 ? "cgroup2" : "cgroup1";
}

static void prove_limit(struct docker *d, enum dw_limit limit,
                        const struct dw_docker_enforced *held)
{
	struct dw_limit_proof *proof = &d->cell.outcome.limits[limit];

	proof->kernel = held->kernel;
	proof->enforced = held->version != 0 && !held->swap;
	if (held->version != 0) {
		proof->by = cgroup_name(held->version);
		if (held->swap)
			proof->note = "the engine lets the container swap beyond it";
		return;
	}
	proof->kernel = 0;
	proof->by = "sampling";
	if (limit == DW_LIMIT_CPU) {
		proof->note = "no cpu cgroup of the container's holds the share: only the "
			      "cpu time that it adds up to by the deadline";
		return;
	}
	proof->enforced = true;
	proof->note =
		limit == DW_LIMIT_MEMORY
			? "no cgroup of the container's holds it: our init in the "
			  "container adds up what its processes hold every few "
			  "milliseconds, so a burst may pass it before they are ended"
			: "no cgroup of the container's holds it: our init in the "
			  "container looks every few milliseconds";
}

static void on_made(struct docker *d, struct dw_docker_made *made)
{
	struct dw_outcome *o = &d->cell.outcome;

	d->made = true;
	made->image[sizeof(made->image) - 1] = '\0';
	made->runtime[sizeof(made->runtime) - 1] = '\0';
	(void)snprintf(o->image, sizeof(o->image), "%s", made->image);
	(void)snprintf(o->runtime, sizeof(o->runtime), "%s", made->runtime);
	prove_limit(d, DW_LIMIT_MEMORY, &made->enforced[DW_DOCKER_MEMORY]);
	prove_limit(d, DW_LIMIT_CPU, &made->enforced[DW_DOCKER_CPU]);
	prove_limit(d, DW_LIMIT_PIDS, &made->enforced[DW_DOCKER_PIDS]);
	if (made->enforced[DW_DOCKER_PIDS].version != 0 &&
	    o->limits[DW_LIMIT_PIDS].kernel > 0)
		o->limits[DW_LIMIT_PIDS].kernel--; /* our init is one of them */
}

static void on_walls(struct docker *d, const struct dw_walls *walls)
{
	struct dw_outcome *o = &d->cell.outcome;
	struct dw_limit_proof *files = &o->limits[DW_LIMIT_FILES];

	o->walls = *walls;
	o->started = true;
	o->own_ns = dw_ns_not_ours(walls->ns);
	o->limits[DW_LIMIT_TMP].kernel = walls->tmp_bytes;
	/* Podman and gVisor have no such option. Each file costs memory, which is held. */
	if (walls->tmp_inodes == 0 ||
	    walls->tmp_inodes > walls->tmp_bytes / DW_TMP_INODE_BYTES + 1)
		o->limits[DW_LIMIT_TMP].note =
			"the bytes are held, the number of files is not: this engine, or its "
			"runtime, has no limit for that";
	files->kernel = walls->rlimit_files;
	if (walls->rlimit_files < files->asked)
		files->note = "this host, or the engine, allows no more";
	d->cell.state = DW_CELL_RUNNING;
}

static void on_end(struct docker *d, const struct dw_docker_end *end)
{
	struct dw_outcome *o = &d->cell.outcome;
	const struct dw_report_end *e = &end->end;
	uint64_t memory = end->memory_peak;

	o->ended = true;
	d->cell.waived_ms += REMOVE_MS; /* it is the engine's time from here on */
	if (d->early)
		d->cell.state = DW_CELL_GONE;
	o->wait_status = e->wait_status;
	o->tmp_full = e->tmp_full != 0;
	if (e->run_ns > 0)
		o->run_ms = (double)e->run_ns / 1e6;
	if (end->cpu_ns > 0 || e->cpu_ns > 0)
		o->cpu_ms = (double)(end->cpu_ns > 0 ? end->cpu_ns : e->cpu_ns) / 1e6;
	if (memory == 0)
		memory = e->peak_memory > e->max_rss ? e->peak_memory : e->max_rss;
	if (memory > 0)
		o->memory_mb = (double)memory / (1 << 20);
	if (e->hit != DW_REASON_EXIT && e->hit < DW_REASON_COUNT)
		o->hit = e->hit;
	else if (end->oom)
		o->hit = DW_REASON_OOM;
	else if (end->pids || e->peak_pids > d->spec->limits.pids)
		o->hit = DW_REASON_PIDS;
}

static void on_report(struct docker *d, struct dw_docker_report *report)
{
	struct dw_outcome *o = &d->cell.outcome;

	switch (report->kind) {
	case DW_DOCKER_FOUND:
		report->text[sizeof(report->text) - 1] = '\0';
		(void)snprintf(d->found, sizeof(d->found), "%s", report->text);
		break;
	case DW_DOCKER_NOTE:
		report->text[sizeof(report->text) - 1] = '\0';
		on_note(d, report->text);
		break;
	case DW_DOCKER_MADE:
		on_made(d, &report->made);
		break;
	case DW_DOCKER_WALLS:
		on_walls(d, &report->walls);
		break;
	case DW_DOCKER_END:
		on_end(d, &report->end);
		break;
	case DW_DOCKER_LEFT:
		report->text[sizeof(report->text) - 1] = '\0';
		(void)snprintf(o->left, sizeof(o->left), "%s", report->text);
		break;
	case DW_DOCKER_ERROR:
		report->error.text[sizeof(report->error.text) - 1] = '\0';
		if (o->error.code == DW_OK && report->error.code > DW_OK &&
		    report->error.code < DW_E_COUNT)
			o->error = report->error;
		break;
	default:
		break;
	}
}

static void read_reports(struct docker *d)
{
	struct dw_docker_report report;
	ssize_t n;

	while ((n = recv(d->report, &report, sizeof(report), MSG_DONTWAIT)) ==
	       (ssize_t)sizeof(report))
		on_report(d, &report);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		d->cell.watch[WATCH_REPORT].fd = -1;
}

/* The engine was asked, and nobody saw it done. */
static void forget_limits(struct docker *d)
{
	static const enum dw_limit asked[] = {DW_LIMIT_MEMORY, DW_LIMIT_CPU,
	                                      DW_LIMIT_PIDS};

	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		d->cell.outcome.limits[asked[i]].enforced = false;
		d->cell.outcome.limits[asked[i]].by = "none";
	}
}

/* The loader ends a program so that lacks a library. */
#define EXIT_NOT_LOADED 127

/* It is gone, and so is the container: that is the order in which it works. */
static void on_gone(struct docker *d)
{
	struct dw_outcome *o = &d->cell.outcome;
	int status;

	read_reports(d);
	while (waitpid(d->pid, &status, 0) < 0 && errno == EINTR)
		;
	d->pid = 0;
	d->cell.watch[WATCH_COURIER].fd = -1;
	if (!d->made)
		forget_limits(d);
	if (o->error.code == DW_OK && !o->ended && WIFEXITED(status) &&
	    WEXITSTATUS(status) == EXIT_NOT_LOADED)
		(void)dw_fail(&o->error, DW_E_UNSUPPORTED, 0,
		              "dewar-docker cannot be loaded, for want of a library; try: "
		              "apt-get install libcurl4 libjansson4");
	else if (o->error.code == DW_OK && !o->ended)
		(void)dw_fail(&o->error, DW_E_INTERNAL, 0,
		              "dewar-docker died; what it left is removed by the next run");
	d->cell.state = DW_CELL_GONE;
}

static void on_event(struct dw_cell *cell, size_t index)
{
	if (index == WATCH_REPORT)
		read_reports(docker(cell));
	else
		on_gone(docker(cell));
}

/* ---- ending ---- */

static void kill_cell(struct dw_cell *cell)
{
	(void)send(docker(cell)->report, "k", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void measure(struct dw_cell *cell)
{
	const struct docker *d = docker(cell);

	/* Once it has ended, nobody writes there any more. */
	if (d->folder[0] != '\0' && cell->outcome.ended)
		cell->tmp_fd = open(d->folder,
		                    O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static void destroy(struct dw_cell *cell)
{
	struct pollfd gone;
	struct docker *d;
	int status;

	if (!cell)
		return;
	d = docker(cell);
	dw_fd_close(&d->report); /* whoever listens there cleans up and goes */
	gone = (struct pollfd){.fd = d->pidfd, .events = POLLIN};
	if (d->pid > 0 && (d->pidfd < 0 || poll(&gone, 1, BURY_MS) <= 0))
		(void)kill(d->pid, SIGKILL);
	while (d->pid > 0 && waitpid(d->pid, &status, 0) < 0 && errno == EINTR)
		;
	for (int i = 0; i < 4; i++)
		dw_fd_close(&d->child[i]);
	dw_fd_close(&d->pidfd);
	dw_fd_close(&d->order_fd);
	dw_fd_close(&d->plan_fd);
	dw_fd_close(&cell->in);
	dw_fd_close(&cell->tmp_fd);
	for (int i = 0; i < DW_STREAM_COUNT; i++)
		dw_fd_close(&cell->out[i]);
	remove_folder(d);
	free(d);
}

/* ---- containers that wait ---- */

int dw_docker_prepare(const struct dw_spec *spec, uint64_t idle_ms,
                      struct dw_cell **ret_cell, struct dw_error *err)
{
	struct docker *d = new_docker(spec);

	if (!d)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "make a cell");
	if (spawn(d, err) < 0 || write_waiting(d, idle_ms, err) < 0) {
		destroy(&d->cell);
		return -1;
	}
	plan_limits(d);
	if (send_order(d, err) < 0) {
		destroy(&d->cell);
		return -1;
	}
	*ret_cell = &d->cell;
	return 0;
}

bool dw_docker_is_gone(const struct dw_cell *cell)
{
	const struct docker *d = (const struct docker *)cell;
	struct pollfd fd = {.fd = d->pidfd, .events = POLLIN};

	return d->pid == 0 || poll(&fd, 1, 0) > 0;
}

int dw_docker_is_ready(struct dw_cell *cell, struct dw_error *err)
{
	struct docker *d = docker(cell);

	read_reports(d);
	if (d->cell.outcome.error.code != DW_OK) {
		*err = d->cell.outcome.error;
		return -1;
	}
	if (dw_docker_is_gone(cell))
		return dw_fail(err, DW_E_BUSY, 0, "the container is gone");
	return d->made;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

bool dw_docker_fits(const struct dw_cell *cell, const struct dw_spec *spec)
{
	const struct docker *d = (const struct docker *)cell;
	const struct dw_limits *have = &d->spec->limits, *want = &spec->limits;
	const struct dw_request *req = spec->req;

	return is_same(image_of(d->spec), image_of(spec)) &&
	       is_same(d->spec->req->runtime, req->runtime) &&
	       d->spec->req->network == req->network && req->pull != DW_PULL_ALWAYS &&
	       !req->workspace && req->n_writable == 0 && !req->program &&
	       have->memory_bytes == want->memory_bytes &&
	       have->cpu_percent == want->cpu_percent && have->pids == want->pids &&
	       have->files == want->files && have->tmp_bytes == want->tmp_bytes;
}

int dw_docker_go(struct dw_cell *cell, const struct dw_spec *spec, struct dw_error *err)
{
	struct docker *d = docker(cell);

	d->spec = spec;
	d->early = true;
	name_folder(d);
	if (write_plan(d, err) < 0 || write_order(d, err) < 0)
		return -1;
	cell->outcome.limits[DW_LIMIT_TIMEOUT].asked = spec->limits.timeout_ms;
	cell->outcome.limits[DW_LIMIT_OUTPUT].asked = spec->limits.output_bytes;
	return send_order(d, err);
}

/* ---- probing ---- */

static int ask(struct docker *d, struct dw_error *err)
{
	uint64_t deadline = dw_now_ms() + PROBE_MS;
	json_t *sockets = dw_docker_sockets(err);
	json_t *order;

	if (!sockets)
		return -1;
	order = json_pack("{s:b, s:o, s:I}", "probe", 1, "sockets", sockets,
	                  "deadline_ms", (json_int_t)deadline);
	d->order_fd = seal_order(order, err);
	json_decref(order);
	if (d->order_fd < 0 || spawn(d, err) < 0 || send_order(d, err) < 0)
		return -1;
	while (d->cell.state != DW_CELL_GONE) {
		struct pollfd fd = {.fd = d->pidfd, .events = POLLIN};

		if (poll(&fd, 1, dw_ms_until(deadline + 500)) <= 0)
			return dw_fail(err, DW_E_UNSUPPORTED, 0,
			               "the engine does not answer");
		on_gone(d);
	}
	if (d->found[0] == '\0') {
		*err = d->cell.outcome.error;
		return -1;
	}
	return 0;
}

static int probe(struct dw_error *err)
{
	static const struct dw_spec nothing;
	struct docker *d = new_docker(&nothing);
	int r;

	if (!d)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "ask the engine");
	r = ask(d, err);
	destroy(&d->cell);
	return r;
}

const struct dw_level dw_level_docker = {
	.name = "docker",
	.guarantees = DW_G_NAMESPACES | DW_G_NO_NETWORK | DW_G_IMAGE | DW_G_TMP_SIZE |
                      DW_G_ENGINE,
	.timeout_ms = 30000,
	.probe = probe,
	.create = create,
	.start = start,
	.on_event = on_event,
	.kill = kill_cell,
	.measure = measure,
	.destroy = destroy,
};
