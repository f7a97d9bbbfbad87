/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_VERIFY_H
#define DW_VERIFY_VERIFY_H

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
 *	                           │ range.c    namespaces of its own, in which it is
 *	                           │            pid 1 and may do what root does:
 *	                           │            the range. Nothing in it reaches the
 *	                           │            host's network, names or processes
 *	                           │ stage.c    plants secrets; starts the witness
 *	                           │            and the listeners
 *	                           │ attempt.c  runs one attack: `dewar run` at a
 *	                           │            level, or without any wall
 *	                           │ look.c     looks at its processes from outside
 *	                           │ judge.c    contained, escaped, not promised, or
 *	                           │            cannot tell
 *	                           │ outside.c  the same in a process that has
 *	                           │            stayed outside, for the level
 *	                           │            whose cells an engine makes
 *	                           └ show_*.c   the table, JSON, the page
 *
 * Cells are made by the dewar that users have, run by the user that asked, who
 * has no capability in the range. Whether an attack got through is never its own
 * word: the oracles are outside of the cell. What an attack does say is how it
 * was stopped, and an answer that its file does not expect is no proof.
 */

#define DW_NONCE_MAX 17
#define DW_SECRET_MAX 33
#define DW_FORGER_EXIT \
	7 /* how an attack that forges results really ends; others with 0 */

/* One attack, as its file describes it; attacks/README.md explains the words. */
struct dw_attack {
	const char *name;
	const char *family;
	const char *path;
	const char *language; /* "" for one in C, which is part of dewar-attacks */
	const char *tries;
	const char *control; /* none, bare, root */
	const char *cells;   /* one, pair, after */
	const char *options; /* for dewar run */
	const char *because; /* what a reader should know, or "" */
	const char *promise; /* the sentence */
	const char *const *oracles;
	const char *const *stops;
	const char *const *unpromised; /* level, sentence, ..., NULL */
	const char *source;
};

extern const struct dw_attack dw_attacks[];
extern const size_t dw_n_attacks;

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

/* Where an attack is tried: a level, and how the cell comes to be. */
struct dw_target {
	const char *level;
	const char *way;     /* DW_WAY_COLD, or as `dewar run --warm` has it */
	const char *title;   /* for people */
	const char *runtime; /* of the engine, or NULL */
};

static inline bool dw_target_is_warm(const struct dw_target *target)
{
	return strcmp(target->way, DW_WAY_COLD) != 0;
}

#define DW_LEVEL_OUTSIDE "docker" /* whose cells an engine makes: range.h */

static inline bool dw_target_is_outside(const struct dw_target *target)
{
	return strcmp(target->level, DW_LEVEL_OUTSIDE) == 0;
}

/* Does a runtime of an engine bring a kernel along, as gVisor does? NULL: the engine's. */
static inline bool dw_runtime_has_kernel(const char *runtime)
{
	return runtime && strcmp(runtime, "runc") != 0 && strcmp(runtime, "crun") != 0 &&
	       strcmp(runtime, "youki") != 0;
}

/* One attack at one place. */
struct dw_row {
	const struct dw_attack *attack;
	const struct dw_target *target;
	enum dw_verdict verdict;
	const char *wall;        /* NULL unless contained */
	enum dw_verdict control; /* ESCAPED, as it must be, or CANNOT_TELL */
	const char *control_at;  /* "level none", "no cell", "root of the range" */
	char detail[256]; /* how it was stopped, what got out, why we cannot tell */
	char control_detail[256];
};

struct dw_summary {
	size_t attacks;
	size_t by[DW_VERDICT_COUNT];
};

struct dw_rows {
	struct dw_row *list;
	size_t n;
	const struct dw_target *targets; /* those that were tried, in order */
	size_t n_targets;
	const char *const *absent; /* level, reason, ..., NULL */
	const char *user;          /* "root" or "a plain user" */
};

/* target NULL: all of them. */
struct dw_summary dw_rows_sum(const struct dw_rows *rows, const struct dw_target *target);

int dw_show_text(const struct dw_rows *rows, bool colour);
int dw_show_json(const struct dw_rows *rows);
void dw_show_json_error(const struct dw_error *err);
int dw_show_html(const struct dw_rows *rows, int fd, struct dw_error *err);

#endif
