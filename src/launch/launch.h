/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LAUNCH_LAUNCH_H
#define DW_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "dewar/error.h"
#include "dewar/result.h"
#include "kernel/plan.h"
#include "kernel/report.h"

/*
 * The stages of dewar-launch. main.c has their order, and each file the
 * contract of its own. Nothing here allocates, logs, or runs a second thread.
 */

/* stage.c: where we are, for whoever has to explain why it went no further. */
extern enum dw_report_stage dw_launch_stage;

/*
 * nursery.c: start a process of a zygote's cell that makes the cells inside of it.
 * True in the first process of each of them, with its own plan.
 */
bool dw_nursery_start(int sock, int base_fd, struct dw_plan *plan);

/* main.c: a sealed plan, mapped and checked; the descriptor is closed. */
int dw_launch_map_plan(int fd, struct dw_plan *ret, struct dw_error *err);

/* serve.c: returns in a child, for one cell; never in the one who stays. */
void dw_launch_serve(void);

/* ids.c */
int dw_ids_become(uint32_t id, struct dw_error *err);
int dw_ids_map(uint32_t inside, uid_t uid, gid_t gid, struct dw_error *err);

/* Join the user namespace of a zygote, as the zygote's own user there. */
int dw_ids_join(int userns, bool root, uint32_t id, struct dw_error *err);

/* As root, or as one with the rights in the namespace outside: map for another. */
int dw_ids_map_for(pid_t pid, uint32_t inside, uint32_t outside, uint32_t count,
                   struct dw_error *err);
int dw_ids_take(uint32_t id, struct dw_error *err);

/* idmap.c: let the owner of a tree be seen as id, on the detached mount fd. */
int dw_idmap(int mount_fd, uint32_t id, struct dw_error *err);

/* An O_PATH descriptor, if no part of the path is a link; -1 and errno. */
int dw_open_exact(const char *path);

/*
 * mounts.c. Sources are detached copies of host trees, one a plan entry, -1
 * where the entry has none.
 */
struct dw_sources {
	int fd[DW_PLAN_ENTRIES_MAX];
};
int dw_sources_open(const struct dw_plan *plan, struct dw_sources *ret,
                    struct dw_error *err);
int dw_mounts_build(const struct dw_plan *plan, const struct dw_sources *sources,
                    struct dw_error *err);

/* For a copy of a tree that was built so: what is writable in it is made anew. */
int dw_mounts_renew(const struct dw_plan *plan, struct dw_error *err);

/* files.c: DIR, SYMLINK and FILE entries, below the current folder or the host's root. */
int dw_files_make(const struct dw_plan *plan, const struct dw_plan_entry *entry,
                  struct dw_error *err);

/* net.c */
int dw_net_loopback_up(struct dw_error *err);
void dw_net_disable_dad(void);

/* How many links (RTM_GETLINK) or routes (RTM_GETROUTE) there are besides loopback's. */
int dw_net_count(uint16_t what);
int dw_net_keep_loopback_inside(struct dw_error *err);

/* clone.c: as clone3(), or as clone() where there is only that. */
struct clone_args;
long dw_clone(const struct clone_args *args);

/* caps.c. With must, anything that could not be dropped is an error. */
int dw_caps_drop(bool must, struct dw_error *err);

/*
 * landlock.c. *ret_abi is 0, and there is no ruleset, where the kernel has no
 * Landlock. The ruleset is a descriptor, for the program to enter.
 */
int dw_landlock_apply(const struct dw_plan *plan, int *ret_abi, struct dw_error *err);
int dw_landlock_ruleset(const struct dw_plan *plan, int *ret_abi, int *ret_fd,
                        struct dw_error *err);

/*
 * readback.c: the walls of the program, as the kernel has them. First what the
 * process has of its own (pid 0: the calling one), then what all of the cell shares.
 */
void dw_readback_own(pid_t pid, int landlock_abi, struct dw_walls *ret);
void dw_readback_shared(struct dw_walls *walls);

/* What may be executed; -1 if the kernel would let what is refused be executed. */
int dw_readback_commands(const struct dw_plan *plan, struct dw_walls *walls,
                         struct dw_error *err);

/* Does the process have all the namespaces that we have? */
bool dw_readback_shares_all(pid_t pid, const struct dw_walls *shared);

/* What was read of the cell before there was a program, beside what is the program's. */
void dw_readback_join(const struct dw_walls *shared, struct dw_walls *own);

/*
 * program.c: from the fork to the program's first instruction; does not return.
 * letter is a socket for the program, if the plan says so.
 */
_Noreturn void dw_program_start(const struct dw_plan *plan, int letter);

/* The part of it before the exec: session, folder, limits, Landlock, seccomp. */
int dw_program_raise_walls(const struct dw_plan *plan, int *ret_abi,
                           struct dw_error *err);

/* The fork shares its memory with init: what the program's stage leaves for it. */
extern struct dw_walls dw_program_walls; /* not known: it failed, and said why */

/*
 * init.c: the cell's first process. Prepared before there is a program, so that
 * the program finds nothing open; then run until the cell's end.
 */
struct dw_init {
	int children_fd; /* tells when one has died */
	int oom_fd;      /* our own oom_score_adj, which the program is born with */
};
int dw_init_prepare(struct dw_init *ret, struct dw_error *err);
int dw_init_close(struct dw_error *err);
_Noreturn void dw_init_run(const struct dw_plan *plan, const struct dw_init *init,
                           pid_t program);

/* entered.c: wait for a program that a zygote forks into the cell; its pid. */
pid_t dw_entered_wait(const struct dw_plan *plan, struct dw_error *err);

/*
 * Who holds the memory of such a program (runners/hold.S), or 0: the one child that
 * the program has before it runs any code of a caller's.
 */
extern pid_t dw_entered_holder;
void dw_entered_find_holder(pid_t program);

/* A word of dewar's; false if it is anything else, or if dewar is gone. */
bool dw_entered_word(struct dw_word *ret);

/* sample.c */
struct dw_sample {
	uint64_t memory; /* bytes; shared pages once, as far as the kernel tells */
	uint64_t cpu_ms; /* of the living */
	uint64_t pids;   /* processes and threads */
};

/* peak is the most memory that was seen before. */
void dw_sample_take(uint64_t memory_limit, uint64_t peak, struct dw_sample *ret);

/* Which limit is passed of those that are sampled, or DW_REASON_EXIT. Keeps the peaks. */
enum dw_reason dw_sample_check(const struct dw_plan_header *h, struct dw_report_end *end);

/* CPU time of all that has ended below us, and was waited for. */
uint64_t dw_sample_dead_cpu_ns(void);

/*
 * The text of /proc/PID/stat, after the name, which may hold anything: field 3 is
 * the state; 14 to 17 the times, its own and of the children it has buried, 20
 * the threads, 24 the resident pages.
 */
bool dw_sample_parse_stat(const char *text, char *ret_state, uint64_t field[25]);

/* procs.c: how many there are, put into list, which has room for the most. */
#define DW_PROCS_MAX 4096
size_t dw_procs_list(pid_t *list);

/* The names in a folder that are numbers; how many were put into list. */
size_t dw_procs_numbers(const char *path, pid_t *list, size_t max);

/* Send a signal to all of them; how many there were. */
unsigned dw_procs_signal(int sig);

/* Bury whoever has died; true once that was the program. */
bool dw_procs_reap(pid_t program, int *ret_status);

/* Report the error and end. */
_Noreturn void dw_launch_die(const struct dw_error *err);

#endif
