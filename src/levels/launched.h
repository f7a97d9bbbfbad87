/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_LAUNCHED_H
#define DW_LEVELS_LAUNCHED_H

#include <pthread.h>
#include <sched.h>

#include "base/buf.h"
#include "cgroup/cgroup.h"
#include "levels/level.h"
#include "wire/plan.h"

/* ---- cell.c: what all cells share ---- */

void dw_cell_init(struct dw_cell *cell, const struct dw_level *level);

/* Create the program's stdio; child gets its ends. With socket, stdin is a socket. */
int dw_cell_open_stdio(struct dw_cell *cell, int child[3], bool socket,
                       struct dw_error *err);

/* Close every descriptor of struct dw_cell. */
void dw_cell_close(struct dw_cell *cell);

/* The folder on the host in which cells without their own /tmp get a folder. */
const char *dw_launched_temp_folder(void);

/* Write the path of a cell's folder there, which is named after the cell's id. */
void dw_cell_folder_name(char *ret, size_t size, const char *id);

/* Remove the folder with all that the program left in it; "" means no folder. */
void dw_cell_folder_remove(const char *folder);

/* ---- launched.c: the levels none, process and container ---- */

/*
 * Their cells are built by dewar-launch from a plan and watched through its report
 * socket, the pidfd of its init, and its cgroups. These levels differ only in what they
 * write into the plan.
 */

struct dw_launched {
	struct dw_cell cell; /* first */
	const struct dw_spec *spec;
	struct dw_plan_builder plan;
	struct dw_cgroup cgroup;
	char folder[64];  /* for code and files, as the program sees it */
	char workdir[64]; /* a folder on the host that we remove, or "" */
	char *shared;     /* the workspace's real path, if the program sees it there */
	int child[3];     /* the program's ends of its stdio */
	int plan_fd;
	int report;         /* our end */
	int report_child;   /* its other end, until it is passed to a nursery */
	int pidfd;          /* of init, after HELLO */
	int pid;            /* of init */
	int userns;         /* of the cell, if the plan asked for it */
	int pidns;          /* the same */
	int ruleset;        /* Landlock's, for the program that a zygote forks */
	int job[2];         /* our end, and the end of the program that waits */
	bool born;          /* the launcher started in the version 2 cgroup */
	bool empty;         /* init waits for a zygote to fork a program into the cell */
	bool greeted;       /* HELLO was received */
	bool early;         /* the cell is GONE at END, not when init has exited */
	int launcher;       /* pid of the process that we spawned, until reaped; or 0 */
	int pasta;          /* pid of the network helper's monitor, or 0 */
	bool wants_network; /* NETWORK came before HELLO */
	unsigned kills;     /* calls of dw_launched_kill() */
};

/* Indices of cell.watch. */
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

/* A level's part of the plan: flags, entries, environment, current folder, command. */
typedef int dw_fill_fn(struct dw_launched *l, struct dw_error *err);

int dw_launched_create(const struct dw_level *level, const struct dw_spec *spec,
                       dw_fill_fn *fill, struct dw_cell **ret_cell, struct dw_error *err);
int dw_launched_start(struct dw_cell *cell, struct dw_error *err);

/* The sealed plan alone, without limits; or -1. */
int dw_launched_plan(const struct dw_level *level, const struct dw_spec *spec,
                     dw_fill_fn *fill, struct dw_error *err);

/* launched_watch.c */
void dw_launched_on_event(struct dw_cell *cell, size_t index);

/* Reap the launcher's outer process, which exits by itself after HELLO. */
void dw_launched_reap_launcher(struct dw_launched *l);

void dw_launched_kill(struct dw_cell *cell);
void dw_launched_measure(struct dw_cell *cell);
void dw_launched_destroy(struct dw_cell *cell);

/* Build a cell of the level, without a program. */
int dw_launched_probe(const struct dw_level *level, struct dw_error *err);

/* Create a folder on the host, for levels that have no /tmp of their own. */
int dw_launched_make_workdir(struct dw_launched *l, struct dw_error *err);

/* Define create() and probe() of struct dw_level; the file must have defined fill(). */
#define DW_LAUNCHED_LEVEL(level)                                                 \
	static int create(const struct dw_spec *spec, struct dw_cell **ret_cell, \
	                  struct dw_error *err)                                  \
	{                                                                        \
		return dw_launched_create(&(level), spec, fill, ret_cell, err);  \
	}                                                                        \
                                                                                 \
	static int probe(struct dw_error *err)                                   \
	{                                                                        \
		return dw_launched_probe(&(level), err);                         \
	}

#define DW_LAUNCHED_FUNCTIONS                                         \
	.probe = probe, .create = create, .start = dw_launched_start, \
	.on_event = dw_launched_on_event, .kill = dw_launched_kill,   \
	.measure = dw_launched_measure, .destroy = dw_launched_destroy

/* ---- command.c: the program's code, files, command line and environment ---- */

/* Add all of them. library is a folder to import from, or NULL. */
int dw_command_plan(struct dw_launched *l, const char *library, struct dw_error *err);

/* The same for a warm cell, which runs its role's command. */
int dw_command_plan_role(struct dw_launched *l, struct dw_error *err);

/* Parts of dw_command_plan(), for level docker: the container looks the command up. */
int dw_command_plan_files(struct dw_plan_builder *plan, const struct dw_spec *spec,
                          const char *folder, struct dw_error *err);
void dw_command_plan_code(struct dw_plan_builder *plan, const struct dw_spec *spec,
                          const char *path);
void dw_command_plan_env(struct dw_plan_builder *plan, const struct dw_spec *spec,
                         const char *folder, const char *library);
void dw_command_plan_argv(struct dw_plan_builder *plan, const struct dw_spec *spec,
                          const char *folder, const char *file, const char *hook);

/*
 * If the request has a list of modules, add the hook that enforces it: a file, whose path
 * is written to ret, and a variable. Call it after all variables of the request were
 * added: the last value of a variable counts.
 */
void dw_command_plan_hook(struct dw_plan_builder *plan, const struct dw_spec *spec,
                          const char *folder, char *ret, size_t size);

/*
 * The real path of the request's program; free() it. NULL if the program does not exist,
 * or not every user may read and execute it.
 */
char *dw_command_program(const struct dw_request *req, struct dw_error *err);

/* Join names with commas. */
void dw_command_join(const char *const *names, struct dw_buf *ret);

/* ---- host_paths.c: the files of the host that a program sees ---- */

/*
 * Called for each path, in order: level container binds the path into the cell's root,
 * level process allows it with Landlock.
 */
typedef void dw_host_paths_fn(struct dw_plan_builder *plan, const char *path);

/* The host's programs and libraries, and the parts of /etc that they need. */
void dw_host_paths_host(struct dw_plan_builder *plan, dw_host_paths_fn *show);

/* Bind a host path at its own place in the cell; a link becomes the same link. */
void dw_host_paths_bind(struct dw_plan_builder *plan, const char *path);

/* Bind the root file system in folder image, except what the cell provides itself. */
int dw_host_paths_image(struct dw_plan_builder *plan, const char *image,
                        struct dw_error *err);

/* Landlock's rules in a cell with its own root: read all, write to its own folders. */
void dw_host_paths_allow_root(struct dw_plan_builder *plan);

/*
 * Check the request's workspace and writable paths, make them absolute, and pass each to
 * fn with its path in the cell. A writable path is relative to the workspace, or a path
 * of the host.
 */
typedef void dw_host_paths_share_fn(struct dw_plan_builder *plan, const char *host,
                                    const char *cell, bool writable);
int dw_host_paths_shares(struct dw_plan_builder *plan, const struct dw_request *req,
                         dw_host_paths_share_fn *fn, struct dw_error *err);

/* ---- allowed_commands.c: the request's list of commands ---- */

/*
 * Let the cell execute only the named programs, the request's interpreter, and what these
 * cannot start without: a dynamic loader, the interpreter of a script. A cell with its
 * own root sees only these files in the folders for programs, and everything that it can
 * write to or that the caller shares is on a noexec mount. Landlock refuses to execute
 * every other file; in a cell without its own root, only Landlock does. Call it last.
 */
int dw_allowed_plan(struct dw_launched *l, struct dw_error *err);

/* Level process: allow reading, except of the folders with programs. */
void dw_allowed_show(struct dw_plan_builder *plan, const char *path);

/* ---- pasta.c: network "full" ---- */

/*
 * pasta connects the cell's network namespace to the host's sockets. The cell's packets
 * are never on the host's network, and it cannot reach the host's loopback.
 */

/* Where the cell sends DNS queries; pasta passes them to the host's resolver. */
#define DW_PASTA_DNS "169.254.1.53"

/* Returns 0 if pasta is installed and may be used. */
int dw_pasta_probe(struct dw_error *err);

/*
 * Connect the network namespace of a cell's init, before the deadline (base/clock.h).
 * *ret_pid is a monitor, which kills pasta at dw_pasta_stop() or when that init is gone.
 */
int dw_pasta_start(int target, uint64_t deadline_ms, int *ret_pid, struct dw_error *err);

/* Accepts 0. */
void dw_pasta_stop(int pid);

/* ---- spawn.c ---- */

/*
 * Start dewar-launch with fds as its descriptors 0, 1, 2 and DW_LAUNCH_FD; it waits for
 * its plan. *ret_cpus are the cpus of the caller, which the program gets, too.
 * dewar-launch is born in cgroup, a version 2 folder, or in ours if that is -1.
 */
int dw_spawn_launcher(const int fds[DW_LAUNCH_FD + 1], int cgroup, int *ret_pid,
                      cpu_set_t *ret_cpus, struct dw_error *err);

/* Start dewar-docker with fds as its descriptors 0 to 3; it waits for its order. */
int dw_spawn_docker(const int fds[DW_LAUNCH_FD + 1], int *ret_pid, struct dw_error *err);

/* Start dewar-scope: it gets a scope from systemd and becomes a fork server there. */
int dw_spawn_scope(int sock, int *ret_pid, struct dw_error *err);

/*
 * A launcher that stays and forks others (launch/fork_server.c). May be used from any
 * thread. If it has died, dw_spawn_launcher() still works.
 */
struct dw_fork_server {
	pthread_mutex_t lock;
	int sock;
	int pid;
};

int dw_fork_server_start(struct dw_fork_server *s, struct dw_error *err);
void dw_fork_server_stop(struct dw_fork_server *s);

/* As dw_spawn_launcher(); -1 if the fork server has died, or could not fork. */
int dw_fork_server_fork(struct dw_fork_server *s, const int fds[DW_LAUNCH_FD + 1],
                        int cgroup, int *ret_pid, cpu_set_t *ret_cpus);

/* ---- scope.c: a scope of systemd as the parent of version 2's groups ---- */

/*
 * If we may not divide our own group (cgroup/parent.c), dewar-scope gets a scope from
 * systemd and becomes a fork server in it, whose children are born there. We stay where
 * we are: only systemd may move processes between the two groups.
 */

/* Find the parent. Call it first: children in our group prevent us from dividing it. */
void dw_cgroup_scope_settle(void);

/* The fork server in the scope, or NULL. */
struct dw_fork_server *dw_cgroup_scope_launcher(void);

/* ---- limits: enforce.c ---- */

/*
 * Decide, for a cell that dewar-launch builds, what enforces each limit: a cgroup where
 * the host permits one, else an rlimit, else sampling by init. Creates the cgroups,
 * writes the other limits into the plan, and the decision into outcome.limits. Returns -1
 * if a limit that only a cgroup can enforce cannot be enforced.
 */
int dw_limits_plan(struct dw_launched *l, struct dw_error *err);

/* Returns true if a forked program may have a process beside it that holds its memory. */
bool dw_limits_may_hold(const struct dw_launched *l);

/* Take over the limits of the request, for a cell that was built before it was known. */
void dw_limits_adopt(struct dw_launched *l);

/* When the program begins: start to watch the limits; yield if the request says so. */
void dw_limits_begin(struct dw_launched *l);

/* Fill in the kernel's values of the limits, from the walls that were read back. */
void dw_limits_read_back(struct dw_launched *l);

#endif
