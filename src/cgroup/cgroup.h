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
 * A host has each controller in the unified hierarchy (version 2) or in one of its own
 * (version 1), or lets us write to neither. Version 2 needs one folder for a cell,
 * version 1 one for each controller. A controller that we cannot use is left out and
 * controllers[] says why; the caller decides whether that is good enough.
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
	int dir_fd;      /* the cell's folder; may be the same for several */
	int parent_fd;   /* the folder it is in */
	uint64_t kernel; /* the limit as read back */
	char why[320];   /* version 0: the reason */
};

struct dw_cgroup {
	char name[64];
	struct dw_controlled controllers[DW_CONTROLLER_COUNT];
	int oom_fd;  /* to poll for memory running out, or -1 */
	int pids_fd; /* to poll for a fork being refused, or -1 */
};

/* What the cell used and which limits it hit; UINT64_MAX if no cgroup counted. */
struct dw_cgroup_usage {
	uint64_t memory_peak;
	uint64_t oom_kills;
	uint64_t pids_refused;
};

/*
 * Create the groups and set the limits. Missing cgroups are not a failure: see controllers[].
 * pids is the limit for the whole cell, with its init. With beside, the groups are created
 * next to that cell's, which saves looking for the place; else it is NULL.
 */
void dw_cgroup_create(struct dw_cgroup *cg, const char *name,
                      const struct dw_cgroup *beside, const struct dw_limits *limits,
                      uint64_t pids);

/* No groups. */
void dw_cgroup_init(struct dw_cgroup *cg);

/* The cell's folder in version 2, to be born in; or -1. The caller must not close it. */
int dw_cgroup_born_in(const struct dw_cgroup *cg);

/*
 * Open each folder's list of members, to which a single-threaded process writes 0 to
 * move itself. A process born in version 2's folder needs only those of version 1. Fills
 * in at most DW_CONTROLLER_COUNT descriptors and returns their number, or -1.
 */
int dw_cgroup_open_procs(const struct dw_cgroup *cg, bool born, int *ret,
                         struct dw_error *err);

/* The program starts: begin to poll what sends no events. */
void dw_cgroup_arm(const struct dw_cgroup *cg);

/*
 * Give the cell cpu time only while no other cell wants it, and then at most percent of
 * a core in short slices: a kernel that works on the cell's behalf cannot be preempted.
 * The share as read back, or 0 if no cgroup limits it.
 */
uint64_t dw_cgroup_yield(const struct dw_cgroup *cg, uint64_t percent);

/* The poll() events for oom_fd or pids_fd. */
short dw_cgroup_events(const struct dw_cgroup *cg, enum dw_controller controller);

/* Consume an event, so that the descriptor is ready again only for the next one. */
void dw_cgroup_rearm(int fd);

void dw_cgroup_read(const struct dw_cgroup *cg, struct dw_cgroup_usage *ret);

/*
 * Lift the cpu limit: a killed process dies only when it runs next, and a cell that
 * reclaimed memory for seconds has used up its share for as long.
 */
void dw_cgroup_unthrottle(const struct dw_cgroup *cg);

/* Kill all processes in the groups, and give them cpu time to die. May be repeated. */
void dw_cgroup_kill(const struct dw_cgroup *cg);

/*
 * Kill what is left in the folders and remove them. Accepts a dw_cgroup that is empty or
 * half-made. -1 if a folder remains, with its name.
 */
int dw_cgroup_destroy(struct dw_cgroup *cg, struct dw_error *err);

/*
 * Remove groups beside this one that a killed dewar left: only empty ones whose creator
 * is gone.
 */
void dw_cgroup_sweep(const struct dw_cgroup *cg);

const char *dw_controller_name(enum dw_controller controller);

/* ---- files and lists ---- */

/*
 * An attribute as a number, or the number after a word at the start of a line. UINT64_MAX
 * without such a number, and for "max".
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

/* One for the whole process, found once. All of these may be called from any thread. */
enum dw_cgroup_parent_kind {
	DW_CGROUP_PARENT_KIND_NONE = 0, /* version 2 has none of our controllers */
	DW_CGROUP_PARENT_KIND_OURS,     /* it exists and passes controllers on */
	DW_CGROUP_PARENT_KIND_FOREIGN,  /* we may not divide our group */
};

/* Returns true if version 2 has controllers here. Cheap, and moves no process. */
bool dw_cgroup_is_unified(void);

/*
 * Find the parent, once. If the calling process is in it, move it into a leaf. It must
 * have no children yet: they would stay where they are.
 */
enum dw_cgroup_parent_kind dw_cgroup_settle(void);

/* Use a folder that systemd gave us (levels/scope.c). Takes the descriptor. */
void dw_cgroup_parent_set(int fd);

/* The parent is gone, with all groups in it. */
void dw_cgroup_parent_lost(void);

/* Why asking systemd failed too; added to the reason that we found ourselves. */
void dw_cgroup_parent_refused(const char *why);

/*
 * Pass the folder's controllers on to its children. 0, also if it has none; -EBUSY if
 * there are processes in it; or -errno.
 */
int dw_cgroup_pass_on(int dir_fd);

/* The name of the leaf cgroup that a process of Dewar moves into. */
void dw_cgroup_leaf_name(char *ret, size_t size, int pid);

/* Create that leaf in a folder, named for this pid, and move into it. 0 or -errno. */
int dw_cgroup_enter_leaf(int dir_fd, int pid);

/* Remove our leaf, which is empty. */
void dw_cgroup_remove_leaf(void);

/* ---- disks.c: the disks that file systems are on ---- */

/* Whole disks: the kernel counts I/O for disks, not for partitions. */
#define DW_DISKS_MAX 32

struct dw_disks {
	dev_t list[DW_DISKS_MAX];
	size_t n;
};

/* The disks of all file systems that we see; 0, -E2BIG or -errno. */
int dw_disks_find(struct dw_disks *ret);

/*
 * Returns true if I/O below the path goes to these disks, or to memory. Else kind is the
 * type of the file system, for a person.
 */
bool dw_disks_hold(const struct dw_disks *disks, const char *path, char *kind,
                   size_t size);

#endif
