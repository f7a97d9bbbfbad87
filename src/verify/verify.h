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
 *	dewar verify ── execs ──> dewar-verify
 *	                           │ range.c        the range: its own namespaces, in
 *	                           │                which it is pid 1 and has all
 *	                           │                capabilities, cut off from the
 *	                           │                host's network and processes
 *	                           │ fixture.c      plants secrets, starts the witness
 *	                           │                and takes a snapshot
 *	                           │ attempt.c      runs one attack: `dewar run` at a
 *	                           │                level, or without any wall
 *	                           │ oracle_*.c     inspect the attack from outside,
 *	                           │ snapshot.c     and the host after it
 *	                           │ judge.c        contained, escaped, not promised, or
 *	                           │                cannot tell
 *	                           │ host_worker.c  the same in a process on the host, for
 *	                           │                the level whose cells an engine makes
 *	                           └ show_*.c       text, JSON, HTML
 *
 * The attacked cells are made by the installed dewar, run by the calling user, which
 * has no capability in the range. An attack never reports its own success: the oracles
 * are outside of the cell. It does report how it was stopped, and an answer that its
 * file does not expect proves nothing.
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
	const char *control; /* none, bare, root */
	const char *cells;   /* one, pair, after */
	const char *options; /* for dewar run */
	const char *because; /* a remark for the reader, or "" */
	const char *promise; /* the sentence */
	const char *const *oracles;
	const char *const *stops;
	const char *const *unpromised; /* level, sentence, ..., NULL */
	const char *source;
};

enum dw_verdict {
	DW_CONTAINED = 0,
	DW_ESCAPED,
	DW_NOT_PROMISED,
	DW_CANNOT_TELL,
	DW_VERDICT_COUNT
};

/* As in JSON: "contained", "not_promised". */
const char *dw_verdict_name(enum dw_verdict verdict);

#define DW_WAY_COLD "cold"

/* Where an attack is tried: a level, and how its cell starts. */
struct dw_target {
	const char *level;
	const char *way;     /* DW_WAY_COLD, or an argument of `dewar run --warm` */
	const char *title;   /* for people */
	const char *runtime; /* of the engine, or NULL */
	bool on_host;        /* an engine makes its cells: see struct dw_range */
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

/* What was seen of one attempt. */
struct dw_observation {
	bool fired;       /* an oracle saw the attack succeed */
	bool root;        /* dewar-verify runs as root of the host */
	int landlock;     /* the Landlock ABI of this kernel, or 0 */
	char seen[256];   /* by the oracle */
	char failed[256]; /* why the attempt proves nothing, or "" */
	char *output;     /* stdout and stderr of all attackers */
	json_t *result;   /* of the cell that the verdict is about, or NULL */
};

void dw_observation_finish(struct dw_observation *observation);

/* The detail of a row about warm cells whose cell was cold. */
#define DW_RAN_COLD "it ran cold"

/* One attack at one target. */
struct dw_row {
	const struct dw_attack *attack;
	const struct dw_target *target;
	enum dw_verdict verdict;
	const char *wall;        /* NULL unless contained */
	enum dw_verdict control; /* ESCAPED, as it must be, or CANNOT_TELL */
	const char *control_at;  /* "level none", "no cell", ... */
	char detail[256]; /* what stopped it, what got out, or why we cannot tell */
	char control_detail[256];
};

/* ---- verdicts (judge.c): pure functions of an observation ---- */

/* Fill in the row's control: does the attack work on this host without walls? */
void dw_judge_control(const struct dw_observation *outcome, struct dw_row *row);

/*
 * Fill in the row's verdict; its control has been judged. An attack is contained only
 * if no oracle fired, its control succeeded, its file expects the error that it
 * reports, and the run's proof shows a wall that causes this error.
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

/* target NULL: all of them. */
struct dw_summary dw_rows_sum(const struct dw_rows *rows, const struct dw_target *target);

int dw_show_text(const struct dw_rows *rows, bool colour);
int dw_show_json(const struct dw_rows *rows);
void dw_show_json_error(const struct dw_error *err);
int dw_show_html(const struct dw_rows *rows, int fd, struct dw_error *err);

#endif
