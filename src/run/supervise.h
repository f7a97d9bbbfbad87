/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_SUPERVISE_H
#define DW_RUN_SUPERVISE_H

#include "base/buf.h"
#include "levels/level.h"

/* Why the supervisor ended a cell; 0 if it did not. */
enum dw_cause {
	DW_CAUSE_NONE = 0,
	DW_CAUSE_DEADLINE,
	DW_CAUSE_OUTPUT,
	DW_CAUSE_CANCELLED,
	DW_CAUSE_STUCK, /* it did not die when it was killed */
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

#endif
