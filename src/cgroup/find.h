/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CGROUP_FIND_H
#define DW_CGROUP_FIND_H

#include <stddef.h>

#include "cgroup/cgroup.h"

/* What hierarchies there are and where in them we are, looked up once for a cell. */
struct dw_cgroup_places {
	char own[8192];        /* /proc/self/cgroup */
	int unified_fd;        /* where groups of version 2 are made, or -1 */
	char controllers[512]; /* that they have */
	char why[256];         /* there is version 2, and nothing of it is ours; or "" */
};

/* Unless somebody needs it there is nothing to look up, and nothing is found. */
void dw_cgroup_look(struct dw_cgroup_places *ret, bool needed);
void dw_cgroup_look_finish(struct dw_cgroup_places *places);

/*
 * Open the folder where a cell's group for the controller is to be made: the home
 * (parent.h), or our own group in version 1, where a child of it is counted with
 * us. The version (2 or 1) and its descriptor in *ret_fd; or 0, and why in text.
 */
int dw_cgroup_find(const struct dw_cgroup_places *places, enum dw_controller controller,
                   int *ret_fd, char *why, size_t size);

/* Our own group in version 2, or -errno. */
int dw_cgroup_open_own(void);

/* Does a list like "cpu memory pids" hold the word? */
bool dw_cgroup_has_word(const char *list, const char *word);

/*
 * The path of our group in the text of /proc/self/cgroup, for a controller of
 * version 1 or, with NULL, for version 2. Into ret; 0, -ENOENT or -ENAMETOOLONG.
 */
int dw_cgroup_own_path(const char *text, const char *controller, char *ret, size_t size);

#endif
