/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CGROUP_CGROUP_OWN_H
#define DW_CGROUP_CGROUP_OWN_H

#include "cgroup/cgroup.h"

/* ---- attr.c: the files of a cgroup; setters return 0 or -errno ---- */

int dw_attr_set(int dir_fd, const char *attr, const char *value);
int dw_attr_set_number(int dir_fd, const char *attr, uint64_t value);

/* *ret is the value read back; UINT64_MAX if the kernel does not tell. */
int dw_attr_set_limit(int dir_fd, const char *attr, uint64_t value, uint64_t *ret);

/* ---- find.c: where to create groups, looked up once for a cell ---- */

struct dw_cgroup_places {
	char own[8192];        /* /proc/self/cgroup */
	int unified_fd;        /* the parent in version 2, or -1 */
	char controllers[512]; /* that groups in it have */
	char why[256];         /* version 2 exists, but we may not use it; or "" */
};

/* Without needed, look nothing up. */
void dw_cgroup_look(struct dw_cgroup_places *ret, bool needed);
void dw_cgroup_look_finish(struct dw_cgroup_places *places);

/*
 * Open the folder in which a cell's group for the controller is created: the parent in
 * version 2, or our own group in version 1. The version, with *ret_fd; or 0, with why.
 */
int dw_cgroup_find(const struct dw_cgroup_places *places, enum dw_controller controller,
                   int *ret_fd, char *why, size_t size);

/* ---- limit.c ---- */

/* Set a limit; 0 or -errno. c->kernel is the value read back. */
int dw_cgroup_limit(enum dw_controller controller, struct dw_controlled *c,
                    const struct dw_limits *limits, uint64_t pids);

/* A descriptor to poll, or -1. */
int dw_cgroup_watch_memory(const struct dw_controlled *c);
int dw_cgroup_watch_pids(const struct dw_controlled *c);

/* ---- parent.c ---- */

/* A copy of the parent's descriptor; or -1, with why. */
int dw_cgroup_parent_open(char *why, size_t size);

/* "dewar-4026531836-": a pid names the creator of a group only within its namespace. */
size_t dw_cgroup_prefix(char *ret, size_t size);

#endif
