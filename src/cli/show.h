/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_SHOW_H
#define DW_CLI_SHOW_H

#include <jansson.h>

#include "approvals/approvals.h"
#include "audit/audit.h"

/* ---- approve_print.c ---- */

/*
 * Printing approvals for the person who decides. The caller chooses their text, so
 * characters that a terminal acts on or hides are printed as \u{1b}.
 */

/* One line. */
void dw_approve_print_row(const struct dw_approval *approval);
void dw_approve_print_memory(const struct dw_memory *memory);

/* All details, with line numbers for the code. */
void dw_approve_print(const struct dw_approval *approval);

/* ---- audit_print.c ---- */

/* Printing runs and records, which may hold text of a guest. */

/* One line. */
void dw_audit_print_row(const struct dw_audit_entry *entry);

/* All details, with the code. */
void dw_audit_print_run(const struct dw_audit_entry *entry);

/* {"id", "status", "intent": {...}, "end": {...} or null}; NULL if out of memory. */
json_t *dw_audit_run_json(const struct dw_audit_entry *entry);

void dw_audit_print_verdict(const struct dw_audit_verdict *verdict);
json_t *dw_audit_verdict_json(const struct dw_audit_verdict *verdict);

#endif
