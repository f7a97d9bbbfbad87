/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_WARM_PSS_H
#define DW_WARM_PSS_H

#include "levels/level.h"

/*
 * What a cell costs in memory: the proportional share (PSS) of its init and of the
 * first so many that init has below it, shared pages divided among those who share
 * them. 0 if the kernel does not tell.
 */
uint64_t dw_pss_of_cell(const struct dw_cell *cell, unsigned processes);

/* A program; a zygote and its nursery: what else is below its init are cells. */
#define DW_PSS_CELL 1U
#define DW_PSS_ZYGOTE 2U

#endif
