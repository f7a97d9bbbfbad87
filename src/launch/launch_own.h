/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LAUNCH_LAUNCH_OWN_H
#define DW_LAUNCH_LAUNCH_OWN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "dewar/error.h"
#include "wire/plan.h"
#include "wire/report.h"

/*
 * The stages of dewar-launch that hold privilege. main.c lists their order, and each
 * file states its own contract. Nothing here allocates, logs, or runs a second
 * thread. The stages without privilege are in init/init.h.
 */

/* launch.c: the stage we are in, sent with an error so that dewar can explain it. */
extern enum dw_report_stage dw_launch_stage;
void dw_launch_send_error(int sock, const struct dw_error *err);

/* Map a sealed plan and check it; closes the descriptor. */
int dw_launch_map_plan(int fd, struct dw_plan *ret, struct dw_error *err);

/* clone3(), or clone() if that is missing. */
struct clone_args;
long dw_clone(const struct clone_args *args);

/* fork_server.c: returns in a child, for one cell; never in the process that stays. */
void dw_launch_fork_server(void);

/* build.c, stage 2: move the caller into the cgroups; closes their descriptors. */
int dw_build_join_cgroups(const int *cgroups, int n, struct dw_error *err);

/* build.c, stages 5 to 7, in the first process of the cell's namespaces. */
struct dw_builder {
	const struct dw_plan *plan;
	int gate;       /* a pipe: wait until the parent writes one byte; or -1 */
	bool is_mapped; /* the parent writes the id map before that byte */
	uid_t uid;      /* not is_mapped: our ids outside, which we cannot see now */
	gid_t gid;
	bool is_copy;       /* our tree is a copy of the zygote's (zygote_cells.c) */
	const int *cgroups; /* is_copy: the cgroups to join */
	int n_cgroups;
	struct dw_sources *sources; /* not is_copy */
};
int dw_build_cell(const struct dw_builder *b, struct dw_error *err);

/*
 * zygote_cells.c: in a zygote's cell, fork the nursery, which creates further cells
 * there. Returns true in the first process of each such cell, with that cell's plan.
 */
bool dw_zygote_cells_start(int sock, int base_fd, struct dw_plan *plan);

/* ids.c */
int dw_ids_become(uint32_t id, struct dw_error *err);
int dw_ids_map(uint32_t inside, uid_t uid, gid_t gid, struct dw_error *err);

/* Join the user namespace of a zygote, as the zygote's own user there. */
int dw_ids_join(int userns, bool root, uint32_t id, struct dw_error *err);

/* Write the id maps of another process; needs capabilities in the parent namespace. */
int dw_ids_map_for(pid_t pid, uint32_t inside, uint32_t outside, uint32_t count,
                   struct dw_error *err);
int dw_ids_take(uint32_t id, struct dw_error *err);

/* idmap.c: on a detached mount, show the files of the tree's owner as files of id. */
int dw_idmap(int mount_fd, uint32_t id, struct dw_error *err);

/*
 * mounts.c. Sources are detached copies of host trees, one for each plan entry, or
 * -1 if the entry has no source.
 */
struct dw_sources {
	int fd[DW_PLAN_ENTRIES_MAX];
};
int dw_sources_open(const struct dw_plan *plan, struct dw_sources *ret,
                    struct dw_error *err);
int dw_mounts_build(const struct dw_plan *plan, const struct dw_sources *sources,
                    struct dw_error *err);

/* In a copy of a zygote's tree: cover /proc and everything writable with new mounts. */
int dw_mounts_renew(const struct dw_plan *plan, struct dw_error *err);

/* files.c: make DIR, SYMLINK and FILE entries, below the current folder or the host's root. */
int dw_files_make(const struct dw_plan *plan, const struct dw_plan_entry *entry,
                  struct dw_error *err);

/* net.c */
int dw_net_loopback_up(struct dw_error *err);
void dw_net_disable_dad(void);
int dw_net_keep_loopback_inside(struct dw_error *err);

#endif
