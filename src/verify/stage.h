/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_STAGE_H
#define DW_VERIFY_STAGE_H

#include <sys/types.h>

#include "verify/listen.h"
#include "verify/range.h"
#include "verify/verify.h"
#include "verify/witness.h"

/*
 * What one attempt finds: a fresh secret in every place where one could be
 * looked for, a fresh witness, and a record of how everything was before.
 */
struct dw_stage {
	const struct dw_range *range;
	const struct dw_listeners *listeners;
	bool out_is_writable;       /* ws/out is the cell's to write to */
	char nonce[DW_NONCE_MAX];   /* the attempt's name; all its processes know it */
	char secret[DW_SECRET_MAX]; /* what must not come out */
	char word[DW_SECRET_MAX];   /* what a second cell must not get to a first */
	struct dw_witness witness;
	char *files;   /* the planted tree, as it was */
	char *remains; /* what could be left behind, as it was */
};

int dw_stage_set(struct dw_stage *stage, const struct dw_range *range,
                 const struct dw_listeners *listeners, const struct dw_attack *attack,
                 struct dw_error *err);
void dw_stage_strike(struct dw_stage *stage);

/*
 * The variables that an attack gets, "DW_FLAG=...", one after the other, ended
 * by an empty one. role: "first", "second", or "" where there is one cell only.
 */
void dw_stage_env(const struct dw_stage *stage, const char *role, char *ret, size_t size);

/* Put a fresh secret wherever one could be looked for. */
int dw_plant(const struct dw_stage *stage, struct dw_error *err);

/* The same with the name of a cgroup, where that can be had. */
void dw_plant_group(const struct dw_stage *stage);
void dw_plant_join_group(const struct dw_stage *stage);
void dw_plant_remove_group(const struct dw_stage *stage);

#endif
