/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_VERIFY_OWN_H
#define DW_VERIFY_VERIFY_OWN_H

#include <poll.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "verify/verify.h"

/* The parts of dewar-verify; verify.h explains how they work together. */

extern const struct dw_attack dw_attacks[];
extern const size_t dw_n_attacks;

#define DW_NONCE_MAX 17
#define DW_SECRET_MAX 33
#define DW_ENV_MAX 4096

/* The programs that the suite runs, by full path. */
struct dw_tools {
	const char *dewar;
	const char *attacks; /* all attacks in C */
	const char *image;   /* for level docker, or NULL: its default */
	const char *runtime; /* of the engine, or NULL: its default */
};

/* ---- the range (range.c) ---- */

/* A path of the host that is covered by a planted one. */
struct dw_cover {
	const char *name; /* of the planted one; attacks see folders as DW_MNT, ... */
	const char *path;
};

/*
 * The range: namespaces of the suite, in which an attack may succeed without harm.
 *
 *   network  every address leads to the suite's listeners; a new one for each attempt
 *   mount    a tmpfs for planted files; some folders of the host, and /etc/shadow,
 *            /etc/machine-id and /etc/hostname, are covered by planted ones
 *   pid      nothing outlives the suite, and kill(-1) reaches no other process
 *   uts, ipc names and queues of the range
 *   user     unless the suite runs as root: it has all capabilities in the range
 *
 * An engine makes its containers from its own mounts, processes and network. So the
 * attempts at its level run on the host: in the namespaces that the suite was started
 * in, with a real folder for planted files, and without changing any name, mount or
 * packet filter of the host.
 */
struct dw_range {
	char base[40]; /* the folder of planted files */
	bool root;     /* of the host */
	bool on_host;  /* not a range, but the host as it is */
	int hangup_fd; /* on the host: hangs up when the suite ends; else -1 */
	struct dw_cover places[8]; /* folders; ends in a row without name */
	struct dw_cover files[4];  /* of /etc, likewise */
	char attacks[256];         /* the attacks in C, as seen by a warm cell, or "" */
};

#define DW_RANGE_PATH_MAX 128

/* BASE/NAME in ret, which is returned. */
const char *dw_range_path(const struct dw_range *range, const char *name,
                          char ret[static DW_RANGE_PATH_MAX]);

/*
 * Returns in a child that is pid 1 of the range; the calling process waits for it,
 * forwards signals to it, and ends with its status. The programs of tools stay visible.
 */
int dw_range_enter(struct dw_range *range, const struct dw_tools *tools,
                   struct dw_error *err);

/* Unblock SIGINT, SIGTERM and SIGHUP, which dw_range_enter() blocks. */
void dw_range_take_signals(void);

/*
 * Cover files again that another program has replaced, as useradd replaces /etc/shadow:
 * the kernel then removes the mount on the old file.
 */
void dw_range_recover_files(const struct dw_range *range);

/* The host itself, with a new folder for planted files. */
int dw_range_on_host(struct dw_range *range, int hangup_fd, struct dw_error *err);
void dw_range_leave(const struct dw_range *range);

/*
 * Enter a new network, which no packet has crossed yet: the kernel may retransmit
 * packets of an earlier attack much later.
 */
int dw_range_new_network(struct dw_error *err);

/* ---- services that attacks try to reach (listeners.c) ---- */

#define DW_LISTEN_MAX 20

/* Sockets that answer with the secret: IP at all addresses, unix and abstract. */
struct dw_listeners {
	struct pollfd fds[DW_LISTEN_MAX];
	const char *names[DW_LISTEN_MAX];
	size_t n;
	uint16_t port;
	char abstract[40]; /* without the leading NUL */
	char abstract_log[40];
};

/* In the current network. On the host only on its loopback, at unused ports and names. */
int dw_listen_open(struct dw_listeners *l, const struct dw_range *range,
                   struct dw_error *err);
void dw_listen_close(struct dw_listeners *l);

/* Answer clients with the secret. If ret is empty, it becomes the reached listener. */
void dw_listen_serve(struct dw_listeners *l, const char *secret, char *ret, size_t size);

/* Returns true if the current network has carried a packet. */
bool dw_listen_saw_packets(void);

/* ---- processes, seen from outside (host_procs.c) ---- */

/*
 * The processes of an attempt are those with its nonce in their environment and, in the
 * range, all in a cell that has a holding process: a process forked from a zygote shows
 * the zygote's environment.
 */

#define DW_PROCS_MAX 4096

/* Returns the number of processes of an attempt. */
size_t dw_procs_list(const char *nonce, pid_t *ret, size_t max);

/* A whole file of /proc/PID, with newlines for NULs; free() it. NULL if unreadable. */
char *dw_procs_read(pid_t pid, const char *name);

/* The number behind a field of /proc/PID/FILE, such as "PPid:"; 0 without that field. */
unsigned long long dw_procs_field(pid_t pid, const char *file, const char *field);

enum dw_stat_field {
	DW_STAT_NICE = 19,
	DW_STAT_PRIORITY = 40, /* of a real-time policy */
	DW_STAT_POLICY = 41
};

/* A field of /proc/PID/stat, numbered as in proc(5); 0 if unknown. */
long dw_procs_stat(pid_t pid, enum dw_stat_field field);

/* Returns true if a process waits for inspection: it has named itself "dw-hold". */
bool dw_procs_is_holding(const char *nonce);

/* Returns true if a process other than the witness is left. */
bool dw_procs_left(const char *nonce, pid_t witness, char *ret, size_t size);

/* Kill all processes of the range; on the host, those with the nonce. */
void dw_procs_kill(const char *nonce);

/* Returns true if one has sent a packet, other than by loopback. */
bool dw_procs_sent_packet(const char *nonce);

/* ---- the witness (witness.c) ---- */

/*
 * A host process for attacks to target: it has the user's id and no capability, keeps
 * a secret in its memory, environment, arguments and an open file, and reports signals.
 */
struct dw_witness {
	pid_t pid;
	int fd;           /* it writes a line for each signal */
	uintptr_t memory; /* the address of its secret */
	char before[8192];
};

#define DW_WITNESS_NAME "dewar-witness"

/* The main() of the witness. */
_Noreturn void dw_witness_main(char **argv);

int dw_witness_start(struct dw_witness *w, const char *secret, const char *flag,
                     struct dw_error *err);

/* Returns true, with the change in ret, if an attack has reached the witness. */
bool dw_witness_touched(const struct dw_witness *w, const char *secret, char *ret,
                        size_t size);

void dw_witness_end(struct dw_witness *w);

/* ---- the surroundings of one attempt (fixture.c) ---- */

/* Fresh secrets wherever an attack may look, a fresh witness, and a snapshot. */
struct dw_fixture {
	const struct dw_range *range;
	const struct dw_listeners *listeners;
	bool out_is_writable;       /* the cell may write to ws/out */
	char nonce[DW_NONCE_MAX];   /* in the environment of all its processes */
	char secret[DW_SECRET_MAX]; /* must not get out */
	char word[DW_SECRET_MAX];   /* must not get from a second cell to a first */
	struct dw_witness witness;
	char *files;     /* snapshot of the planted files */
	char *leftovers; /* snapshot of whatever an attack might leave behind */
};

int dw_fixture_create(struct dw_fixture *fixture, const struct dw_range *range,
                      const struct dw_listeners *listeners,
                      const struct dw_attack *attack, struct dw_error *err);
void dw_fixture_remove(struct dw_fixture *fixture);

/*
 * The variables that an attack gets, "DW_FLAG=...", each ended by a NUL, the last by
 * two. role: "first", "second", or "" if there is only one cell.
 */
void dw_fixture_env(const struct dw_fixture *fixture, const char *role,
                    char ret[static DW_ENV_MAX]);

/* Join a cgroup whose name holds the secret, if there is one. */
void dw_fixture_join_cgroup(const struct dw_fixture *fixture);

/* ---- traces of an attack on the host (snapshot.c) ---- */

/*
 * Once, before the first attempt: remember the cgroups that exist. Their names hold the
 * number of a pid namespace, which the kernel uses again.
 */
void dw_snapshot_init(void);

int dw_snapshot_take(struct dw_fixture *fixture, struct dw_error *err);

/* Returns true if a planted file was changed, or a file was created beside them. */
bool dw_snapshot_files_changed(const struct dw_fixture *fixture, char *ret, size_t size);

/* Returns true if a process, mount, file, queue, key or cgroup is left. */
bool dw_snapshot_leftovers(const struct dw_fixture *fixture, char *ret, size_t size);

/* Remove the leftovers, so that the next attack finds a clean range. */
void dw_snapshot_clean(const struct dw_fixture *fixture);

/* Remove the content of a folder. */
void dw_snapshot_empty(const char *path);

/* ---- command lines (argv.c) ---- */

#define DW_ARGV_MAX 128

/* Start from {0}. */
struct dw_argv {
	const char *argv[DW_ARGV_MAX];
	size_t n;
	char storage[16384]; /* for copied words */
	size_t used;
};

/* Add words, up to a NULL; they must outlive the command line. */
void dw_argv_add(struct dw_argv *w, ...) __attribute__((sentinel));
void dw_argv_add_copy(struct dw_argv *w, const char *word);

/* The options of an attack, with "{base}" replaced. */
void dw_argv_add_options(struct dw_argv *w, const char *options, const char *base);

/* The interpreter of a language, or NULL, and the file name for its code. */
const char *dw_argv_interpreter(const char *language, const char **ret_file);

/*
 * The code for a warm Python that performs the attack, and its arguments. An attack in
 * another language is exec'd, which keeps every wall. attacks: the path of the attacks
 * in C in the cell.
 */
const char *dw_argv_warm(struct dw_argv *args, const struct dw_attack *attack,
                         const char *attacks);

/* ---- attacker processes (attacker.c) ---- */

/* One program of an attempt, in a cell (then the process is dewar) or without one. */
struct dw_attacker {
	pid_t pid;            /* -1 once it has ended */
	int pidfd;            /* becomes readable when it ends */
	int fd[2];            /* its stdout and stderr, -1 once closed */
	struct dw_buf out[2]; /* its output */
	bool cell;            /* its stdout is a result of dewar */
	bool shared;          /* the process serves both attackers (warm_pair.c) */
	int in;               /* shared: where it reads requests, or -1 */
};

#define DW_AT_NONE "none" /* the level without walls */
#define DW_AT_BARE "bare" /* a "level": no cell */
#define DW_AT_ROOT "root" /* a "level": no cell, and all capabilities of the range */

void dw_attacker_init(struct dw_attacker *attacker);

int dw_attacker_start(struct dw_attacker *attacker, const struct dw_attack *attack,
                      const struct dw_target *at, const char *role,
                      const struct dw_fixture *fixture, const struct dw_tools *tools,
                      struct dw_error *err);

/*
 * Start a program as dewar is started, with in as its stdin and more as its
 * descriptor 3; both are closed here.
 */
int dw_attacker_spawn(struct dw_attacker *attacker, const struct dw_argv *words, int in,
                      int more, const struct dw_fixture *fixture, struct dw_error *err);

/* Read available output. Returns true once it, or its share of a process, has ended. */
bool dw_attacker_poll(struct dw_attacker *attacker);

/* Ask it to end; dewar then prints the result so far. */
void dw_attacker_stop(const struct dw_attacker *attacker);

void dw_attacker_finish(struct dw_attacker *attacker);

/* ---- output of an attacker, all of it hostile (output.c) ---- */

/* The result that dewar printed, or NULL if there was no cell or no valid JSON. */
json_t *dw_output_result(const struct dw_attacker *attacker);

/*
 * Its output and its collected files. Without a cell, files are collected as a naive
 * caller would: links are followed. free() it.
 */
char *dw_output_text(const struct dw_attacker *attacker, const json_t *result,
                     const struct dw_attack *attack, const struct dw_range *range,
                     size_t *ret_len);

/*
 * Returns true if the result was forged: such an attack exits with DW_FORGER_EXIT, so
 * another exit code, or a key "forged", is not the truth. Without a cell, the result is
 * what a careless caller would paste together.
 */
bool dw_output_is_forged(const struct dw_attacker *attacker, const json_t *result);

/* ---- two warm cells of one zygote (warm_pair.c) ---- */

/*
 * `dewar run` makes one cell and ends, and its zygote with it. So a process of the
 * suite with a pool, as a daemon has one, runs both attackers on warm cells.
 *
 *	suite ── a request per line, as JSON ──> dewar-pool ── results ──> a pipe each
 */
#define DW_WARM_PAIR_NAME "dewar-pool"
#define DW_WARM_PAIR_CELLS 2

/* The main() of that process; argv[1] is the target's way. */
_Noreturn void dw_warm_pair_main(char **argv);

/* Start it, and the first attacker in it. */
int dw_warm_pair_start(struct dw_attacker attackers[DW_WARM_PAIR_CELLS],
                       const struct dw_attack *attack, const struct dw_target *at,
                       const struct dw_fixture *fixture, struct dw_error *err);

/* Start the second attacker. */
int dw_warm_pair_continue(struct dw_attacker attackers[DW_WARM_PAIR_CELLS],
                          const struct dw_attack *attack, const struct dw_target *at,
                          const struct dw_fixture *fixture, struct dw_error *err);

/* Both have ended: let the process remove its cells and end. */
void dw_warm_pair_end(struct dw_attacker *first);

/* ---- oracles (oracle_*.c) ---- */

/*
 * Each takes an oracle of the attack's file, and returns true, with the evidence in
 * ret, if it fires; false if it is of another kind. attacks/README.md lists them.
 */

/* "held status ^Seccomp:.0", while the attack holds. */
bool dw_oracle_held(const char *nonce, const char *oracle, char *ret, size_t size);

/* "count processes > 40", while the attack holds. */
bool dw_oracle_count(const char *nonce, const char *oracle, char *ret, size_t size);

/* "host boot-id", in the output. */
bool dw_oracle_host(const char *output, const char *oracle, char *ret, size_t size);

/* The host's own name, domain or machine-id in the output. */
bool dw_oracle_host_names(const char *output, char *ret, size_t size);

/* ---- one attempt (attempt.c) ---- */

/*
 * Try the attack at a level, or at DW_AT_BARE or DW_AT_ROOT. 0 with *ret filled in,
 * for dw_observation_finish(); -1 if the range is broken.
 */
int dw_attempt(const struct dw_attack *attack, const struct dw_target *at,
               const struct dw_range *range, const struct dw_tools *tools,
               struct dw_observation *ret, struct dw_error *err);

/* ---- attempts on the host (host_worker.c) ---- */

/*
 * A process that never enters the range, for the level whose cells an engine makes:
 * planted files and oracles must be where the engine is.
 *
 *	suite, in the range ── attack, target ──> host worker ── `dewar run` ──> engine
 *	                    <── observation ─────
 *
 * It works while the suite tries other targets, and ends, with its folder, when the
 * suite hangs up. All three functions use the suite's end of the socket.
 */
int dw_host_worker_start(const struct dw_tools *tools, int *ret_fd, struct dw_error *err);

/* Request an attempt. Answers come in the order of requests. */
int dw_host_worker_send(int fd, const struct dw_attack *attack,
                        const struct dw_target *at, struct dw_error *err);

/* Wait for the answer to the oldest request. Returns what dw_attempt() returned. */
int dw_host_worker_receive(int fd, struct dw_observation *ret, struct dw_error *err);

#endif
