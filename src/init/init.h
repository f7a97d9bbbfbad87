/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_INIT_INIT_H
#define DW_INIT_INIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "dewar/error.h"
#include "dewar/result.h"
#include "wire/plan.h"
#include "wire/report.h"

/*
 * The first process of a cell, and the last walls of its program. None of it needs
 * privilege: dewar-launch runs it once a cell is built, dewar-guest in a container
 * that an engine built. Nothing here allocates, logs, or runs a second thread.
 */

/*
 * Report the error and end. Each program that links this folder defines it; the
 * program's own stage calls it too, between vfork() and exec.
 */
_Noreturn void dw_init_die(const struct dw_error *err);

/* caps.c: set no_new_privs and drop all capabilities; with must, all or fail. */
int dw_caps_drop(bool must, struct dw_error *err);

/*
 * landlock.c: enter the plan's Landlock domain, or create the ruleset in *ret_fd for
 * another process to enter. If the kernel has no Landlock, *ret_abi is 0 and *ret_fd -1.
 */
int dw_landlock_apply(const struct dw_plan *plan, int *ret_abi, struct dw_error *err);
int dw_landlock_ruleset(const struct dw_plan *plan, int *ret_abi, int *ret_fd,
                        struct dw_error *err);

/*
 * Open with O_PATH. Returns -1 with errno set, also if a folder of the path is a link. If
 * the last component is a link, the descriptor is that of the link itself.
 */
int dw_open_exact(const char *path);

/*
 * readback.c: the program's walls, as the kernel reports them: those of the process
 * itself (pid 0: the calling process), and those that the whole cell shares.
 */
void dw_readback_own(pid_t pid, int landlock_abi, struct dw_walls *ret);
void dw_readback_shared(struct dw_walls *walls);

/* Count the allowed commands; fails if the kernel would execute a refused one. */
int dw_readback_commands(const struct dw_plan *plan, struct dw_walls *walls,
                         struct dw_error *err);

/* Returns true if the process is in all of our namespaces. */
bool dw_readback_shares_all(pid_t pid, const struct dw_walls *shared);

/* Copy the cell's shared walls, read before there was a program, into own. */
void dw_readback_join(const struct dw_walls *shared, struct dw_walls *own);

/* net_count.c: count links (RTM_GETLINK) or routes (RTM_GETROUTE) except lo's; or -1. */
int dw_net_count(uint16_t what);

/*
 * program.c: from the fork to the program's first instruction; does not return.
 * job is the socket that the program waits on (DW_PLAN_JOB), or -1.
 */
_Noreturn void dw_program_start(const struct dw_plan *plan, int job);

/* The first part of dw_program_start(): session, folder, limits, Landlock, seccomp. */
int dw_program_raise_walls(const struct dw_plan *plan, int *ret_abi,
                           struct dw_error *err);

/*
 * The vforked program shares init's memory, and stores its walls here before it execs.
 * If known is false, it failed and has reported why.
 */
extern struct dw_walls dw_program_walls;

/*
 * init.c: the cell's first process. It is prepared before there is a program, so
 * that the program inherits nothing that is open; then it runs until the cell ends.
 */
struct dw_init {
	int children_fd; /* readable when a child has died */
	int oom_fd;      /* our own oom_score_adj, which the program inherits */
};
int dw_init_prepare(struct dw_init *ret, struct dw_error *err);

/*
 * If memory runs out, the kernel must kill the program, not init, which reports it. The
 * program inherits our score, FIRST, at the fork; then ours becomes LAST.
 */
#define DW_INIT_OOM_FIRST "1000"
#define DW_INIT_OOM_LAST "0"
void dw_init_set_oom(const struct dw_init *init, const char *score);

/* Close our memory, descriptors and executable to the program. */
int dw_init_close(struct dw_error *err);
_Noreturn void dw_init_run(const struct dw_plan *plan, const struct dw_init *init,
                           pid_t program);

/* Returns true if /tmp has no block or no inode left. */
bool dw_init_tmp_is_full(void);

/* The resident memory of the largest process that init has reaped, in bytes. */
uint64_t dw_init_max_rss(void);

/* entered.c: wait for a program that a zygote forks into the cell; returns its pid. */
pid_t dw_entered_wait(const struct dw_plan *plan, struct dw_error *err);

/*
 * The holder, which shares the memory of such a program (runners/hold.S), or 0. It is the
 * only child that the program has before it runs any code of a caller.
 */
extern pid_t dw_entered_holder;
void dw_entered_find_holder(pid_t program);

/* Receive a message from dewar. Returns false if it is malformed, or if dewar is gone. */
bool dw_entered_receive(struct dw_init_message *ret);

/* sample.c */
/* Take a sample and update the peaks. Returns the limit exceeded, or DW_REASON_EXIT. */
enum dw_reason dw_sample_check(const struct dw_plan_header *h, struct dw_report_end *end);

/* CPU time of all descendants that have ended and were reaped. */
uint64_t dw_sample_dead_cpu_ns(void);

/*
 * Parse the text of /proc/PID/stat from behind the name, which may hold any byte:
 * field 3 is the state; 14 to 17 are the times, its own and those of the children
 * that it has reaped; 20 the threads; 24 the resident pages.
 */
bool dw_sample_parse_stat(const char *text, char *ret_state, uint64_t field[25]);

/* procs.c: put the cell's processes into list, which has room for DW_PROCS_MAX. */
#define DW_PROCS_MAX 4096
size_t dw_procs_list(pid_t *list);

/* Put the names in a folder that are numbers into list; returns how many. */
size_t dw_procs_numbers(const char *path, pid_t *list, size_t max);

/* Send a signal to each of the cell's processes; returns how many there were. */
unsigned dw_procs_signal(int sig);

/* Reap all children that have died; returns true once the program was among them. */
bool dw_procs_reap(pid_t program, int *ret_status);

/* ---- seccomp.c ---- */

#define DW_SECCOMP_FILTERS 3 /* that dw_seccomp_load() loads */

/*
 * Load the filters of seccomp_table.h, for the calling thread and all that it will ever
 * start; they cannot be removed, and execve() keeps them. The caller has set
 * no_new_privs. On failure some filters may be loaded: the process must not run the
 * program.
 */
int dw_seccomp_load(struct dw_error *err);

/*
 * Load one more filter, before the others, that refuses memfd_create(): neither a mount
 * nor a Landlock rule can keep a file without a path from being executed.
 */
int dw_seccomp_forbid_memfd(struct dw_error *err);

#endif
