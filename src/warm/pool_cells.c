/* SPDX-License-Identifier: Apache-2.0 */
#include "warm/warm_own.h"

#include <errno.h>
#include <stdlib.h>

#include "base/id.h"

void dw_pool_cell_free_cell(struct warm_cell *w)
{
	if (!w)
		return;
	if (w->cell)
		w->cell->level->destroy(w->cell);
	dw_zygote_unref(w->zygote);
	free(w);
}

static struct warm_cell *new_cell(struct dw_pool *pool, const struct dw_spec *spec,
                                  struct dw_error *err)
{
	struct warm_cell *w = calloc(1, sizeof(*w));

	if (!w) {
		(void)dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot create a warm cell");
		return NULL;
	}
	w->spec = *spec;
	if (dw_id_make(w->spec.id, err) < 0) {
		free(w);
		return NULL;
	}
	w->spec.role = &w->role;
	w->spec.spawner = &pool->spawner;
	return w;
}

struct warm_cell *dw_pool_cell_build(struct dw_pool *pool, struct template_pool *s,
                                     const struct dw_spec *spec, bool plain,
                                     struct dw_error *err)
{
	struct warm_cell *w = new_cell(pool, spec, err);
	int r = 0;

	if (!w)
		return NULL;
	pthread_mutex_lock(&s->zygote_lock);
	if (s->zygote && dw_zygote_runs(s->zygote)) {
		w->zygote = dw_zygote_ref(s->zygote);
		w->role = dw_zygote_role(w->zygote, plain);
	} else {
		r = dw_fail(err, DW_E_BUSY, 0, "no zygote runs");
	}
	pthread_mutex_unlock(&s->zygote_lock);
	if (r < 0 || dw_warm_build(&w->spec, &w->cell, err) < 0) {
		dw_pool_cell_free_cell(w);
		return NULL;
	}
	return w;
}

struct warm_cell *dw_pool_cell_fork_into(struct template_pool *s, struct warm_cell *w,
                                         bool ahead, struct dw_error *err)
{
	int r;

	if (!w)
		return NULL;
	pthread_mutex_lock(&s->zygote_lock);
	r = dw_zygote_fork(w->zygote, (struct dw_launched *)w->cell, ahead, err);
	pthread_mutex_unlock(&s->zygote_lock);
	if (r == 0)
		r = dw_warm_enter(w->cell, err);
	if (r == 0)
		return w;
	dw_pool_cell_free_cell(w);
	return NULL;
}

struct warm_cell *dw_pool_cell_start(struct dw_pool *pool, struct template_pool *s,
                                     const struct dw_spec *spec, struct dw_error *err)
{
	const struct dw_warm *warm = s->template.warm;
	struct warm_cell *w = new_cell(pool, spec, err);

	if (!w)
		return NULL;
	w->role = (struct dw_role){
		.kind = DW_ROLE_STANDBY,
		.command = warm->command,
		.files = {{warm->runner_path, warm->runner}},
	};
	/* The library holds the program's memory (runners/node.c). */
	if (pool->counts_memory)
		w->role.files[1] = (struct dw_role_file){DW_ZYGOTE_PATH,
		                                         dw_zygote_library()};
	if (dw_warm_start(&w->spec, &w->cell, err) < 0) {
		dw_pool_cell_free_cell(w);
		return NULL;
	}
	return w;
}
