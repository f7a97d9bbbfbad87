/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_AUDIT_PRINT_H
#define DW_CLI_AUDIT_PRINT_H

#include <jansson.h>

#include "audit/audit.h"

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
