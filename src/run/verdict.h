/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_VERDICT_H
#define DW_RUN_VERDICT_H

#include "run/supervise.h"

/*
 * From what was seen to what is said: status, reason, exit code, signal and
 * hint. The output must be in the result already.
 */
void dw_verdict(struct dw_result *res, const struct dw_outcome *outcome,
                enum dw_cause cause, const struct dw_spec *spec);

/* The program never got to run, because of err. */
void dw_verdict_not_run(struct dw_result *res, const struct dw_error *err);

#endif
