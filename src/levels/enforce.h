/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_ENFORCE_H
#define DW_LEVELS_ENFORCE_H

#include "levels/launched.h"

/* What is 0 becomes the default of the level. */
void dw_limits_defaults(struct dw_limits *limits, const struct dw_level *level);

/*
 * Decide, for a cell that dewar-launch builds, what enforces each limit: cgroups
 * where the host lets us have them, else an rlimit, else init by looking. Makes
 * the cgroups, writes the rest into the plan, and what was decided into
 * outcome.limits. -1 for a limit that is held by a cgroup or not taken at all.
 */
int dw_limits_plan(struct dw_launched *l, struct dw_error *err);

/* Does the kernel count the memory and the processes of a cell here? */
bool dw_limits_can_count(void);

/* Returns true if a forked program may have a process beside it that holds its memory. */
bool dw_limits_may_hold(const struct dw_launched *l);

/* When init ends a cell by itself, counted from the start of its program. */
uint64_t dw_limits_deadline(const struct dw_limits *limits);

/* The cell was built before its request was known: say whose limits they are now. */
void dw_limits_adopt(struct dw_launched *l);

/* The program begins: let the limits look at it, and let it yield if it is to. */
void dw_limits_begin(struct dw_launched *l);

/* Fill in what the kernel says, from the walls that were read back. */
void dw_limits_read_back(struct dw_launched *l);

/* One inode of /tmp for each of its pages. */
#define DW_TMP_INODE_BYTES 4096U

#endif
