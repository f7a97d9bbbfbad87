/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_REFUSAL_CAUSE_H
#define DW_LEVELS_REFUSAL_CAUSE_H

#include "levels/host.h"
#include "wire/report.h"

/*
 * A cell could not be made: say who refused, and what would help, behind what the
 * launcher said. The words are the same for a run, the doctor and every other door:
 * "<what>: <errno>; <why>; try: <remedy>". Where nothing is found that could have
 * refused, the error stays as it is.
 */
void dw_refusal_cause_explain(enum dw_report_stage stage, struct dw_error *err);

/* The same for a host that is known: without looking. */
void dw_refusal_cause_explain_on(const struct dw_host *host, enum dw_report_stage stage,
                                 struct dw_error *err);

/* What follows the last "try: " in an error of ours, or "". */
const char *dw_refusal_cause_remedy(const char *text);

#endif
