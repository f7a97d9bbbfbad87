/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_LAUNCHED_H
#define DW_LEVELS_LAUNCHED_H

#include "cgroup/cgroup.h"
#include "levels/level.h"
#include "wire/plan.h"

/*
 * What the levels none, process and container have in common: a cell that
 * dewar-launch builds from a plan, and that is watched through its report
 * socket, the pidfd of its init, and its cgroups. A level differs in what it
 * writes into the plan, and that is all its file has to say.
 */

struct dw_launched {
	struct dw_cell cell; /* first */
	const struct dw_spec *spec;
	struct dw_plan_builder plan;
	struct dw_cgroup cgroup;
	char folder[64];  /* where code and files go, as the program sees it */
	char workdir[64]; /* a folder on the host that is ours to remove, or "" */
	char *shared;     /* the workspace's real path, where the program sees it */
	int child[3];     /* the program's ends of its stdio */
	int plan_fd;
	int report;         /* our end */
	int report_child;   /* the other one, until a nursery has it */
	int pidfd;          /* init's, once it has said hello */
	int pid;            /* init's */
	int userns;         /* the cell's, if the plan asked for it */
	int pidns;          /* and this one */
	int ruleset;        /* of Landlock, for whom a zygote forks */
	int letter[2];      /* ours, and the end for the program that waits */
	bool born;          /* its launcher began in the group of version 2 */
	bool empty;         /* it waits for a zygote */
	bool greeted;       /* init has said hello */
	bool early;         /* over for us at END, not when init is gone */
	int launcher;       /* what we spawned, until it is waited for; or 0 */
	int pasta;          /* the helper for the network, or 0 */
	bool wants_network; /* it asked before it said hello */
	unsigned kills;     /* how often we were asked to */
};

/* Which of the cell's watches is what. */
enum {
	DW_WATCH_REPORT,
	DW_WATCH_INIT,
	DW_WATCH_OOM,
	DW_WATCH_PIDS
};

static inline struct dw_launched *dw_launched(struct dw_cell *cell)
{
	return (struct dw_launched *)cell;
}

/*
 * What a level adds: flags, entries, environment, current folder. Everything
 * common to all (the command, code and files, limits) is there already or is
 * added afterwards.
 */
typedef int dw_fill_fn(struct dw_launched *l, struct dw_error *err);

int dw_launched_create(const struct dw_level *level, const struct dw_spec *spec,
                       dw_fill_fn *fill, struct dw_cell **ret_cell, struct dw_error *err);
int dw_launched_start(struct dw_cell *cell, struct dw_error *err);

/* The plan alone, without limits: sealed, or -1. */
int dw_launched_plan(const struct dw_level *level, const struct dw_spec *spec,
                     dw_fill_fn *fill, struct dw_error *err);

/* launched_watch.c: what the cell says, and what becomes of it. */
void dw_launched_on_event(struct dw_cell *cell, size_t index);

/* The launcher's outer process is gone by itself, once it has said hello. */
void dw_launched_bury_launcher(struct dw_launched *l);

void dw_launched_kill(struct dw_cell *cell);
void dw_launched_measure(struct dw_cell *cell);
void dw_launched_destroy(struct dw_cell *cell);

/* Build all walls of a level and run nothing behind them. */
int dw_launched_probe(const struct dw_level *level, struct dw_error *err);

/* Where folders are made for cells that have no root of their own. */
const char *dw_launched_temp_folder(void);

/* A fresh folder on the host, for levels that have no /tmp of their own. */
int dw_launched_make_workdir(struct dw_launched *l, struct dw_error *err);

#endif
