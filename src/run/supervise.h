/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_SUPERVISE_H
#define DW_RUN_SUPERVISE_H

#include "base/buf.h"
#include "levels/level.h"

/* Why we ended a cell ourselves; 0 if we did not. */
enum dw_cause {
	DW_CAUSE_NONE = 0,
	DW_CAUSE_DEADLINE,
	DW_CAUSE_OUTPUT,
	DW_CAUSE_CANCELLED,
	DW_CAUSE_STUCK, /* it would not die */
};

struct dw_supervised {
	enum dw_cause cause;
	struct dw_buf out[DW_STREAM_COUNT];
	bool truncated[DW_STREAM_COUNT];
	double run_ms; /* from the walls to the end, as we saw it; -1 if never */
};

/*
 * See a started cell through to its end: output out, input in, the deadline,
 * the cap on output, the caller's change of mind. Returns once the cell is gone
 * and its output is read, and never much later than the deadline.
 */
void dw_supervise(struct dw_cell *cell, const struct dw_spec *spec,
                  struct dw_supervised *ret);

void dw_supervised_finish(struct dw_supervised *s);

#endif
