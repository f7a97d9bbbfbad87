/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_VERDICT_H
#define DW_RUN_VERDICT_H

#include "run/supervise.h"

/*
 * Derive status, reason, exit code, signal and hint from what was observed. The result
 * must already contain the output.
 */
void dw_verdict_run(struct dw_result *res, const struct dw_outcome *outcome,
                    enum dw_cause cause, const struct dw_spec *spec);

/* The program did not start, because of err. */
void dw_verdict_not_run(struct dw_result *res, const struct dw_error *err);

#endif
