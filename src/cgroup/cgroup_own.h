/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CGROUP_CGROUP_OWN_H
#define DW_CGROUP_CGROUP_OWN_H

#include "cgroup/cgroup.h"

/* ---- attr.c: the files of a cgroup; setters return 0 or -errno ---- */

int dw_attr_set(int dir_fd, const char *attr, const char *value);
int dw_attr_set_number(int dir_fd, const char *attr, uint64_t value);

/* Set a limit. *ret is the value read back, or UINT64_MAX if it cannot be read. */
int dw_attr_set_limit(int dir_fd, const char *attr, uint64_t value, uint64_t *ret);

/* ---- find.c: where to create groups, looked up once for a cell ---- */

struct dw_cgroup_places {
	char own[8192];        /* /proc/self/cgroup */
	int unified_fd;        /* the parent in version 2, or -1 */
	char controllers[512]; /* that the parent passes on */
	char why[256];         /* why we may not use version 2, or "" */
};

/* If needed is false, find no place. */
void dw_cgroup_look(struct dw_cgroup_places *ret, bool needed);
void dw_cgroup_look_finish(struct dw_cgroup_places *places);

/*
 * Open the folder in which a cell's group for the controller is created: the parent in
 * version 2, or our own group in version 1. Returns the version, with *ret_fd; or 0, with
 * why.
 */
int dw_cgroup_find(const struct dw_cgroup_places *places, enum dw_controller controller,
                   int *ret_fd, char *why, size_t size);

/* ---- limit.c ---- */

/* Set a controller's limit. 0 or -errno; c->kernel is the value read back. */
int dw_cgroup_limit(enum dw_controller controller, struct dw_controlled *c,
                    const struct dw_limits *limits, uint64_t pids);

/* Open a descriptor to poll for a reached limit, or -1. */
int dw_cgroup_watch_memory(const struct dw_controlled *c);
int dw_cgroup_watch_pids(const struct dw_controlled *c);

/* ---- parent.c ---- */

/* Duplicate the parent's descriptor; or -1, with why. */
int dw_cgroup_parent_open(char *why, size_t size);

/*
 * Build the start of a group's name: "dewar-4026531836-". It has the inode number of the
 * pid namespace, because the pid that follows means the creator only in that namespace.
 */
size_t dw_cgroup_prefix(char *ret, size_t size);

#endif
