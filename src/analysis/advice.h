/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_ANALYSIS_ADVICE_H
#define DW_ANALYSIS_ADVICE_H

#include <jansson.h>

#include "analysis/analyse.h"
#include "analysis/shell.h"

/*
 * Findings for the front doors: as JSON, and as SARIF, which code hosts and editors
 * read.
 */

/* [{"rule", "line", "column", "severity", "message"}]; NULL if out of memory. */
json_t *dw_advice_json(const struct dw_findings *findings);

/* A log of SARIF 2.1.0 with one run. file is the name to show. */
json_t *dw_advice_sarif(const struct dw_findings *findings, const char *file);

/*
 * Check the commands of a shell script against an allow-list, and add the findings. names
 * ends in NULL; if it is NULL, the default list is used. Redirections may write only
 * below the folders in write_below, which ends in NULL, or is NULL for none.
 */
int dw_advice_commands(const char *code, size_t len, const char *const *names,
                       const char *const *write_below, struct dw_findings *findings,
                       struct dw_error *err);

#endif
