/* SPDX-License-Identifier: Apache-2.0 */
#include "warm/warm_own.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/id.h"
#include "wire/enter.h"
#include "wire/report.h"

#define START_MS 60000U /* enough to import scientific Python */
#define TRIAL_MS 10000U
#define FORK_MS 2000U /* short, since a run waits; a slower zygote is stuck */
#define STDERR_MS 100U
#define MB (1ULL << 20)

/*
 * All forks of a zygote have the same hash seed and addresses, so it is replaced now and
 * then.
 */
#define FORKS_MAX 2000U
_Static_assert(FORKS_MAX < DW_ZYGOTE_IDS, "an id for each");

bool dw_zygote_is_spent(const struct dw_zygote *z)
{
	return z->forks >= FORKS_MAX;
}

/* Read the last line on the zygote's stderr: most likely, why it did not start. */
static void read_last_line(const struct dw_zygote *z, char *ret, size_t size)
{
	char text[4096];
	ssize_t n = read(z->cell->out[DW_STDERR], text, sizeof(text) - 1);
	const char *line;

	text[n > 0 ? n : 0] = '\0';
	for (char *end = text + strlen(text); end > text && end[-1] == '\n'; end--)
		end[-1] = '\0';
	line = strrchr(text, '\n');
	(void)snprintf(ret, size, "%s", line ? line + 1 : text);
}

static int explain_no_reply(const struct dw_zygote *z, struct dw_error *err)
{
	const struct dw_outcome *o = &z->cell->outcome;
	bool ended = z->cell->state == DW_CELL_GONE;
	char line[256];

	if (o->error.code != DW_OK) {
		*err = o->error;
		return dw_wrap(err, "cannot start a zygote for %s", z->template->name);
	}
	(void)dw_warm_wait(z->cell, -1, dw_now_ms() + STDERR_MS);
	read_last_line(z, line, sizeof(line));
	/* A zygote that does not answer may only be slow, on a busy host. */
	return dw_fail(err, ended ? DW_E_UNSUPPORTED : DW_E_INTERNAL, 0,
	               "the zygote for %s %s%s%s", z->template->name,
	               ended ? "has ended" : "does not answer", line[0] ? ": " : "",
	               line);
}

static int wait_reply(struct dw_zygote *z, uint64_t ms, uint32_t *ret_pages,
                      struct dw_error *err)
{
	uint64_t deadline = dw_now_ms() + ms;
	struct dw_zygote_reply reply = {0};

	if (dw_warm_wait(z->cell, z->cell->in, deadline) < 0 ||
	    recv(z->cell->in, &reply, sizeof(reply), MSG_DONTWAIT) != sizeof(reply) ||
	    reply.magic != DW_ENTER_MAGIC)
		return explain_no_reply(z, err);
	reply.failed[sizeof(reply.failed) - 1] = '\0';
	if (reply.failed[0])
		return dw_fail(err, DW_E_INTERNAL, reply.eno,
		               "the zygote for %s could not %s", z->template->name,
		               reply.failed);
	if (ret_pages)
		*ret_pages = reply.pages;
	return 0;
}

/* ---- the trial ---- */

static int hold_trial(struct dw_zygote *z, struct dw_error *err)
{
	const struct dw_enter order = {
		.magic = DW_ENTER_MAGIC,
		.order = DW_ORDER_TRIAL,
		.calls_back = z->template->warm->calls_back,
	};
	autoclose int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int pair[2], r;

	if (null < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot prepare a trial run");
	/* Send the job first; the zygote's child finds it in the socket. */
	r = dw_job_send(pair[0], &z->spec, err);
	if (r == 0)
		r = dw_report_send_data(z->cell->in, &order, sizeof(order),
		                        (int[]){null, pair[1], null, null, null},
		                        DW_ENTER_RULESET);
	(void)close(pair[1]);
	if (r == 0)
		r = wait_reply(z, TRIAL_MS, &z->pages, err);
	(void)close(pair[0]);
	return r < 0 ? -1 : 0;
}

/* ---- starting and ending ---- */

static void add_file(struct dw_zygote *z, const char *path, struct dw_bytes data)
{
	struct dw_role_file *f = z->role.files;

	if (!path)
		return;
	while (f->path) {
		if (strcmp(f->path, path) == 0)
			return;
		f++;
	}
	*f = (struct dw_role_file){path, data};
}

static struct dw_bytes text(const char *t)
{
	return (struct dw_bytes){t, strlen(t)};
}

/* Some interpreters open the code before they wait: they find the rehearsal there. */
static void add_files(struct dw_zygote *z, const struct dw_template *t)
{
	(void)snprintf(z->code_path, sizeof(z->code_path), "/tmp/%s", t->runtime->file);
	add_file(z, DW_ZYGOTE_PATH, dw_zygote_library());
	add_file(z, t->warm->runner_path, t->warm->runner);
	add_file(z, "/tmp/.dewar/preload", text(t->preload));
	add_file(z, "/tmp/.dewar/rehearsal", text(t->rehearsal));
	add_file(z, z->code_path, text(t->rehearsal));
	if (t->runtime->prelude)
		add_file(z, "/tmp/.dewar/prelude", text(t->runtime->prelude));
}

static int describe(struct dw_zygote *z, const struct dw_template *t,
                    struct dw_error *err)
{
	const struct dw_warm *warm = t->warm;

	z->template = t;
	z->refs = 1;
	dw_request_init(&z->req);
	z->req.code = text(t->rehearsal);
	z->req.image = t->image[0] ? t->image : NULL;
	z->role = (struct dw_role){
		.kind = DW_ROLE_ZYGOTE,
		.command = warm->command,
		.env = warm->env,
	};
	if (dw_container_draw_ids(&z->role.first_id, err) < 0)
		return -1;
	add_files(z, t);
	z->spec = (struct dw_spec){
		.req = &z->req,
		.runtime = t->runtime,
		.limits = {.timeout_ms = START_MS,
	                   .memory_bytes = 4096 * MB,
	                   .cpu_percent = 400,
	                   .output_bytes = 1,
	                   .tmp_bytes = 256 * MB,
	                   .pids = 64,
	                   .files = 4096},
		.role = &z->role,
	};
	return dw_id_make(z->spec.id, err);
}

/* Without a nursery, launchers build the cells: slower, but with the same walls. */
static void prepare_nursery(struct dw_zygote *z)
{
	struct dw_role role = {.kind = DW_ROLE_ENTERED, .first_id = z->role.first_id};
	struct dw_spec plain = {.req = &z->req,
	                        .runtime = z->spec.runtime,
	                        .role = &role};
	int pair[2];

	z->nursery = -1;
	dw_limits_defaults(&plain.limits, dw_warm_level());
	z->role.base = dw_container_base(&plain, NULL);
	if (z->role.base < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	z->nursery = pair[0];
	z->role.nursery = pair[1];
}

static void close_other_ends(struct dw_zygote *z)
{
	if (z->role.base >= 0)
		(void)close(z->role.base);
	if (z->role.nursery > 0)
		(void)close(z->role.nursery);
	z->role.base = -1;
	z->role.nursery = 0;
}

struct dw_zygote *dw_zygote_start(const struct dw_template *t, struct dw_error *err)
{
	const struct dw_level *level = dw_warm_level();
	struct dw_zygote *z = calloc(1, sizeof(*z));
	int r;

	if (!z) {
		(void)dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot create a zygote");
		return NULL;
	}
	if (describe(z, t, err) < 0) {
		free(z);
		return NULL;
	}
	prepare_nursery(z);
	r = level->create(&z->spec, &z->cell, err);
	if (r == 0)
		((struct dw_launched *)z->cell)->early = true;
	if (r == 0)
		r = level->start(z->cell, err);
	close_other_ends(z);
	if (!z->cell) {
		dw_fd_close(&z->nursery);
		free(z);
		return NULL;
	}
	if (r < 0 || wait_reply(z, START_MS, NULL, err) < 0 || hold_trial(z, err) < 0) {
		dw_zygote_unref(z);
		return NULL;
	}
	return z;
}

struct dw_zygote *dw_zygote_ref(struct dw_zygote *z)
{
	atomic_fetch_add(&z->refs, 1);
	return z;
}

void dw_zygote_unref(struct dw_zygote *z)
{
	if (!z || atomic_fetch_sub(&z->refs, 1) > 1)
		return;
	dw_fd_close(&z->nursery);
	z->cell->level->destroy(z->cell);
	free(z);
}

bool dw_zygote_runs(struct dw_zygote *z)
{
	dw_warm_serve(z->cell);
	return !z->broken && z->cell->state != DW_CELL_GONE;
}

struct dw_role dw_zygote_role(struct dw_zygote *z, bool plain)
{
	return (struct dw_role){
		.nursery = plain && z->nursery > 0 ? z->nursery : 0,
		.kind = DW_ROLE_ENTERED,
		.userns = ((struct dw_launched *)z->cell)->userns,
		.pidns = ((struct dw_launched *)z->cell)->pidns,
		.first_id = z->role.first_id,
		.index = ++z->forks,
		.beside = &((struct dw_launched *)z->cell)->cgroup,
	};
}

int dw_zygote_fork(struct dw_zygote *z, struct dw_launched *l, bool ahead,
                   struct dw_error *err)
{
	const struct dw_plan_header *h = &l->plan.h;
	struct dw_enter order = {
		.magic = DW_ENTER_MAGIC,
		.order = DW_ORDER_FORK,
		.id = h->inside_id,
		.has_ruleset = l->ruleset >= 0,
		.hold = dw_limits_may_hold(l),
		.touch = ahead,
		.calls_back = z->template->warm->calls_back,
		.n_rlimits = h->n_rlimits,
	};
	int fds[DW_ENTER_FDS_MAX] = {l->pidfd, l->job[1], l->child[0], l->child[1],
	                             l->child[2]};
	int own = DW_ENTER_RULESET, n, r;

	_Static_assert(DW_ENTER_FDS_MAX <= DW_REPORT_FDS_MAX, "all fit");
	_Static_assert(DW_ENTER_RLIMITS_MAX >= DW_PLAN_RLIMITS_MAX, "all fit");
	for (uint32_t i = 0; i < h->n_rlimits; i++) {
		order.rlimits[i].resource = h->rlimits[i].resource;
		order.rlimits[i].value = h->rlimits[i].value;
	}
	(void)snprintf(order.cwd, sizeof(order.cwd), "%s",
	               l->spec->req->workspace ? "/work" : "/tmp");
	if (l->ruleset >= 0)
		fds[own++] = l->ruleset;
	n = dw_cgroup_open_procs(&l->cgroup, false, fds + own, err);
	if (n < 0)
		return -1;
	order.n_cgroups = (uint32_t)n;
	r = dw_report_send_data(z->cell->in, &order, sizeof(order), fds, own + n);
	for (int i = own; i < own + n; i++)
		(void)close(fds[i]);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r,
		               "cannot send an order to the zygote for %s",
		               z->template->name);
	r = wait_reply(z, FORK_MS, NULL, err);
	z->broken = r < 0;
	/* The zygote worked before, so the host lacks nothing: a new one may work. */
	if (r < 0)
		err->code = DW_E_INTERNAL;
	return r;
}
