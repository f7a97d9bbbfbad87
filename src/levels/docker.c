/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Level docker: a fresh container of a Docker or Podman engine for each run.
 *
 * dewar-docker (src/docker), one process for each cell, talks to the engine, and
 * dewar-guest (src/guest) runs the program inside. This file connects both to the run:
 * through pipes, a socket with reports, and a process to wait for.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "base/path.h"
#include "levels/docker_cell.h"
#include "levels/launched.h"
#include "request/limits.h"
#include "wire/docker.h"

#define PROBE_MS 4000U
#define EXIT_MS 14000

/* ---- creating ---- */

/* Seal the order: dewar-docker accepts no order that can still change. */
static int seal_order(const json_t *order, struct dw_error *err)
{
	autofree char *text = order ? json_dumps(order, JSON_COMPACT) : NULL;
	const struct iovec part = {text, text ? strlen(text) : 0};

	if (!text)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot write the order");
	return dw_report_seal("dewar-order", &part, 1, err);
}

static int make_pipes(struct dw_docker_cell *d, struct dw_error *err)
{
	int pair[2];

	if (dw_cell_open_stdio(&d->cell, d->child, false, err) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot make a report socket");
	d->report = pair[0];
	d->child[3] = pair[1];
	return 0;
}

/* Start dewar-docker. It loads its libraries while we write the order. */
static int spawn(struct dw_docker_cell *d, struct dw_error *err)
{
	if (make_pipes(d, err) < 0 || dw_spawn_docker(d->child, &d->pid, err) < 0)
		return -1;
	for (int i = 0; i < 4; i++)
		dw_fd_close(&d->child[i]);
	d->pidfd = (int)syscall(SYS_pidfd_open, d->pid, 0);
	if (d->pidfd < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, errno,
		               "cannot open a pidfd (Linux 5.3 or newer is needed)");
	return 0;
}

/* Only name the folder: dewar-docker creates it for the first collected file. */
static void name_folder(struct dw_docker_cell *d)
{
	if (d->spec->req->n_collect > 0)
		dw_cell_folder_name(d->folder, sizeof(d->folder), d->spec->id);
}

static int write_plan(struct dw_docker_cell *d, struct dw_error *err)
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

/* Choose the image, and find dewar-guest. */
static int choose(struct dw_docker_cell *d, char *ret_image, size_t size, char *ret_guest,
                  size_t guest_size, struct dw_error *err)
{
	const char *image = image_of(d->spec), *runtime = d->spec->req->runtime;

	if (runtime && strlen(runtime) >= sizeof(d->cell.outcome.runtime))
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the runtime's name is too long");
	if (!image)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "there is no default image for %s; use --image",
		               d->spec->runtime->name);
	if (strlen(image) >= size)
		return dw_fail(err, DW_E_INVALID, ENAMETOOLONG, "the image name %.64s...",
		               image);
	if (dw_program_find("dewar-guest", "DEWAR_GUEST", ret_guest, guest_size, err) < 0)
		return -1;
	(void)snprintf(ret_image, size, "%s", image);
	(void)snprintf(d->cell.outcome.image, sizeof(d->cell.outcome.image), "%s", image);
	return 0;
}

/* If wait_ms is not 0, the order is for a standby container. */
static int write_order(struct dw_docker_cell *d, uint64_t wait_ms, struct dw_error *err)
{
	const char *folder = d->folder[0] != '\0' ? d->folder : NULL;
	char image[256], guest[512];
	json_auto_t *order = NULL;

	if (choose(d, image, sizeof(image), guest, sizeof(guest), err) < 0)
		return -1;
	order = dw_docker_order(d->spec, image, guest, folder, wait_ms, err);
	if (order)
		d->order_fd = seal_order(order, err);
	return d->order_fd < 0 ? -1 : 0;
}

/* Fill in the limits that we request. The report MADE says which are enforced. */
static void plan_limits(struct dw_docker_cell *d)
{
	static const char *const by[DW_LIMIT_COUNT] = {
		[DW_LIMIT_TIMEOUT] = "dewar", [DW_LIMIT_OUTPUT] = "dewar",
		[DW_LIMIT_MEMORY] = "engine", [DW_LIMIT_CPU] = "engine",
		[DW_LIMIT_PIDS] = "engine",   [DW_LIMIT_FILES] = "rlimit",
		[DW_LIMIT_TMP] = "tmpfs",
	};
	struct dw_limit_proof *proof = d->cell.outcome.limits;

	for (size_t i = 0; i < DW_LIMIT_COUNT; i++)
		proof[i] = (struct dw_limit_proof){
			.asked = dw_limit_get(&d->spec->limits, i),
			.enforced = by[i] != NULL,
			.by = by[i] ? by[i] : "none",
			.note = by[i] ? NULL : "this level does not enforce it",
		};
}

static struct dw_docker_cell *new_docker(const struct dw_spec *spec)
{
	struct dw_docker_cell *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->spec = spec;
	dw_cell_init(&d->cell, &dw_level_docker);
	d->order_fd = d->plan_fd = d->report = d->pidfd = -1;
	d->child[0] = d->child[1] = d->child[2] = d->child[3] = -1;
	return d;
}

static void destroy(struct dw_cell *cell);

static int create(const struct dw_spec *spec, struct dw_cell **ret_cell,
                  struct dw_error *err)
{
	struct dw_docker_cell *d = new_docker(spec);

	if (!d)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot create a cell");
	name_folder(d);
	if (spawn(d, err) < 0 || write_plan(d, err) < 0 || write_order(d, 0, err) < 0) {
		destroy(&d->cell);
		return -1;
	}
	plan_limits(d);
	*ret_cell = &d->cell;
	return 0;
}

static int send_order(struct dw_docker_cell *d, struct dw_error *err)
{
	int r = dw_report_send_fds(d->report, (int[]){d->order_fd, d->plan_fd},
	                           d->plan_fd < 0 ? 1 : 2);

	dw_fd_close(&d->order_fd);
	dw_fd_close(&d->plan_fd);
	/* dewar-docker may have exited: dw_docker_on_gone() finds out why. */
	if (r < 0 && r != -EPIPE && r != -ECONNRESET)
		return dw_fail(err, DW_E_INTERNAL, -r,
		               "cannot send the order to dewar-docker");
	d->cell.watch[DW_DOCKER_WATCH_REPORT] = (struct dw_watch){d->report, POLLIN};
	d->cell.watch[DW_DOCKER_WATCH_PROCESS] = (struct dw_watch){d->pidfd, POLLIN};
	return 0;
}

static int start(struct dw_cell *cell, struct dw_error *err)
{
	return send_order(dw_docker_cell(cell), err);
}

/* ---- ending ---- */

static void kill_cell(struct dw_cell *cell)
{
	(void)send(dw_docker_cell(cell)->report, "k", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void measure(struct dw_cell *cell)
{
	const struct dw_docker_cell *d = dw_docker_cell(cell);

	/* After END dewar-docker writes no more files. */
	if (d->folder[0] != '\0' && cell->outcome.ended)
		cell->tmp_fd = open(d->folder,
		                    O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static void destroy(struct dw_cell *cell)
{
	struct pollfd gone;
	struct dw_docker_cell *d;
	int status;

	if (!cell)
		return;
	d = dw_docker_cell(cell);
	dw_fd_close(&d->report); /* dewar-docker cleans up and exits */
	gone = (struct pollfd){.fd = d->pidfd, .events = POLLIN};
	if (d->pid > 0 && (d->pidfd < 0 || poll(&gone, 1, EXIT_MS) <= 0))
		(void)kill(d->pid, SIGKILL);
	while (d->pid > 0 && waitpid(d->pid, &status, 0) < 0 && errno == EINTR)
		;
	for (int i = 0; i < 4; i++)
		dw_fd_close(&d->child[i]);
	dw_fd_close(&d->pidfd);
	dw_fd_close(&d->order_fd);
	dw_fd_close(&d->plan_fd);
	dw_cell_close(cell);
	dw_cell_folder_remove(d->folder);
	free(d);
}

/* ---- standby containers ---- */

int dw_docker_prepare(const struct dw_spec *spec, uint64_t idle_ms,
                      struct dw_cell **ret_cell, struct dw_error *err)
{
	struct dw_docker_cell *d = new_docker(spec);

	if (!d)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot create a cell");
	if (spawn(d, err) < 0 || write_order(d, idle_ms, err) < 0) {
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
	const struct dw_docker_cell *d = (const struct dw_docker_cell *)cell;
	struct pollfd fd = {.fd = d->pidfd, .events = POLLIN};

	return d->pid == 0 || poll(&fd, 1, 0) > 0;
}

int dw_docker_is_ready(struct dw_cell *cell, struct dw_error *err)
{
	struct dw_docker_cell *d = dw_docker_cell(cell);

	dw_docker_read_reports(d);
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
	const struct dw_docker_cell *d = (const struct dw_docker_cell *)cell;
	const struct dw_request *req = spec->req;

	return is_same(image_of(d->spec), image_of(spec)) &&
	       is_same(d->spec->req->runtime, req->runtime) &&
	       d->spec->req->network == req->network && req->pull != DW_PULL_ALWAYS &&
	       !req->workspace && req->n_writable == 0 && !req->program &&
	       dw_limits_fit(&d->spec->limits, &spec->limits);
}

int dw_docker_go(struct dw_cell *cell, const struct dw_spec *spec, struct dw_error *err)
{
	struct dw_docker_cell *d = dw_docker_cell(cell);

	d->spec = spec;
	d->early = true;
	name_folder(d);
	if (write_plan(d, err) < 0 || write_order(d, 0, err) < 0)
		return -1;
	cell->outcome.limits[DW_LIMIT_TIMEOUT].asked = spec->limits.timeout_ms;
	cell->outcome.limits[DW_LIMIT_OUTPUT].asked = spec->limits.output_bytes;
	return send_order(d, err);
}

/* ---- probing ---- */

static int find_engine(struct dw_docker_cell *d, struct dw_error *err)
{
	uint64_t deadline = dw_now_ms() + PROBE_MS;
	json_auto_t *sockets = dw_docker_sockets(err);
	json_auto_t *order = NULL;

	if (!sockets)
		return -1;
	order = json_pack("{s:b, s:O, s:I}", "probe", 1, "sockets", sockets,
	                  "deadline_ms", (json_int_t)deadline);
	d->order_fd = seal_order(order, err);
	if (d->order_fd < 0 || spawn(d, err) < 0 || send_order(d, err) < 0)
		return -1;
	while (d->cell.state != DW_CELL_GONE) {
		struct pollfd fd = {.fd = d->pidfd, .events = POLLIN};

		if (poll(&fd, 1, dw_ms_until(deadline + 500)) <= 0)
			return dw_fail(err, DW_E_UNSUPPORTED, 0,
			               "the engine does not answer");
		dw_docker_on_gone(d);
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
	struct dw_docker_cell *d = new_docker(&nothing);
	int r;

	if (!d)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot probe the engine");
	r = find_engine(d, err);
	destroy(&d->cell);
	return r;
}

const struct dw_level dw_level_docker = {
	.name = "docker",
	.guarantees = DW_G_NAMESPACES | DW_G_NO_NETWORK | DW_G_IMAGE | DW_G_TMP_SIZE |
                      DW_G_ENGINE | DW_G_WALLS | DW_G_ISOLATED | DW_G_ROOT | DW_G_WARM,
	.summary = "a fresh container of an engine, no capabilities, no network",
	.timeout_ms = 30000,
	.probe = probe,
	.create = create,
	.start = start,
	.on_event = dw_docker_on_event,
	.kill = kill_cell,
	.measure = measure,
	.destroy = destroy,
};
