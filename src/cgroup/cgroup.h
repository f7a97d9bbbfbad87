/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CGROUP_CGROUP_H
#define DW_CGROUP_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "dewar/error.h"
#include "dewar/request.h"

/*
 * A cell's control groups.
 *
 * Each controller is looked for where hosts have it: in the unified hierarchy
 * (version 2), or in one of its own (version 1). Version 2 puts all into one
 * folder, version 1 needs one each; a host may have some of either, or none
 * that we may write to. What could not be had is left out, and held[] says so:
 * the caller decides whether that will do.
 */

enum dw_controller {
	DW_CONTROLLER_MEMORY = 0,
	DW_CONTROLLER_CPU,
	DW_CONTROLLER_PIDS,
	DW_CONTROLLER_IO, /* only where it is asked for, and only in version 2 */
	DW_CONTROLLER_COUNT
};

struct dw_controlled {
	int version;     /* 2, 1, or 0: not held */
	int dir_fd;      /* the cell's folder; may be the same for several */
	int parent_fd;   /* the folder it is in */
	uint64_t kernel; /* the limit as read back */
	char why[320];   /* not held because */
};

struct dw_cgroup {
	char name[64];
	struct dw_controlled held[DW_CONTROLLER_COUNT];
	int oom_fd;  /* to poll for memory running out, or -1 */
	int pids_fd; /* to poll for a fork being refused, or -1 */
};

/* What the cell used and ran against; UINT64_MAX where nobody counted. */
struct dw_cgroup_usage {
	uint64_t memory_peak;
	uint64_t oom_kills;
	uint64_t pids_refused;
};

/*
 * Make the groups and set the limits. Never fails for want of cgroups: see
 * held[]. pids is the number for the whole cell, our init included. With beside
 * they go where that one's are, without looking where that is; NULL for none.
 */
void dw_cgroup_create(struct dw_cgroup *cg, const char *name,
                      const struct dw_cgroup *beside, const struct dw_limits *limits,
                      uint64_t pids);

/* An empty one, for a cell without. */
void dw_cgroup_init(struct dw_cgroup *cg);

/* The cell's folder in version 2, to be born in; or -1. It stays ours. */
int dw_cgroup_born_in(const struct dw_cgroup *cg);

/*
 * Open each folder's list of members, for a process with one thread to move
 * itself by writing 0; who was born in version 2's needs only those of version 1.
 * At most DW_CONTROLLER_COUNT are put into ret; their number, or -1.
 */
int dw_cgroup_open_procs(const struct dw_cgroup *cg, bool born, int *ret,
                         struct dw_error *err);

/* A program begins: what has to be looked at by the clock is, from now on. */
void dw_cgroup_arm(const struct dw_cgroup *cg);

/*
 * Let it have the processor only while nobody beside it wants that, and then for so
 * much of a core, in short pieces: a kernel that is busy on its behalf lets nobody
 * in. The share as read back, or 0 if no cgroup holds it.
 */
uint64_t dw_cgroup_yield(const struct dw_cgroup *cg, uint64_t percent);

/* What to poll oom_fd or pids_fd for. */
short dw_cgroup_events(const struct dw_cgroup *cg, enum dw_controller controller);

/* It was ready: make it ready again only when there is news. */
void dw_cgroup_rearm(int fd);

void dw_cgroup_read(const struct dw_cgroup *cg, struct dw_cgroup_usage *ret);

/*
 * Let it run as it likes, to its end: a process that is killed dies when it runs
 * next, and a cell that reclaimed memory for seconds owes the processor for them.
 */
void dw_cgroup_unthrottle(const struct dw_cgroup *cg);

/* Kill what is left inside, and let it have the processor to die. Twice is fine. */
void dw_cgroup_kill(const struct dw_cgroup *cg);

/*
 * Remove the folders; what is left inside is killed first. Accepts one that is
 * empty or half-made. -1 if something stayed, with its name.
 */
int dw_cgroup_destroy(struct dw_cgroup *cg, struct dw_error *err);

/*
 * Remove groups beside this one that another process of ours left behind when it
 * was killed: only empty ones, and only of a maker that is gone.
 */
void dw_cgroup_sweep(const struct dw_cgroup *cg);

const char *dw_controller_name(enum dw_controller controller);

#endif
