/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_WARM_WARM_OWN_H
#define DW_WARM_WARM_OWN_H

#include <pthread.h>
#include <stdatomic.h>

#include "dewar/pool.h"
#include "levels/launched.h"

/* The parts of a pool; pool.h is what run/ calls. */

/* ---- template.c ---- */

/*
 * A template: a language with chosen packages loaded, from which warm cells come. A table
 * in template.c says how each language is kept warm.
 */

enum dw_warmth {
	DW_WARMTH_FORK = 1, /* started once, and forked for each run */
	DW_WARMTH_STANDBY,  /* cannot fork: started for each run, in advance */
};

/* How one language is kept warm. */
struct dw_warm {
	const char *language;
	enum dw_warmth warmth;
	const char *command[12]; /* as a runtime's */
	const char *env[4];      /* for that command: "NAME=VALUE", ends in NULL */
	const char *runner_path; /* the runner's path in the cell, or NULL */
	struct dw_bytes runner;
	bool takes_args;           /* the program gets the request's arguments */
	bool takes_env;            /* the program gets the request's environment */
	bool takes_library;        /* the program can import from a workspace */
	bool calls_back;           /* the runner calls dewar_wait() itself */
	const char *unsafe_start;  /* code that starts with this runs cold; or NULL */
	const char *rehearsal;     /* a short program of the language */
	const char *unsafe_env[8]; /* prefixes of names that are read only at start */
};

struct dw_template {
	char name[32];
	const struct dw_runtime *runtime;
	const struct dw_warm *warm;
	char image[1024];      /* a root file system, or "" */
	char preload[512];     /* names of modules, separated by commas */
	const char *rehearsal; /* a short program like those that will run */
};

/* Returns NULL if the language always runs cold. */
const struct dw_warm *dw_warm_find(const struct dw_runtime *runtime);

/* The library that turns an interpreter into a zygote, and its path in the cell. */
#define DW_ZYGOTE_PATH "/tmp/.dewar/zygote.so"
struct dw_bytes dw_zygote_library(void);

/* Returns true if the request wants the same image, or both have none. */
bool dw_template_has_image(const struct dw_template *t, const struct dw_request *req);

/*
 * dw_template_fits() returns true if the request can run in a warm cell of the template,
 * dw_template_fits_standby() if also in a cell that was built before the request came.
 */
bool dw_template_fits(const struct dw_template *t, const struct dw_spec *spec);
bool dw_template_fits_standby(const struct dw_template *t, const struct dw_spec *spec);

/* The level at which zygotes and their cells are built. */
static inline const struct dw_level *dw_warm_level(void)
{
	return dw_level_with(DW_G_FORK);
}

/* ---- zygote.c ---- */

/*
 * A zygote: an interpreter in its own cell, which has loaded its packages and forks
 * itself into other cells (runners/zygote.c). One thread at a time uses it.
 */
struct dw_zygote {
	const struct dw_template *template;
	atomic_uint refs; /* one by the template, and one by each of its cells */
	struct dw_request req;
	struct dw_spec spec;
	struct dw_role role;
	char code_path[64];
	struct dw_cell *cell;
	int nursery; /* the socket of the nursery, which creates plain cells; or -1 */
	bool broken; /* a reply is missing, so later replies cannot be matched */
	uint32_t forks;
	uint32_t pages; /* that a short run writes to */
};

/* Start a zygote and make a trial run. On failure returns NULL; nothing is left. */
struct dw_zygote *dw_zygote_start(const struct dw_template *t, struct dw_error *err);

/*
 * A zygote's cells are in its pid namespace and end with it, so the zygote is ended only
 * when the last reference is dropped. dw_zygote_unref() accepts NULL.
 */
struct dw_zygote *dw_zygote_ref(struct dw_zygote *z);
void dw_zygote_unref(struct dw_zygote *z);

/* The role of the next cell to fork into. plain: the nursery may create that cell. */
struct dw_role dw_zygote_role(struct dw_zygote *z, bool plain);

/* Returns true if the zygote has forked so often that it must be replaced. */
bool dw_zygote_is_spent(const struct dw_zygote *z);

/* Fork a program into the empty cell. ahead: no request waits for the cell yet. */
int dw_zygote_fork(struct dw_zygote *z, struct dw_launched *l, bool ahead,
                   struct dw_error *err);

/* Returns true if the zygote is alive and usable. Sends it nothing. */
bool dw_zygote_runs(struct dw_zygote *z);

/* ---- warm_cell.c ---- */

/*
 * A warm cell: its walls are up, its program waits for a job, and init has checked both.
 * It is a struct dw_launched (levels/launched.h) and is used once.
 */

/*
 * Process a cell's pending events. dw_warm_wait() does so until fd is readable (0), or
 * the cell is gone or the deadline has passed (-ETIMEDOUT).
 */
void dw_warm_serve(struct dw_cell *cell);
int dw_warm_wait(struct dw_cell *cell, int fd, uint64_t deadline_ms);

/* Build an empty cell for spec, whose role is from dw_zygote_role(). */
int dw_warm_build(const struct dw_spec *spec, struct dw_cell **ret, struct dw_error *err);

/* After a zygote has forked into the cell: tell init which process is the program. */
int dw_warm_enter(struct dw_cell *cell, struct dw_error *err);

/* For interpreters that cannot fork: start one, in its own cell, that waits. */
int dw_warm_start(const struct dw_spec *spec, struct dw_cell **ret, struct dw_error *err);

/*
 * Send the job, which starts the run. The cell refers to spec from now on, until the run
 * has ended and dw_warm_forget() is called.
 */
int dw_warm_go(struct dw_cell *cell, const struct dw_spec *spec, struct dw_error *err);
void dw_warm_forget(struct dw_cell *cell);

/* ---- job.c ---- */

/*
 * Send the job to a program that waits (wire/enter.h): code, files, arguments and
 * environment, in one packet or, if long, in a memfd.
 */
int dw_job_send(int sock, const struct dw_spec *spec, struct dw_error *err);

/* Returns true if the job needs a memfd. */
bool dw_job_is_long(const struct dw_spec *spec);

/* ---- pss.c ---- */

/*
 * The memory of a cell: the proportional set size (PSS) of its init and of the first
 * children of init, as many as processes says. 0 if the kernel does not report it.
 */
uint64_t dw_pss_of_cell(const struct dw_cell *cell, unsigned processes);

/*
 * How many children of init to count: in a cell the program; in a zygote's cell the
 * zygote and the nursery, since init's other children there are further cells.
 */
#define DW_PSS_CELL 1U
#define DW_PSS_ZYGOTE 2U

/* ---- docker_pool.c ---- */

/*
 * Standby containers of level docker: started, with a dewar-guest that waits for an
 * order. Each is used once. Taking a container never waits. The pool's keeper creates and
 * ends containers without waiting either, since each has its own dewar-docker.
 */
struct dw_docker_pool;

int dw_docker_pool_new(const struct dw_docker_config *config, size_t n,
                       struct dw_docker_pool **ret, struct dw_error *err);

/* End all containers, and wait until they are removed. Accepts NULL. */
void dw_docker_pool_free(struct dw_docker_pool *s);

/* A container that fits, or NULL. */
struct dw_cell *dw_docker_pool_take(struct dw_docker_pool *s, const struct dw_spec *spec);

/* The run is over, or never started: end its container. */
void dw_docker_pool_give_back(struct dw_docker_pool *s, struct dw_cell *cell);

/* Start missing containers, and free those that have been removed. */
void dw_docker_pool_keep(struct dw_docker_pool *s);

/* Wait until each kind has that many (standby) containers ready. */
int dw_docker_pool_warm_up(struct dw_docker_pool *s, unsigned standby,
                           uint64_t timeout_ms, struct dw_error *err);

/* ---- pool_cells.c, keeper.c ---- */

/*
 * pool_cells.c creates cells, keeper.c keeps some ready, pool.c hands them out.
 */

#define DW_POOL_EMPTY_CELLS 4U /* to keep ready for a zygote to fork into */

/* A cell with all that it was built from; it waits for a run, or to be destroyed. */
struct warm_cell {
	struct warm_cell *next;
	struct dw_cell *cell;
	struct dw_zygote *zygote; /* whose cell it is, or NULL */
	struct dw_spec spec;
	struct dw_role role;
};

struct cell_stack {
	struct warm_cell *top;
	unsigned n;
};

struct template_pool {
	struct dw_template template;
	struct dw_request req;       /* cells are built for it before a request comes */
	pthread_mutex_t zygote_lock; /* held by the thread that uses the zygote */
	struct dw_zygote *zygote;    /* or NULL */
	struct cell_stack ready;     /* cells that wait for a job */
	struct cell_stack empty;     /* cells that wait for the zygote */
	unsigned wanted;             /* how many cells should be ready */
	unsigned least;              /* the configured minimum of wanted */
	unsigned made;               /* ready cells created so far */
	unsigned failures;           /* in a row */
	uint64_t retry_at;
	uint64_t used_at;
	atomic_bool in_use; /* keep cells ready at all */
	struct dw_template_stats stats;
};

struct dw_pool {
	pthread_mutex_t lock;
	pthread_cond_t work;    /* wakes the keeper */
	pthread_cond_t changed; /* wakes dw_pool_warm_up() */
	pthread_t keeper;
	bool stopping;
	bool fork_only;
	bool is_low;        /* wake the keeper at the next dw_pool_go() */
	unsigned running;   /* cells that are taken */
	bool counts_memory; /* dw_limits_can_count() */
	uint64_t memory;
	unsigned standby_max;
	uint64_t idle_ms;
	struct dw_fork_server spawner;
	struct cell_stack used;
	struct template_pool *templates;
	size_t n_templates;
	struct dw_docker_pool *docker; /* or NULL */
};

static inline void dw_pool_cell_push(struct cell_stack *stack, struct warm_cell *w)
{
	w->next = stack->top;
	stack->top = w;
	stack->n++;
}

static inline struct warm_cell *dw_pool_cell_pop(struct cell_stack *stack)
{
	struct warm_cell *w = stack->top;

	if (w) {
		stack->top = w->next;
		stack->n--;
	}
	return w;
}

/* Accepts NULL. */
void dw_pool_cell_free_cell(struct warm_cell *w);

/* An empty cell for spec, into which the template's zygote can fork. */
struct warm_cell *dw_pool_cell_build(struct dw_pool *pool, struct template_pool *s,
                                     const struct dw_spec *spec, bool plain,
                                     struct dw_error *err);

/* Fork a program into w, and return w. On failure, frees w and returns NULL. */
struct warm_cell *dw_pool_cell_fork_into(struct template_pool *s, struct warm_cell *w,
                                         bool ahead, struct dw_error *err);

/* A cell whose interpreter cannot fork: it has been started, and waits for a job. */
struct warm_cell *dw_pool_cell_start(struct dw_pool *pool, struct template_pool *s,
                                     const struct dw_spec *spec, struct dw_error *err);

/* keeper.c: start the pool's thread. */
int dw_keeper_start(struct dw_pool *pool, struct dw_error *err);

/* Destroy the cells that were used. */
void dw_keeper_end_used(struct dw_pool *pool);

/* Move the template's empty cells to the used ones. The caller holds the pool's lock. */
void dw_keeper_drop_empty(struct dw_pool *pool, struct template_pool *s);

#endif
