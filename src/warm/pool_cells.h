/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_WARM_POOL_CELLS_H
#define DW_WARM_POOL_CELLS_H

#include <pthread.h>
#include <stdatomic.h>

#include "dewar/pool.h"
#include "levels/launched.h"
#include "warm/docker_pool.h"
#include "warm/template.h"
#include "warm/zygote.h"

/*
 * What a pool is made of, for the files that are its parts: pool_cells.c makes cells,
 * keeper.c keeps some ready, pool.c hands them out.
 */

#define DW_POOL_EMPTY_CELLS 4U /* that wait for a zygote to fork into them */

/* A cell with what it was built from; waits on a shelf, or to be ended. */
struct warm_cell {
	struct warm_cell *next;
	struct dw_cell *cell;
	struct dw_zygote *zygote; /* that forked it, or NULL */
	struct dw_spec spec;
	struct dw_role role;
};

struct stack {
	struct warm_cell *top;
	unsigned n;
};

struct shelf {
	struct dw_template template;
	struct dw_request req; /* what a cell is built for while nobody asked for it */
	pthread_mutex_t zygote_lock; /* whoever talks to the zygote */
	struct dw_zygote *zygote;    /* or NULL */
	struct stack ready;          /* they wait for a letter */
	struct stack empty;          /* they wait for the zygote */
	unsigned wanted;             /* as many as should be ready */
	unsigned least;              /* and are, from the start */
	unsigned made;               /* so far, that were ready */
	unsigned failures;           /* in a row */
	uint64_t retry_at;
	uint64_t used_at;  /* when it was last asked */
	atomic_bool asked; /* somebody wants it at all */
	struct dw_template_stats stats;
};

struct dw_pool {
	pthread_mutex_t lock;
	pthread_cond_t work;    /* for the keeper */
	pthread_cond_t changed; /* for who waits until it is warm */
	pthread_t keeper;
	bool stopping;
	bool fork_only;
	bool is_low;        /* the keeper should know */
	unsigned running;   /* cells that somebody has taken */
	bool counts_memory; /* of cells, the kernel does (levels/limits.h) */
	uint64_t memory;
	unsigned standby_max;
	uint64_t idle_ms;
	struct dw_fork_server spawner;
	struct stack used;
	struct shelf *shelves;
	size_t n_shelves;
	struct dw_docker_pool *standing; /* level docker's, or NULL */
};

static inline void dw_pool_cell_push(struct stack *stack, struct warm_cell *w)
{
	w->next = stack->top;
	stack->top = w;
	stack->n++;
}

static inline struct warm_cell *dw_pool_cell_pop(struct stack *stack)
{
	struct warm_cell *w = stack->top;

	if (w) {
		stack->top = w->next;
		stack->n--;
	}
	return w;
}

/* Accepts NULL. */
void dw_pool_cell_free_cell(struct warm_cell *w);

/* An empty cell, made to measure for spec, that the shelf's zygote can fork into. */
struct warm_cell *dw_pool_cell_build(struct dw_pool *pool, struct shelf *s,
                                     const struct dw_spec *spec, bool plain,
                                     struct dw_error *err);

/* Takes the cell, if there is one; gives it back with a program, or nothing. */
struct warm_cell *dw_pool_cell_fork_into(struct shelf *s, struct warm_cell *w, bool ahead,
                                         struct dw_error *err);

/* One whose interpreter cannot be forked: started, and waiting. */
struct warm_cell *dw_pool_cell_start(struct dw_pool *pool, struct shelf *s,
                                     const struct dw_spec *spec, struct dw_error *err);

/* keeper.c: the pool's own thread, until it is stopping. */
int dw_keeper_start(struct dw_pool *pool, struct dw_error *err);

/* End the cells that were used. */
void dw_keeper_end_used(struct dw_pool *pool);

/* With the lock held: cells that wait for the shelf's zygote count as used. */
void dw_keeper_drop_empty(struct dw_pool *pool, struct shelf *s);

#endif
