/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CGROUP_LIMIT_H
#define DW_CGROUP_LIMIT_H

#include "cgroup/cgroup.h"

/* Limits in a group that is there, for cgroup.c: set, and watched. */

/* 0 or -errno, and what the kernel made of it in c->kernel. */
int dw_cgroup_limit(enum dw_controller controller, struct dw_controlled *c,
                    const struct dw_limits *limits, uint64_t pids);

/* A descriptor to poll, or -1. */
int dw_cgroup_watch_memory(const struct dw_controlled *c);
int dw_cgroup_watch_pids(const struct dw_controlled *c);

#endif
