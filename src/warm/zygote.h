/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_WARM_ZYGOTE_H
#define DW_WARM_ZYGOTE_H

#include <stdatomic.h>

#include "levels/launched.h"
#include "warm/template.h"

/*
 * A zygote: an interpreter in a cell of its own, which has started and loaded its
 * packages, and forks itself into other cells (runners/zygote.c). One thread at a
 * time talks to it.
 */
struct dw_zygote {
	const struct dw_template *template;
	atomic_uint refs; /* whoever may fork from it, and every cell of its */
	struct dw_request req;
	struct dw_spec spec;
	struct dw_role role;
	char code_path[64];
	struct dw_cell *cell;
	int nursery; /* makes cells of the plain shape; -1: nobody does */
	bool broken; /* it owes us an answer: nothing it says can be trusted to be one */
	uint32_t forks; /* so far */
	uint32_t pages; /* that a short run writes to */
};

/* Start one, and let it learn. NULL: it could not, and nothing is left. */
struct dw_zygote *dw_zygote_start(const struct dw_template *t, struct dw_error *err);

/*
 * The cells of a zygote lie inside its pid namespace, and so end with it: it is
 * ended when the last one lets go. NULL is nobody.
 */
struct dw_zygote *dw_zygote_ref(struct dw_zygote *z);
void dw_zygote_unref(struct dw_zygote *z);

/* The way of the next cell that it is to fork into, of the plain shape or another. */
struct dw_role dw_zygote_role(struct dw_zygote *z, bool plain);

/* It has given away what it has to give, ids above all: time for a new one. */
bool dw_zygote_is_spent(const struct dw_zygote *z);

/* Fork into the empty cell. With ahead, somebody will come, but not just now. */
int dw_zygote_fork(struct dw_zygote *z, struct dw_launched *l, bool ahead,
                   struct dw_error *err);

/* Is it still there to fork? Looks, and does not ask it. */
bool dw_zygote_runs(struct dw_zygote *z);

#endif
