/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_WARM_PSS_H
#define DW_WARM_PSS_H

#include "levels/level.h"

/*
 * What a cell costs in memory: the proportional share (PSS) of its init and of
 * what init has below it, shared pages divided among those who share them. 0 if
 * the kernel does not tell.
 */
uint64_t dw_pss_of_cell(const struct dw_cell *cell);

#endif
