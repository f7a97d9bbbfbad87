/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CGROUP_PARENT_H
#define DW_CGROUP_PARENT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Where cells' groups are made in version 2: one folder for the whole process, the
 * home, found once. From any thread.
 */

enum dw_cgroup_parent_kind {
	DW_CGROUP_PARENT_KIND_NONE = 0, /* version 2 has none of the controllers we want */
	DW_CGROUP_PARENT_KIND_OURS, /* there is a folder, and it passes controllers on */
	DW_CGROUP_PARENT_KIND_FOREIGN, /* our group is somebody else's to divide */
};

/* Does version 2 have controllers here? Cheap, and moves nobody. */
bool dw_cgroup_is_unified(void);

/*
 * Find the home, once; the caller is moved into a leaf of it if it stands in the way. It
 * must have no children of ours yet: they would stay behind.
 */
enum dw_cgroup_parent_kind dw_cgroup_settle(void);

/* Somebody gave us a folder that is ours to divide. Takes the descriptor. */
void dw_cgroup_move_in(int fd);

/* The home is gone, and with it all that was in it. */
void dw_cgroup_move_out(void);

/* A copy of its descriptor, or -1 and why there is none. */
int dw_cgroup_parent_open(char *why, size_t size);

/* Why asking for a folder did not help either: is told after what we found ourselves. */
void dw_cgroup_parent_refused(const char *why);

/*
 * Let children of this folder have our controllers. 0, -EBUSY if there are processes in
 * it, or -errno. What the folder does not have itself cannot be passed on: that is 0, too.
 */
int dw_cgroup_pass_on(int dir_fd);

/* "dewar-4026531836-": a pid says who made a group only within its namespace. */
size_t dw_cgroup_prefix(char *ret, size_t size);

/* What a process of ours calls the leaf that it moves itself into. */
void dw_cgroup_leaf_name(char *ret, size_t size, int pid);

/*
 * Make such a leaf in a folder, named for this pid, and move ourselves in. 0 or -errno.
 */
int dw_cgroup_step_aside(int dir_fd, int pid);

/* Nobody is in our leaf any more: remove it from the home. */
void dw_cgroup_clear_leaf(void);

#endif
