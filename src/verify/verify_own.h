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
	const char *attacks; /* the program that contains all attacks in C */
	const char *image;   /* the image for level docker, or NULL for its default */
	const char *runtime; /* the engine's runtime, or NULL for its default */
};

/* ---- the range (range.c) ---- */

/* A path of the host that is covered by a planted file or folder. */
struct dw_cover {
	const char *name; /* of the planted path; attacks see folders as DW_MNT, ... */
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
 *   user     only for a plain user, who gets all capabilities in the range
 *
 * An engine creates its containers from its own mounts, processes and network. So the
 * attempts at its level run on the host: in the namespaces in which the suite was
 * started, with a real folder for planted files, and without changing any name, mount or
 * packet filter of the host.
 */
struct dw_range {
	char base[40]; /* the folder of planted files */
	bool root;     /* the suite runs as root of the host */
	bool on_host;  /* the attempts run on the host, not in the range */
	int hangup_fd; /* on the host: hangs up when the suite ends; otherwise -1 */
	struct dw_cover places[8]; /* covered folders; the last row has no name */
	struct dw_cover files[4];  /* covered files of /etc; the last row has no name */
	char attacks[256]; /* the attacks in C, at their path in a warm cell, or "" */
};

#define DW_RANGE_PATH_MAX 128

/* Write BASE/NAME to ret, and return ret. */
const char *dw_range_path(const struct dw_range *range, const char *name,
                          char ret[static DW_RANGE_PATH_MAX]);

/*
 * Create the range, and return in a child that is its pid 1. The calling process
 * waits for the child, forwards signals to it, and exits with its status. The
 * programs of tools stay visible in the range.
 */
int dw_range_enter(struct dw_range *range, const struct dw_tools *tools,
                   struct dw_error *err);

/* Unblock SIGINT, SIGTERM and SIGHUP, which dw_range_enter() blocks. */
void dw_range_take_signals(void);

/*
 * Cover files again that another program has replaced, as useradd replaces
 * /etc/shadow: when a file is replaced, the kernel removes the mount on the old
 * file.
 */
void dw_range_recover_files(const struct dw_range *range);

/* Set up the host itself instead of a range, with a new folder for planted files. */
int dw_range_on_host(struct dw_range *range, int hangup_fd, struct dw_error *err);
void dw_range_leave(const struct dw_range *range);

/*
 * Enter a new network namespace, in which no packet has been sent yet: in an old
 * one, the kernel may retransmit packets of an earlier attack much later.
 */
int dw_range_new_network(struct dw_error *err);

/* ---- services that attacks try to reach (listeners.c) ---- */

#define DW_LISTEN_MAX 20

/*
 * Sockets that answer with the secret: IP sockets, unix sockets and abstract unix
 * sockets.
 */
struct dw_listeners {
	struct pollfd fds[DW_LISTEN_MAX];
	const char *names[DW_LISTEN_MAX];
	size_t n;
	uint16_t port;
	char abstract[40]; /* without the leading NUL */
	char abstract_log[40];
};

/*
 * Listen in the current network namespace: in the range at all addresses, on the
 * host only on the loopback interface, at unused ports and names.
 */
int dw_listen_open(struct dw_listeners *l, const struct dw_range *range,
                   struct dw_error *err);
void dw_listen_close(struct dw_listeners *l);

/*
 * Answer clients with the secret. If ret is empty, write to it which listener was
 * reached.
 */
void dw_listen_serve(struct dw_listeners *l, const char *secret, char *ret, size_t size);

/* Returns true if the current network has carried a packet. */
bool dw_listen_saw_packets(void);

/* ---- processes, inspected from outside (host_procs.c) ---- */

/*
 * The processes of an attempt are all that have its nonce in their environment. In
 * the range, all processes of a cell with a holding process belong to it as well,
 * because a process forked from a zygote shows the zygote's environment.
 */

#define DW_PROCS_MAX 4096

/* List the processes of an attempt in ret. Returns their number. */
size_t dw_procs_list(const char *nonce, pid_t *ret, size_t max);

/*
 * Returns the content of a file of /proc/PID, with NULs replaced by newlines, to be
 * freed with free(); NULL if the file cannot be read.
 */
char *dw_procs_read(pid_t pid, const char *name);

/*
 * Returns the number behind a field of /proc/PID/FILE, such as "PPid:"; 0 if there
 * is no such field.
 */
unsigned long long dw_procs_field(pid_t pid, const char *file, const char *field);

enum dw_stat_field {
	DW_STAT_NICE = 19,
	DW_STAT_PRIORITY = 40, /* the priority under a real-time policy */
	DW_STAT_POLICY = 41
};

/* Returns a field of /proc/PID/stat, numbered as in proc(5); 0 if it is unknown. */
long dw_procs_stat(pid_t pid, enum dw_stat_field field);

/*
 * Returns true if a process of the attempt holds: it has named itself "dw-hold" and
 * waits to be inspected.
 */
bool dw_procs_is_holding(const char *nonce);

/*
 * Returns true, with a description in ret, if a process other than the witness is
 * left.
 */
bool dw_procs_left(const char *nonce, pid_t witness, char *ret, size_t size);

/* Kill all processes of the range or, on the host, those of the attempt. */
void dw_procs_kill(const char *nonce);

/*
 * Returns true if a process of the attempt has a network in which a packet was sent,
 * loopback aside.
 */
bool dw_procs_sent_packet(const char *nonce);

/* ---- the witness (witness.c) ---- */

/*
 * A host process for attacks to target: it has the user's id and no capability, keeps
 * a secret in its memory, environment, arguments and an open file, and reports signals.
 */
struct dw_witness {
	pid_t pid;
	int fd;           /* the witness writes a line to this pipe for each signal */
	uintptr_t memory; /* the address of the secret in the witness */
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

/* ---- the environment of one attempt (fixture.c) ---- */

/*
 * What each attempt gets: new secrets wherever an attack may look, a new witness,
 * and a snapshot.
 */
struct dw_fixture {
	const struct dw_range *range;
	const struct dw_listeners *listeners;
	bool out_is_writable;     /* the cell may write to ws/out */
	char nonce[DW_NONCE_MAX]; /* in the environment of all processes of the attempt */
	char secret[DW_SECRET_MAX]; /* must not get out; of two cells, the first one's */
	char word[DW_SECRET_MAX]; /* the second cell's, which must not reach the first */
	struct dw_witness witness;
	char *files;     /* snapshot of the planted files */
	char *leftovers; /* snapshot of everything that an attack might leave behind */
};

int dw_fixture_create(struct dw_fixture *fixture, const struct dw_range *range,
                      const struct dw_listeners *listeners,
                      const struct dw_attack *attack, struct dw_error *err);
void dw_fixture_remove(struct dw_fixture *fixture);

/*
 * Write the variables for an attack, such as "DW_FLAG=...", to ret: each ends with a
 * NUL, the last with two. role is "first", "second", or "" if there is only one
 * cell.
 */
void dw_fixture_env(const struct dw_fixture *fixture, const char *role,
                    char ret[static DW_ENV_MAX]);

/* Join the cgroup whose name contains the secret, if there is one. */
void dw_fixture_join_cgroup(const struct dw_fixture *fixture);

/* ---- traces of an attack on the host (snapshot.c) ---- */

/*
 * Remember the cgroups that exist; call this once, before the first attempt. Their
 * names contain the number of a pid namespace, which the kernel may reuse.
 */
void dw_snapshot_init(void);

int dw_snapshot_take(struct dw_fixture *fixture, struct dw_error *err);

/*
 * Returns true if a planted file was changed, or if a file whose name contains the
 * nonce was created in a public folder.
 */
bool dw_snapshot_files_changed(const struct dw_fixture *fixture, char *ret, size_t size);

/* Returns true if a process, mount, file, queue, key or cgroup was left behind. */
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
	char storage[16384]; /* memory for copied words */
	size_t used;
};

/* Add words, up to a NULL. The strings must outlive the command line. */
void dw_argv_add(struct dw_argv *w, ...) __attribute__((sentinel));
void dw_argv_add_copy(struct dw_argv *w, const char *word);

/* Add the options of an attack, with "{base}" replaced by base. */
void dw_argv_add_options(struct dw_argv *w, const char *options, const char *base);

/*
 * Returns the interpreter of a language, and the file name for its code in
 * *ret_file; NULL if unknown.
 */
const char *dw_argv_interpreter(const char *language, const char **ret_file);

/*
 * Returns the code with which a warm Python performs the attack, and adds its
 * arguments to args. The code executes an attack in another language, which keeps
 * every wall. attacks is the path in the cell of the program with the attacks in C.
 */
const char *dw_argv_warm(struct dw_argv *args, const struct dw_attack *attack,
                         const char *attacks);

/* ---- attacker processes (attacker.c) ---- */

/*
 * One program of an attempt. In a cell, the process is `dewar run`; otherwise it is
 * the attack.
 */
struct dw_attacker {
	pid_t pid;            /* -1 once the process has ended */
	int pidfd;            /* becomes readable when the process ends */
	int fd[2];            /* stdout and stderr of the process, -1 once closed */
	struct dw_buf out[2]; /* what was read from fd */
	bool cell;   /* the attack runs in a cell, and stdout is a result of dewar */
	bool shared; /* the process serves both attackers (warm_pair.c) */
	int in; /* if shared: the descriptor for requests to the process; otherwise -1 */
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
 * Start a program in the same environment as dewar, with in as its stdin and more as
 * its descriptor 3. The function closes both descriptors.
 */
int dw_attacker_spawn(struct dw_attacker *attacker, const struct dw_argv *words, int in,
                      int more, const struct dw_fixture *fixture, struct dw_error *err);

/*
 * Read available output. Returns true once the attacker, or its share of the
 * process, has ended.
 */
bool dw_attacker_poll(struct dw_attacker *attacker);

/* Ask the process to end; dewar then prints the result so far. */
void dw_attacker_stop(const struct dw_attacker *attacker);

void dw_attacker_finish(struct dw_attacker *attacker);

/* ---- output of an attacker: untrusted (output.c) ---- */

/* The result that dewar printed, or NULL if there was no cell or no valid JSON. */
json_t *dw_output_result(const struct dw_attacker *attacker);

/*
 * Returns the output and the collected files, to be freed with free(). Without a
 * cell, files are collected as a naive caller would: links are followed.
 */
char *dw_output_text(const struct dw_attacker *attacker, const json_t *result,
                     const struct dw_attack *attack, const struct dw_range *range,
                     size_t *ret_len);

/*
 * Returns true if the result was forged. An attack that forges results exits with
 * DW_FORGER_EXIT, so a result with another exit code, or with a key "forged", is a
 * forgery, unless the attack failed early. Without a cell, the result is what a
 * careless caller would build by pasting the output into JSON.
 */
bool dw_output_is_forged(const struct dw_attacker *attacker, const json_t *result);

/* ---- two warm cells of one zygote (warm_pair.c) ---- */

/*
 * `dewar run` creates one cell and ends, and its zygote ends with it. So a process of the
 * suite that has a pool, as a daemon has, runs both attackers in warm cells.
 *
 *  suite ── one request per line, as JSON ──> dewar-pool ── results ──> one pipe each
 */
#define DW_WARM_PAIR_NAME "dewar-pool"
#define DW_WARM_PAIR_CELLS 2

/* The main() of the process with the pool; argv[1] is the target's way. */
_Noreturn void dw_warm_pair_main(char **argv);

/* Start the process with the pool, and the first attacker in it. */
int dw_warm_pair_start(struct dw_attacker attackers[DW_WARM_PAIR_CELLS],
                       const struct dw_attack *attack, const struct dw_target *at,
                       const struct dw_fixture *fixture, struct dw_error *err);

/* Start the second attacker. */
int dw_warm_pair_continue(struct dw_attacker attackers[DW_WARM_PAIR_CELLS],
                          const struct dw_attack *attack, const struct dw_target *at,
                          const struct dw_fixture *fixture, struct dw_error *err);

/* Both attackers have ended: let the process remove its cells and end. */
void dw_warm_pair_end(struct dw_attacker *first);

/* ---- oracles (oracle_*.c) ---- */

/*
 * Each function takes an oracle from the attack's file. It returns true, with the
 * evidence in ret, if the oracle fires, and false if it does not or is of another
 * kind. attacks/README.md lists the oracles.
 */

/* Check an oracle such as "held status ^Seccomp:.0", while the attack holds. */
bool dw_oracle_held(const char *nonce, const char *oracle, char *ret, size_t size);

/* Check an oracle such as "count processes > 40", while the attack holds. */
bool dw_oracle_count(const char *nonce, const char *oracle, char *ret, size_t size);

/* Check the output for an oracle such as "host boot-id". */
bool dw_oracle_host(const char *output, const char *oracle, char *ret, size_t size);

/* Returns true if the output contains the host's own name, domain or machine-id. */
bool dw_oracle_host_names(const char *output, char *ret, size_t size);

/* ---- one attempt (attempt.c) ---- */

/*
 * Try the attack at a level, or at DW_AT_BARE or DW_AT_ROOT. Returns 0 with *ret
 * filled in, which the caller frees with dw_observation_finish(), or -1 if the
 * attempt could not be set up.
 */
int dw_attempt(const struct dw_attack *attack, const struct dw_target *at,
               const struct dw_range *range, const struct dw_tools *tools,
               struct dw_observation *ret, struct dw_error *err);

/* ---- attempts on the host (host_worker.c) ---- */

/*
 * The host worker is a process that never enters the range. It serves the level whose
 * cells an engine creates: planted files and oracles must be where the engine is.
 *
 *  suite, in the range ── attack, target ──> host worker ── `dewar run` ──> engine
 *                      <── observation ─────
 *
 * The worker runs while the suite tries other targets. When the suite hangs up, the
 * worker removes its folder and ends. All three functions use the suite's end of the
 * socket.
 */
int dw_host_worker_start(const struct dw_tools *tools, int *ret_fd, struct dw_error *err);

/* Request an attempt. Answers come in the order of requests. */
int dw_host_worker_send(int fd, const struct dw_attack *attack,
                        const struct dw_target *at, struct dw_error *err);

/* Wait for the answer to the oldest request. Returns what dw_attempt() returned. */
int dw_host_worker_receive(int fd, struct dw_observation *ret, struct dw_error *err);

#endif
