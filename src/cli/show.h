/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_SHOW_H
#define DW_CLI_SHOW_H

#include <jansson.h>

#include "approvals/approvals.h"
#include "audit/audit.h"

/* ---- approve_print.c ---- */

/*
 * Prints approvals for the person who decides. The caller chose their text, so characters
 * that a terminal hides or interprets are printed as, for example, \u{1b}.
 */

/* Print one line. */
void dw_approve_print_row(const struct dw_approval *approval);
void dw_approve_print_memory(const struct dw_memory *memory);

/* Print all details, and the code with line numbers. */
void dw_approve_print(const struct dw_approval *approval);

/* ---- audit_print.c ---- */

/* Prints runs and records, which may contain output of a program. */

/* Print one line. */
void dw_audit_print_row(const struct dw_audit_entry *entry);

/* Print all details, and the code. */
void dw_audit_print_run(const struct dw_audit_entry *entry);

/*
 * Returns {"id", "status", "intent": {...}, "end": {...} or null}; NULL if memory runs
 * out.
 */
json_t *dw_audit_run_json(const struct dw_audit_entry *entry);

void dw_audit_print_verdict(const struct dw_audit_verdict *verdict);
json_t *dw_audit_verdict_json(const struct dw_audit_verdict *verdict);

#endif
