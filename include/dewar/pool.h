/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DEWAR_POOL_H
#define DEWAR_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dewar/error.h"
#include "dewar/request.h"
#include "dewar/result.h"

/*
 * Warm cells: for each template an interpreter that has already started, from
 * which cells are forked, and standby cells, with all walls up.
 *
 *	struct dw_pool *pool = NULL;
 *
 *	if (dw_pool_new(NULL, &pool, &err) < 0)
 *		errx(1, "%s", err.text);
 *	dw_pool_run(pool, &req, &res, &err);
 *	dw_pool_free(pool);
 *
 * A pool only saves time: a run that cannot be warm is cold, and metadata.warm of the
 * result says which it was.
 */
struct dw_pool;

struct dw_template_config {
	const char *name;           /* "python-data" */
	const char *language;       /* "python" */
	const char *image;          /* a root file system, as in requests, or NULL */
	const char *const *preload; /* modules, ends in NULL; NULL for none */
	const char *rehearsal;      /* a short program like those that will run, or
	                             * NULL; outlives the pool */
	unsigned standby;           /* cells to keep ready from the start */
};

/*
 * Standby containers of level docker. A run can use one that has its image (the
 * language's, if it names none), runtime, network and limits (except timeout and
 * output), if the run mounts nothing of the host.
 */
struct dw_docker_config {
	const struct dw_request *like; /* all that it points to must outlive the pool */
	unsigned standby;
};

#define DW_POOL_DOCKER "docker" /* the name to pass to dw_pool_warm_up() */

struct dw_pool_config {
	const struct dw_template_config *templates; /* NULL: dw_pool_templates() */
	size_t n_templates;
	uint64_t memory_bytes; /* of all standby cells; 0: 512 MB */
	unsigned standby_max;  /* of each template; 0: as memory allows, at most 2048 */
	uint64_t idle_ms; /* time without a run until standby cells end; 0: a minute */
	bool fork_only;   /* keep no cells ready: every run forks */
	const struct dw_docker_config *docker; /* NULL: none */
	size_t n_docker;
};

/* The built-in templates: python, python-data, ... */
DW_API const struct dw_template_config *dw_pool_templates(size_t *ret_count);

/*
 * Make a pool. It has a thread of its own, which starts zygotes and keeps cells
 * ready; this call does not wait for them.
 */
DW_API int dw_pool_new(const struct dw_pool_config *config, struct dw_pool **ret_pool,
                       struct dw_error *err);

/* End all cells. No run may be in progress. Accepts NULL. */
DW_API void dw_pool_free(struct dw_pool *pool);

/*
 * Like dw_run(), but in a warm cell if one fits: a cell of the template that the request
 * names or, without a name, of the first template with the request's language and image.
 * May be called from any number of threads.
 */
DW_API int dw_pool_run(struct dw_pool *pool, const struct dw_request *req,
                       struct dw_result **ret_res, struct dw_error *err);

/*
 * Wait until the template has this many standby cells (0: until its zygote runs).
 * Returns -1 with the reason if the template cannot be kept warm, or after timeout_ms.
 */
DW_API int dw_pool_warm_up(struct dw_pool *pool, const char *name, unsigned standby,
                           uint64_t timeout_ms, struct dw_error *err);

/* The state of a template. Memory is the proportional share (PSS), 0 if unknown. */
struct dw_template_stats {
	char name[32];
	bool warm;        /* its zygote runs, or cells of it wait */
	char why[512];    /* why it cannot be kept warm, or "" */
	unsigned standby; /* cells ready now */
	uint64_t zygote_bytes;
	uint64_t standby_bytes; /* of one cell */
	uint64_t runs_standby;  /* runs so far, by the way that they started */
	uint64_t runs_forked;
	uint64_t runs_cold;
	uint64_t zygotes; /* started so far */
};

DW_API size_t dw_pool_count(const struct dw_pool *pool);
DW_API void dw_pool_stats(struct dw_pool *pool, size_t index,
                          struct dw_template_stats *ret);

#endif
