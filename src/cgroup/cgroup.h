/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CGROUP_CGROUP_H
#define DW_CGROUP_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "dewar/error.h"
#include "dewar/request.h"

/*
 * A cell's control groups.
 *
 * A host has each controller in the unified hierarchy (version 2) or in a hierarchy of
 * the controller's own (version 1), or permits us to write to neither. In version 2 a
 * cell has one folder, in version 1 one for each controller. A controller that we cannot
 * use is left out, and controllers[] says why; the caller decides whether that is good
 * enough.
 */

enum dw_controller {
	DW_CONTROLLER_MEMORY = 0,
	DW_CONTROLLER_CPU,
	DW_CONTROLLER_PIDS,
	DW_CONTROLLER_IO, /* only if requested, and only in version 2 */
	DW_CONTROLLER_COUNT
};

struct dw_controlled {
	int version;     /* 2, 1, or 0: not used */
	int dir_fd;      /* the cell's folder; controllers of version 2 share it */
	int parent_fd;   /* the folder above it */
	uint64_t kernel; /* the limit as read back */
	char why[320];   /* version 0: the reason */
};

struct dw_cgroup {
	char name[64];
	struct dw_controlled controllers[DW_CONTROLLER_COUNT];
	int oom_fd;  /* poll it to learn that memory ran out; or -1 */
	int pids_fd; /* poll it to learn that a fork was refused; or -1 */
};

/* Usage of the cell, and the limits that it reached; UINT64_MAX if no cgroup counted. */
struct dw_cgroup_usage {
	uint64_t memory_peak;
	uint64_t oom_kills;
	uint64_t pids_refused;
};

/*
 * Create the groups and set the limits. Missing cgroups are not a failure: see
 * controllers[]. pids is the limit for the whole cell, including its init. If beside is
 * not NULL, the groups are created next to that cell's, which saves a search.
 */
void dw_cgroup_create(struct dw_cgroup *cg, const char *name,
                      const struct dw_cgroup *beside, const struct dw_limits *limits,
                      uint64_t pids);

/* Make a dw_cgroup without groups. */
void dw_cgroup_init(struct dw_cgroup *cg);

/*
 * The cell's folder in version 2, in which the kernel can create the cell's first process
 * (CLONE_INTO_CGROUP); or -1. The caller must not close it.
 */
int dw_cgroup_born_in(const struct dw_cgroup *cg);

/*
 * Open the list of members of each folder: a single-threaded process writes 0 to each of
 * them to move itself. If born, the process was created in version 2's folder: skip that.
 * Fills in at most DW_CONTROLLER_COUNT descriptors and returns their number, or -1.
 */
int dw_cgroup_open_procs(const struct dw_cgroup *cg, bool born, int *ret,
                         struct dw_error *err);

/* The program starts: start the timer that replaces missing events in version 1. */
void dw_cgroup_arm(const struct dw_cgroup *cg);

/*
 * Give the cell cpu time only while no other cell needs it, and then at most percent of a
 * core. The slices are short because the kernel, while it works for the cell, may not be
 * preemptible. Returns the share as read back, or 0 if no cgroup limits it.
 */
uint64_t dw_cgroup_yield(const struct dw_cgroup *cg, uint64_t percent);

/* The events for which to poll oom_fd or pids_fd. */
short dw_cgroup_events(const struct dw_cgroup *cg, enum dw_controller controller);

/* Consume an event, so that the descriptor is ready again only for the next one. */
void dw_cgroup_rearm(int fd);

void dw_cgroup_read(const struct dw_cgroup *cg, struct dw_cgroup_usage *ret);

/*
 * Remove the cpu limit, so that killed processes die soon: each must run once more to
 * exit, and a cell that has spent seconds reclaiming memory would wait as long for its
 * share.
 */
void dw_cgroup_unthrottle(const struct dw_cgroup *cg);

/* Kill all processes in the groups, and give them cpu time to exit. May be repeated. */
void dw_cgroup_kill(const struct dw_cgroup *cg);

/*
 * Kill the processes that are left in the groups, and remove the folders. Accepts a
 * dw_cgroup that is empty or half-made. Returns -1 if a folder remains; err names it.
 */
int dw_cgroup_destroy(struct dw_cgroup *cg, struct dw_error *err);

/*
 * Remove groups next to this one that a killed dewar left: only those that are empty and
 * whose creator has ended.
 */
void dw_cgroup_sweep(const struct dw_cgroup *cg);

const char *dw_controller_name(enum dw_controller controller);

/* ---- files and lists ---- */

/*
 * Read an attribute as a number, or the number behind a word at the start of a line.
 * Returns UINT64_MAX if there is no such number, and for "max".
 */
uint64_t dw_attr_number(int dir_fd, const char *attr);
uint64_t dw_attr_event(int dir_fd, const char *attr, const char *word);

/* Returns true if a list like "cpu memory pids" contains the word. */
bool dw_cgroup_has_word(const char *list, const char *word);

/*
 * Find our group in the text of /proc/self/cgroup, for a controller of version 1 or, with
 * NULL, for version 2. 0 with the path in ret, -ENOENT or -ENAMETOOLONG.
 */
int dw_cgroup_own_path(const char *text, const char *controller, char *ret, size_t size);

/* Open our own group in version 2; or -errno. */
int dw_cgroup_open_own(void);

/* ---- parent.c: the folder in which version 2's groups are created ---- */

/*
 * The process has one parent, and searches for it once. Any thread may call these, except
 * dw_cgroup_remove_leaf().
 */
enum dw_cgroup_parent_kind {
	DW_CGROUP_PARENT_KIND_NONE = 0, /* version 2 has no controllers that we use */
	DW_CGROUP_PARENT_KIND_OURS,     /* there is a parent, which passes them on */
	DW_CGROUP_PARENT_KIND_FOREIGN,  /* version 2 has them, but no group for us */
};

/* Returns true if version 2 has controllers here. Cheap, and moves no process. */
bool dw_cgroup_is_unified(void);

/*
 * Find the parent, once. If the calling process is in it, move the process into a leaf.
 * The process must have no children yet: they would stay where they are.
 */
enum dw_cgroup_parent_kind dw_cgroup_settle(void);

/* Use the scope that systemd created for us (levels/scope.c). Takes the descriptor. */
void dw_cgroup_parent_set(int fd);

/* Forget the parent: it was removed, with all groups in it. */
void dw_cgroup_parent_lost(void);

/* Record why systemd gave us no scope either; refusals name it after our own reason. */
void dw_cgroup_parent_refused(const char *why);

/*
 * Pass the folder's controllers on to its children. Returns 0, also if they are passed on
 * already; -ENOENT if it has neither memory, cpu nor pids; -EBUSY if processes in it
 * prevent that; or -errno.
 */
int dw_cgroup_pass_on(int dir_fd);

/* The name of the leaf cgroup that a process of Dewar moves into. */
void dw_cgroup_leaf_name(char *ret, size_t size, int pid);

/* Create a leaf with this pid in its name, and move this process into it. 0 or -errno. */
int dw_cgroup_enter_leaf(int dir_fd, int pid);

/* Remove our leaf; this works only if it is empty. */
void dw_cgroup_remove_leaf(void);

/* ---- disks.c: the disks that file systems are on ---- */

/* Whole disks: the kernel limits the I/O of disks, not of partitions. */
#define DW_DISKS_MAX 32

struct dw_disks {
	dev_t list[DW_DISKS_MAX];
	size_t n;
};

/* Find the disks of all mounted file systems that we see. 0, -E2BIG or -errno. */
int dw_disks_find(struct dw_disks *ret);

/*
 * Returns true if I/O below the path goes to these disks, or to memory. Otherwise kind is
 * the type of the file system, for a message.
 */
bool dw_disks_hold(const struct dw_disks *disks, const char *path, char *kind,
                   size_t size);

#endif
