/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_LEVEL_H
#define DW_LEVELS_LEVEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dewar/dewar.h"
#include "languages/runtime.h"

/*
 * A level: one strength of isolation, behind one small struct.
 *
 * The engine makes a cell, starts it, polls what the cell says it should poll,
 * and destroys it. It never asks which level it has; it asks what the level
 * guarantees.
 */

/*
 * A way to a cell other than the cold one (warm/): what is to run in it, or who
 * forks into it. Only level container knows any.
 */
enum dw_way_kind {
	DW_WAY_ZYGOTE = 1, /* an interpreter that others are forked from */
	DW_WAY_ENTERED,    /* an empty cell, which a zygote forks a program into */
	DW_WAY_LETTER,     /* started like a cold one, and waits for its letter */
};

struct dw_way_file {
	const char *path; /* in the cell */
	struct dw_bytes data;
};

struct dw_cgroup;

struct dw_way {
	enum dw_way_kind kind;
	const char *const *command; /* as a runtime's; not for DW_WAY_ENTERED */
	const char *const *env;     /* "NAME=VALUE", for that command; NULL for none */
	struct dw_way_file files[8];
	int userns; /* ENTERED: the zygote's */
	int pidns;
	uint32_t first_id; /* as root, of the zygote and those inside: on the host */
	uint32_t index;    /* ENTERED: which of them */
	int nursery; /* ENTERED: who makes it, or 0; ZYGOTE: the other end of that */
	int base;    /* ZYGOTE: the plan of its cells */
	const struct dw_cgroup *beside; /* where cgroups are made, or NULL */
};

/* How many cells of their own id a zygote of root's can have inside. */
#define DW_WAY_IDS 4096U

struct dw_fork_server;

/* All that a cell needs to know, defaults filled in. Borrowed, outlives the cell. */
struct dw_spec {
	char id[DW_ID_MAX];
	const struct dw_request *req;
	const struct dw_runtime *runtime;
	struct dw_limits limits;
	uint64_t deadline_ms;           /* when the run is to end (base/clock.h) */
	bool probe;                     /* build the walls, run nothing */
	const struct dw_way *way;       /* NULL: cold */
	struct dw_fork_server *spawner; /* who starts the launcher; NULL: we do */
};

enum dw_cell_state {
	DW_CELL_BUILDING = 0, /* walls are going up */
	DW_CELL_RUNNING,      /* the program has started */
	DW_CELL_GONE,         /* nothing of it is alive any more */
};

/* How it went, as far as the level can tell. */
struct dw_outcome {
	struct dw_error error; /* the program was never started, and this is why */
	int wait_status;       /* as waitpid() gives it; valid if ended */
	bool started;          /* the program may have run: no error is about us alone */
	bool ended;            /* the program's own end was seen */
	enum dw_reason hit;    /* a limit that ended it, or DW_REASON_EXIT */
	bool tmp_full;
	double run_ms; /* these three negative if unknown */
	double cpu_ms;
	double memory_mb;
	struct dw_walls walls;
	uint32_t own_ns; /* 1U << DW_NS_*: those that differ from ours */
	struct dw_limit_proof limits[DW_LIMIT_COUNT];
	char image[256];  /* of an engine's, or "" */
	char runtime[64]; /* the same */
	char left[512];   /* what could not be removed, and why; or "" */
};

struct dw_watch {
	int fd;
	short events;
};

#define DW_CELL_WATCHES 4

/* Levels embed this as their first member. */
struct dw_cell {
	const struct dw_level *level;
	enum dw_cell_state state;
	int in;     /* our ends of the program's stdio; the engine closes them */
	int out[2]; /* by enum dw_stream */
	int tmp_fd; /* the cell's /tmp, to collect from once it is gone, or -1 */
	struct dw_watch watch[DW_CELL_WATCHES]; /* fd -1: not used */
	uint64_t waived_ms; /* that do not count against the deadline */
	void *owner;        /* for whoever keeps cells (warm/pool.c) */
	struct dw_outcome outcome;
};

struct dw_level {
	const char *name;    /* as users write it: "container" */
	uint32_t guarantees; /* DW_G_* */
	uint64_t timeout_ms; /* its default */

	/*
	 * Can this host run it? -1 with DW_E_UNSUPPORTED and a reason that a
	 * person can act on.
	 */
	int (*probe)(struct dw_error *err);

	/*
	 * Make the cell; nothing runs yet, but what each limit is held by is
	 * known, in outcome.limits. On failure *ret_cell is untouched and nothing
	 * is left behind on the host.
	 */
	int (*create)(const struct dw_spec *spec, struct dw_cell **ret_cell,
	              struct dw_error *err);

	int (*start)(struct dw_cell *cell, struct dw_error *err);

	/*
	 * watch[index] has something to say. Moves cell->state on, fills in the
	 * outcome, and kills the cell itself where a limit was passed.
	 */
	void (*on_event)(struct dw_cell *cell, size_t index);

	/* Kill everything in the cell. Twice is fine; so is too late. */
	void (*kill)(struct dw_cell *cell);

	/* The cell is gone: what did it use, what did it run against? */
	void (*measure)(struct dw_cell *cell);

	/* Accepts NULL and half-made cells; leaves nothing on the host. */
	void (*destroy)(struct dw_cell *cell);
};

/* The plan of a cell that a nursery can make: a sealed memfd, or -1. */
int dw_container_base(const struct dw_spec *spec, struct dw_error *err);

/*
 * The first of DW_WAY_IDS ids for a zygote and its cells; 0 if they need no ids of
 * their own, because we are not root.
 */
int dw_container_draw_ids(uint32_t *ret_first, struct dw_error *err);

/*
 * Level docker: start a container for spec that waits, for idle_ms at most; spec says
 * all but what is to run. It is ready (1), not yet (0), or never will be (-1).
 */
int dw_docker_prepare(const struct dw_spec *spec, uint64_t idle_ms,
                      struct dw_cell **ret_cell, struct dw_error *err);
int dw_docker_is_ready(struct dw_cell *cell, struct dw_error *err);

/* Could it run spec, as far as its container goes? */
bool dw_docker_fits(const struct dw_cell *cell, const struct dw_spec *spec);

/* Run it there: the cell is spec's now, and over for spec at its program's end. */
int dw_docker_go(struct dw_cell *cell, const struct dw_spec *spec, struct dw_error *err);

/* Is the container removed, so that destroy() has nothing to wait for? */
bool dw_docker_is_gone(const struct dw_cell *cell);

extern const struct dw_level dw_level_none;
extern const struct dw_level dw_level_process;
extern const struct dw_level dw_level_container;
extern const struct dw_level dw_level_docker;
extern const struct dw_level dw_level_microvm;

/* By name; NULL if there is none of that name. */
const struct dw_level *dw_level_find(const char *name, size_t len);

/* Where the interpreter is looked for, at a level that uses the host's own files. */
const char *dw_level_search_path(const struct dw_level *level);

#endif
