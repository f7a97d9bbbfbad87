/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of a run, and the only place that knows it:
 *
 *	check the request
 *	for each level that the caller accepts, in order:
 *		find the language, make the cell; strict: check that limits are enforced
 *		start it, supervise it (supervise.c), measure, collect
 *		destroy it: it leaves nothing on the host
 *	report what happened (verdict.c)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/kernel.h"
#include "cgroup/cgroup.h"
#include "dewar/dewar.h"
#include "levels/level.h"
#include "request/request.h"
#include "run/request_check.h"
#include "run/run_own.h"
#include "warm/pool.h"

static const struct dw_runtime *find_runtime(const struct dw_request *req,
                                             struct dw_error *err)
{
	const char *name = req->program ? "binary" : req->command ? "sh" : req->language;
	const struct dw_runtime *rt = dw_runtime_find(name);

	if (!rt)
		(void)dw_language_check(name, err);
	return rt;
}

static int check_interpreter(const struct dw_spec *spec, const struct dw_level *level,
                             struct dw_error *err)
{
	const char *image = spec->req->image, *missing;
	autoclose int root = -1;

	if (level->guarantees & DW_G_ENGINE)
		return 0; /* it is in an image: checked when the image runs */
	root = open(image ? image : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return dw_fail(err, DW_E_NOT_FOUND, errno,
		               "cannot open the image %s (a folder with a root file "
		               "system)",
		               image ? image : "/");
	missing = dw_runtime_missing(spec->runtime, root, dw_level_search_path(level));
	if (!missing)
		return 0;
	if (image)
		return dw_fail(
			err, DW_E_UNSUPPORTED, 0,
			"the image %s has no %s, which %s needs (Debian's package: %s)",
			image, missing, spec->runtime->name, spec->runtime->package);
	return dw_fail(err, DW_E_UNSUPPORTED, 0,
	               "cannot run %s: %s is not installed; try: apt-get install %s",
	               spec->runtime->name, missing, spec->runtime->package);
}

/* Refuse a request for a feature that the level does not support. */
static int check_guarantees(const struct dw_spec *spec, const struct dw_level *level,
                            struct dw_error *err)
{
	const struct dw_request *req = spec->req;

	if (req->image && !(level->guarantees & DW_G_IMAGE))
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "cannot use an image: its programs see the host's files; "
		               "use level container or docker");
	if ((req->runtime || req->pull != DW_PULL_MISSING) &&
	    !(level->guarantees & DW_G_ENGINE))
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "does not support %s; use level docker",
		               req->runtime ? "a runtime" : "pull");
	if (spec->limits.io_bytes != 0 && !(level->guarantees & DW_G_IO))
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "cannot enforce io_mbps; use level container or process, on "
		               "a host with cgroup version 2");
	if (req->strict && req->network == DW_NETWORK_NONE &&
	    !(level->guarantees & DW_G_NO_NETWORK))
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "cannot remove the network, which --strict requires; use "
		               "level container or docker");
	return 0;
}

/* Call it before any file is opened: without openat2() no file would be found. */
static int check_kernel(const struct dw_level *level, struct dw_error *err)
{
	return dw_kernel_calls_check((level->guarantees & DW_G_NAMESPACES) &&
	                                     !(level->guarantees & DW_G_ENGINE),
	                             err);
}

/* Refuse an allow-list that the level cannot enforce, with the reason and a fix. */
static int check_allowed(const struct dw_spec *spec, const struct dw_level *level,
                         struct dw_error *err)
{
	const struct dw_request *req = spec->req;
	const struct dw_runtime *rt = spec->runtime;

	if (req->allowed_commands && !(level->guarantees & DW_G_COMMANDS))
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "cannot enforce allowed_commands; "
		               "use level container or process");
	if (req->allowed_commands && !req->program && !rt->alone)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "cannot enforce allowed_commands for %s: it needs other "
		               "programs, which are not on the list",
		               rt->name);
	if (req->allowed_modules && (req->program || req->command || !rt->hooked[0]))
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "cannot enforce allowed_modules for %s; only python and "
		               "javascript support it",
		               req->command ? "a command" : rt->name);
	return 0;
}

static int check_strict(const struct dw_cell *cell, struct dw_error *err)
{
	const char *why = NULL;
	char names[128] = "";
	size_t len = 0;

	for (int i = 0; i < DW_LIMIT_COUNT; i++) {
		const struct dw_limit_proof *p = &cell->outcome.limits[i];

		/* Sampling does not enforce a limit strictly. */
		if ((p->enforced && strcmp(p->by, "sampling") != 0) ||
		    (i == DW_LIMIT_IO && p->asked == 0))
			continue;
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
		                        len > 0 ? ", " : "", dw_limit_name(i));
		if (!why)
			why = p->note;
	}
	if (len == 0)
		return 0;
	return dw_fail(err, DW_E_UNSUPPORTED, 0,
	               "cannot enforce limits, which --strict requires: %s (%s)", names,
	               why ? why : "the kernel does not enforce them here");
}

static void fill_proof(struct dw_result *res, const struct dw_cell *cell)
{
	const struct dw_outcome *o = &cell->outcome;
	struct dw_proof *proof = &res->proof;

	proof->walls = o->walls;
	proof->own_ns = o->own_ns;
	memcpy(proof->limits, o->limits, sizeof(proof->limits));
	memcpy(proof->runtime, o->runtime, sizeof(proof->runtime));
	if (o->walls.known)
		(void)snprintf(proof->achieved, sizeof(proof->achieved), "%s",
		               cell->level->name);
}

/* If the level reported an image, it replaces the request's in the result. */
static void fill_image(struct dw_result *res, const struct dw_outcome *o)
{
	char *image = o->image[0] != '\0' ? strdup(o->image) : NULL;

	if (!image)
		return;
	free(res->image);
	res->image = image;
}

static int fill_output(struct dw_result *res, struct dw_supervised *s)
{
	for (int i = 0; i < DW_STREAM_COUNT; i++) {
		free(res->out[i]); /* of an earlier level, which was not available */
		res->out[i] = dw_buf_take(&s->out[i], &res->out_len[i]);
		if (!res->out[i])
			return -1;
		res->truncated[i] = s->truncated[i];
	}
	return 0;
}

static int start_cold(const struct dw_level *level, const struct dw_spec *spec,
                      struct dw_cell **ret_cell, struct dw_error *err)
{
	struct dw_cell *cell = NULL;

	if (level->create(spec, &cell, err) < 0)
		return -1;
	if ((spec->req->strict && check_strict(cell, err) < 0) ||
	    level->start(cell, err) < 0) {
		level->destroy(cell);
		return -1;
	}
	*ret_cell = cell;
	return 0;
}

/* *ret_cell stays NULL if no warm cell fits, or if it died: the run then starts cold. */
static int start_warm(struct dw_pool *pool, const struct dw_level *level,
                      const struct dw_spec *spec, struct dw_cell **ret_cell,
                      struct dw_error *err)
{
	struct dw_cell *cell = dw_pool_take(pool, level, spec);
	struct dw_error why = {0};

	if (!cell)
		return 0;
	if (spec->req->strict && check_strict(cell, err) < 0) {
		dw_pool_give_back(pool, cell);
		return -1;
	}
	if (dw_pool_go(pool, cell, spec, &why) < 0)
		dw_pool_give_back(pool, cell);
	else
		*ret_cell = cell;
	return 0;
}

/* A cell may run without Landlock: warn if no other wall protects the host's files. */
static void warn_of_open_files(struct dw_result *res, const struct dw_cell *cell)
{
	const struct dw_walls *walls = &cell->outcome.walls;

	if ((cell->level->guarantees & DW_G_WALLS) &&
	    !(cell->level->guarantees & DW_G_ROOT) && walls->known &&
	    walls->landlock_abi <= 0)
		dw_warn(res,
		        "this kernel has no Landlock, or it is switched off: the program "
		        "could reach every file that its user can");
}

static int see_through(struct dw_cell *cell, const struct dw_spec *spec,
                       struct dw_result *res, struct dw_error *err)
{
	const struct dw_level *level = cell->level;
	const struct dw_outcome *o = &cell->outcome;
	struct dw_supervised seen = {0};
	int r = 0;

	dw_supervise(cell, spec, &seen);
	level->measure(cell);

	if (fill_output(res, &seen) < 0)
		r = dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot store the output");
	dw_supervised_finish(&seen);
	if (r == 0 && spec->req->n_collect > 0)
		r = dw_collect(res, spec->req, cell->tmp_fd, spec->runtime->file, err);
	if (r < 0)
		return -1;

	fill_proof(res, cell);
	fill_image(res, o);
	warn_of_open_files(res, cell);
	if (o->left[0] != '\0')
		dw_warn(res, "%s; the next run retries", o->left);
	res->execution_time_ms = o->run_ms >= 0 ? o->run_ms : seen.run_ms;
	res->cpu_time_ms = o->cpu_ms;
	res->memory_used_mb = o->memory_mb;
	res->network = spec->req->network == DW_NETWORK_FULL ||
	               !(level->guarantees & DW_G_NO_NETWORK);
	if (o->error.code == DW_OK || seen.cause != DW_CAUSE_NONE) {
		dw_verdict_run(res, o, seen.cause, spec);
	} else if (o->started) {
		/* A program must not get another level by causing a failure. */
		dw_verdict_not_run(res, &o->error);
	} else {
		*err = o->error;
		return -1;
	}
	return 0;
}

/*
 * One run at one level. -1 with DW_E_INVALID if the request is wrong, or with
 * another code if this level cannot run it.
 */
static int run_at(const struct dw_level *level, struct dw_pool *pool,
                  const struct dw_request *req, struct dw_result *res,
                  struct dw_error *err)
{
	struct dw_spec spec = {.req = req, .limits = req->limits};
	struct dw_cell *cell = NULL;
	int r;

	(void)snprintf(spec.id, sizeof(spec.id), "%s", res->id);
	spec.runtime = find_runtime(req, err);
	if (!spec.runtime)
		return -1;
	dw_limits_defaults(&spec.limits, level);
	spec.deadline_ms = dw_now_ms() + spec.limits.timeout_ms;
	if (check_guarantees(&spec, level, err) < 0 ||
	    check_allowed(&spec, level, err) < 0 || check_kernel(level, err) < 0 ||
	    check_interpreter(&spec, level, err) < 0)
		return -1;

	if (pool && (level->guarantees & DW_G_WARM) &&
	    start_warm(pool, level, &spec, &cell, err) < 0)
		return -1;
	res->warm = cell != NULL;
	if (!cell && start_cold(level, &spec, &cell, err) < 0)
		return -1;
	r = see_through(cell, &spec, res, err);
	if (res->warm)
		dw_pool_give_back(pool, cell);
	else
		level->destroy(cell);
	return r;
}

/* "microvm,container": try each in turn, until one can run it. */
static int run_at_first(const char *levels, struct dw_pool *pool,
                        const struct dw_request *req, struct dw_result *res,
                        struct dw_error *err)
{
	struct dw_error before = {0};
	const char *p = levels;
	int r;

	for (;;) {
		size_t len = strcspn(p, ",");
		const struct dw_level *level = dw_level_find(p, len);

		if (!level)
			return dw_level_check("level", p, err);
		r = run_at(level, pool, req, res, err);
		if (r < 0 && err->code != DW_E_INVALID) {
			(void)dw_wrap(err, "level %s", level->name);
			if (before.code != DW_OK)
				(void)dw_wrap(err, "%s", before.text);
			before = *err;
		}
		/* Try the next level only if this host does not support this one. */
		if (r == 0 || p[len] == '\0' ||
		    (err->code != DW_E_UNSUPPORTED && err->code != DW_E_NOT_FOUND))
			return r;
		p += len + 1;
	}
}

static int run(struct dw_pool *pool, const struct dw_request *req,
               struct dw_result **ret_res, struct dw_error *err)
{
	const char *levels = req->level ? req->level : DW_LEVEL_DEFAULT;
	struct dw_error why = {0};
	struct dw_result *res;

	if (!err)
		err = &why;
	if (dw_request_check(req, err) < 0)
		return -1;
	res = dw_result_blank(req);
	if (!res)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot create a result");

	if (run_at_first(levels, pool, req, res, err) < 0) {
		if (err->code == DW_E_INVALID) {
			dw_result_free(res);
			return -1;
		}
		dw_verdict_not_run(res, err);
		*err = (struct dw_error){0};
	}
	*ret_res = res;
	return 0;
}

int dw_run(const struct dw_request *req, struct dw_result **ret_res, struct dw_error *err)
{
	return run(NULL, req, ret_res, err);
}

int dw_pool_run(struct dw_pool *pool, const struct dw_request *req,
                struct dw_result **ret_res, struct dw_error *err)
{
	return run(pool, req, ret_res, err);
}

const char *dw_version(void)
{
	return DW_VERSION;
}
