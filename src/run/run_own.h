/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_RUN_OWN_H
#define DW_RUN_RUN_OWN_H

#include "base/buf.h"
#include "dewar/request.h"
#include "dewar/result.h"
#include "levels/level.h"

/* Private to src/run: what dw_run() does with a cell. */

/* ---- supervise.c ---- */

/* Why the supervisor ended a cell. */
enum dw_cause {
	DW_CAUSE_NONE = 0,
	DW_CAUSE_DEADLINE,
	DW_CAUSE_OUTPUT,
	DW_CAUSE_CANCELLED,
	DW_CAUSE_STUCK, /* the cell did not die when it was killed */
};

struct dw_supervised {
	enum dw_cause cause;
	struct dw_buf out[DW_STREAM_COUNT];
	bool truncated[DW_STREAM_COUNT];
	double run_ms; /* from the last wall to the end, as measured here; -1: never started */
};

/*
 * Supervise a started cell until its end: pass output and input on, and enforce the
 * deadline, the cap on output and the caller's cancellation. Returns once the cell has
 * ended and its output is read, and never much later than the deadline.
 */
void dw_supervise(struct dw_cell *cell, const struct dw_spec *spec,
                  struct dw_supervised *ret);

void dw_supervised_finish(struct dw_supervised *s);

/* ---- collect.c ---- */

/* Limits of what is copied out of a cell. */
#define DW_COLLECT_FILES_MAX 256U
#define DW_COLLECT_BYTES_MAX (64U << 20)
#define DW_COLLECT_LOOKS_MAX 20000U /* names examined */

/*
 * Copy the files that the request names from the folder tmp_fd of a cell that has ended
 * into res->files. Only regular files, never through a link. Adds a warning to
 * res->warnings for each file that cannot be copied. except is a name to skip.
 */
int dw_collect(struct dw_result *res, const struct dw_request *req, int tmp_fd,
               const char *except, struct dw_error *err);

/* Check that dw_collect() can look for the name or pattern. */
int dw_collect_check(const char *pattern, struct dw_error *err);

/* ---- verdict.c ---- */

/*
 * Derive status, reason, exit code, signal and hint from what was observed. The result
 * must already contain the output.
 */
void dw_verdict_run(struct dw_result *res, const struct dw_outcome *outcome,
                    enum dw_cause cause, const struct dw_spec *spec);

/* The program did not start, because of err. */
void dw_verdict_not_run(struct dw_result *res, const struct dw_error *err);

#endif
