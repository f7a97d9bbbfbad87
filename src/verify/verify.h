/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_VERIFY_H
#define DW_VERIFY_VERIFY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "dewar/error.h"

/*
 * dewar-verify: the escape suite.
 *
 * Theory of operation
 *
 *  dewar verify ── execs ──> dewar-verify
 *                             │ range.c        the range: its own namespaces, in
 *                             │                which it is pid 1 and has all
 *                             │                capabilities, cut off from the
 *                             │                host's network and processes
 *                             │ fixture.c      plants secrets, starts the witness
 *                             │                and takes a snapshot
 *                             │ attempt.c      runs one attack: `dewar run` at a
 *                             │                level, or without any wall
 *                             │ oracle_*.c     inspect the attack from outside,
 *                             │ snapshot.c     and the host after it
 *                             │ judge.c        contained, escaped, not promised, or
 *                             │                cannot tell
 *                             │ host_worker.c  the same in a process on the host, for
 *                             │                the level whose cells an engine creates
 *                             └ show_*.c       text, JSON, HTML
 *
 * The installed dewar, run as the calling user, creates the attacked cells; unless that
 * user is root, dewar has no capability in the range. An attack never reports its own
 * success: the oracles, which decide, are outside of the cell. An attack only reports the
 * error that stopped it, and an error that its file does not list proves nothing.
 */

/* The exit code of an attack that forges results; all others exit with 0. */
#define DW_FORGER_EXIT 7

/* One attack, as its file describes it; attacks/README.md explains the fields. */
struct dw_attack {
	const char *name;
	const char *family;
	const char *path;
	const char *language; /* "" for C, which is part of dewar-attacks */
	const char *tries;
	const char *control; /* where the attack must succeed: none, bare or root */
	const char *cells;   /* one, pair (two at once), after (one after the other) */
	const char *options; /* for dewar run */
	const char *because; /* a remark for the reader, or "" */
	const char *promise; /* the promise that the attack tries to break */
	const char *const *oracles;
	const char *const *stops;
	const char *const *unpromised; /* condition, sentence, ..., NULL */
	const char *source;
};

enum dw_verdict {
	DW_CONTAINED = 0,
	DW_ESCAPED,
	DW_NOT_PROMISED,
	DW_CANNOT_TELL,
	DW_VERDICT_COUNT
};

/* The name of a verdict in JSON, such as "contained" or "not_promised". */
const char *dw_verdict_name(enum dw_verdict verdict);

#define DW_WAY_COLD "cold"

/* Where an attack is tried: a level, and how its cell starts. */
struct dw_target {
	const char *level;
	const char *way;     /* DW_WAY_COLD, or an argument of `dewar run --warm` */
	const char *title;   /* for the user */
	const char *runtime; /* of the engine, or NULL */
	bool on_host;        /* an engine creates its cells: see struct dw_range */
};

static inline bool dw_target_is_warm(const struct dw_target *target)
{
	return strcmp(target->way, DW_WAY_COLD) != 0;
}

/* Returns true if the engine's runtime has its own kernel, as gVisor does. */
static inline bool dw_runtime_has_kernel(const char *runtime)
{
	return runtime && strcmp(runtime, "runc") != 0 && strcmp(runtime, "crun") != 0 &&
	       strcmp(runtime, "youki") != 0;
}

/* What the oracles and the attack's output showed in one attempt. */
struct dw_observation {
	bool fired;       /* an oracle saw the attack succeed */
	bool root;        /* dewar-verify runs as root of the host */
	int landlock;     /* the Landlock ABI of this kernel, or 0 */
	char seen[256];   /* what the oracle saw */
	char failed[256]; /* why the attempt proves nothing, or "" */
	char *output;     /* stdout and stderr of all attackers */
	json_t *result;   /* the result of the cell that the verdict is about, or NULL */
};

void dw_observation_finish(struct dw_observation *observation);

/* The detail of a row whose target is warm, but whose cell started cold. */
#define DW_RAN_COLD "it ran cold"

/* The result of one attack at one target. */
struct dw_row {
	const struct dw_attack *attack;
	const struct dw_target *target;
	enum dw_verdict verdict;
	const char *wall; /* the wall that stopped the attack; NULL unless contained */
	enum dw_verdict control; /* DW_ESCAPED, as it should be, or DW_CANNOT_TELL */
	const char *control_at;  /* "level none", "no cell", ... */
	char detail[256]; /* what stopped it, what it reached, or why we cannot tell */
	char control_detail[256];
};

/* ---- verdicts (judge.c): pure functions of an observation ---- */

/* Fill in the row's control: does the attack work on this host without walls? */
void dw_judge_control(const struct dw_observation *outcome, struct dw_row *row);

/*
 * Fill in the row's verdict; its control must have been judged already. The verdict
 * is "contained" only if no oracle fired, the control succeeded, the attack's file
 * lists the error that the attack reports, and the run's proof shows a wall that
 * causes this error.
 */
void dw_judge(const struct dw_observation *outcome, struct dw_row *row);

/* ---- output (show_*.c) ---- */

struct dw_summary {
	size_t attacks;
	size_t by[DW_VERDICT_COUNT];
};

struct dw_rows {
	struct dw_row *list;
	size_t n;
	const struct dw_target *targets; /* in the order of the columns */
	size_t n_targets;
	const char *const *unavailable; /* level, reason, ..., NULL */
	const char *user;               /* "root" or "a plain user" */
};

/* Count the verdicts of the rows of a target, or of all rows if target is NULL. */
struct dw_summary dw_rows_sum(const struct dw_rows *rows, const struct dw_target *target);

int dw_show_text(const struct dw_rows *rows, bool colour);
int dw_show_json(const struct dw_rows *rows);
void dw_show_json_error(const struct dw_error *err);
int dw_show_html(const struct dw_rows *rows, int fd, struct dw_error *err);

#endif
