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
 * run/ creates a cell, starts it, polls the descriptors that the cell names, and destroys
 * it. It never asks which level it has, only what the level guarantees.
 */

/* The purpose of a warm cell (src/warm), at a level with DW_G_FORK. */
enum dw_role_kind {
	DW_ROLE_ZYGOTE = 1, /* an interpreter that programs are forked from */
	DW_ROLE_ENTERED,    /* empty, until a zygote forks a program into it */
	DW_ROLE_STANDBY,    /* its program has started, and waits for its job */
};

struct dw_role_file {
	const char *path; /* in the cell */
	struct dw_bytes data;
};

struct dw_cgroup;

struct dw_role {
	enum dw_role_kind kind;
	const char *const *command; /* as in struct dw_runtime; not for ENTERED */
	const char *const *env;     /* "NAME=VALUE", for that command; or NULL */
	struct dw_role_file files[8];
	int userns;        /* ENTERED: the zygote's user namespace */
	int pidns;         /* ENTERED: the zygote's pid namespace */
	uint32_t first_id; /* as root: the zygote's id on the host, the first of a range */
	uint32_t index;    /* ENTERED: this cell's id in that range */
	int nursery; /* ENTERED: the socket to its nursery, or 0; ZYGOTE: its other end */
	int base;    /* ZYGOTE: the plan of its nursery's cells */
	const struct dw_cgroup *beside; /* create cgroups next to these, or NULL */
};

/* The number of ids of a zygote of root: one for itself and one for each of its cells. */
#define DW_ZYGOTE_IDS 4096U

struct dw_fork_server;

/* What a cell is created from, with defaults filled in. Borrowed; outlives the cell. */
struct dw_spec {
	char id[DW_ID_MAX];
	const struct dw_request *req;
	const struct dw_runtime *runtime;
	struct dw_limits limits;
	uint64_t deadline_ms;           /* when the run ends (base/clock.h) */
	bool probe;                     /* build the walls, run nothing */
	const struct dw_role *role;     /* NULL: cold */
	struct dw_fork_server *spawner; /* starts the launcher, or NULL */
};

enum dw_cell_state {
	DW_CELL_BUILDING = 0, /* no program runs yet */
	DW_CELL_RUNNING,      /* the program has started */
	DW_CELL_GONE,         /* no process of the cell is alive */
};

/* How the run went, as far as the level can tell. */
struct dw_outcome {
	struct dw_error error; /* why the program was not started */
	int wait_status;       /* as from waitpid() */
	bool started;          /* the program may have run, and caused the error */
	bool ended;            /* wait_status is valid */
	enum dw_reason hit;    /* the limit that ended the run, or DW_REASON_EXIT */
	bool tmp_full;
	double run_ms; /* run_ms, cpu_ms and memory_mb: negative if unknown */
	double cpu_ms;
	double memory_mb;
	struct dw_walls walls;
	uint32_t own_ns; /* 1U << DW_NS_*: the namespaces that differ from ours */
	struct dw_limit_proof limits[DW_LIMIT_COUNT];
	char image[256];  /* the engine's name for the image, or "" */
	char runtime[64]; /* the engine's name for the runtime, or "" */
	char left[512];   /* what could not be removed, with the reason; or "" */
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
	int in;     /* our ends of the program's stdio; run/ closes them */
	int out[2]; /* by enum dw_stream */
	int tmp_fd; /* the cell's /tmp, to collect from once it is gone, or -1 */
	struct dw_watch watch[DW_CELL_WATCHES]; /* fd -1: not used */
	uint64_t waived_ms; /* the time by which the deadline is extended */
	void *owner;        /* for warm/pool.c */
	struct dw_outcome outcome;
};

struct dw_level {
	const char *name;    /* as users write it: "container" */
	uint32_t guarantees; /* DW_G_* */
	const char *summary; /* for `dewar doctor` */
	uint64_t timeout_ms; /* the default timeout */

	/*
	 * Returns 0 if this host can run cells of this level; else -1 with
	 * DW_E_UNSUPPORTED and a reason that a person can act on.
	 */
	int (*probe)(struct dw_error *err);

	/*
	 * Create the cell; nothing runs yet. outcome.limits says how each limit will be
	 * enforced. On failure *ret_cell is untouched and nothing is left on the host.
	 */
	int (*create)(const struct dw_spec *spec, struct dw_cell **ret_cell,
	              struct dw_error *err);

	int (*start)(struct dw_cell *cell, struct dw_error *err);

	/*
	 * watch[index] is ready. Advances cell->state, fills in the outcome, and kills
	 * the cell if it exceeded a limit.
	 */
	void (*on_event)(struct dw_cell *cell, size_t index);

	/* Kill every process in the cell. May be repeated, and may come too late. */
	void (*kill)(struct dw_cell *cell);

	/* The cell is gone: fill in what it used and which limits it hit. */
	void (*measure)(struct dw_cell *cell);

	/* Accepts NULL and half-made cells; leaves nothing on the host. */
	void (*destroy)(struct dw_cell *cell);
};

/* Returns a sealed memfd with the plan of the cells that a nursery creates, or -1. */
int dw_container_base(const struct dw_spec *spec, struct dw_error *err);

/*
 * Choose a random range of DW_ZYGOTE_IDS ids for a zygote and its cells; *ret_first is
 * the first of them. It is 0 if we are not root: they have no ids of their own then.
 */
int dw_container_draw_ids(uint32_t *ret_first, struct dw_error *err);

/*
 * Level docker: start a standby container, which waits at most idle_ms for its program.
 * dw_docker_is_ready() returns 1, 0 for not yet, or -1 for never.
 */
int dw_docker_prepare(const struct dw_spec *spec, uint64_t idle_ms,
                      struct dw_cell **ret_cell, struct dw_error *err);
int dw_docker_is_ready(struct dw_cell *cell, struct dw_error *err);

/* Returns true if the container was created with the settings that spec needs. */
bool dw_docker_fits(const struct dw_cell *cell, const struct dw_spec *spec);

/* Run spec in the container. The cell is GONE once the program has ended. */
int dw_docker_go(struct dw_cell *cell, const struct dw_spec *spec, struct dw_error *err);

/* Returns true if the container is removed, so that destroy() does not wait. */
bool dw_docker_is_gone(const struct dw_cell *cell);

/* Only for src/levels and tests: others ask for guarantees. */
extern const struct dw_level dw_level_none;
extern const struct dw_level dw_level_process;
extern const struct dw_level dw_level_container;
extern const struct dw_level dw_level_docker;
extern const struct dw_level dw_level_microvm;

/* Returns NULL if there is no such level. */
const struct dw_level *dw_level_find(const char *name, size_t len);

/* The first level of a list; the default level if that is unknown or the list is NULL. */
const struct dw_level *dw_level_first(const char *list);

/* The weakest level that has all these guarantees, or NULL. */
const struct dw_level *dw_level_with(uint32_t guarantees);

/* The PATH in which a level that uses the host's files finds interpreters. */
const char *dw_level_search_path(const struct dw_level *level);

/* ---- limits: enforce.c ---- */

/* Set each limit that is 0 to the default of the level. */
void dw_limits_defaults(struct dw_limits *limits, const struct dw_level *level);

/* Returns true if cgroups count the memory and the processes of a cell on this host. */
bool dw_limits_can_count(void);

/* The time after the program's start at which init ends a cell by itself, in ms. */
uint64_t dw_limits_deadline(const struct dw_limits *limits);

/* /tmp gets one inode for each of its pages. */
#define DW_TMP_INODE_BYTES 4096U

#endif
