/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_APPROVE_PRINT_H
#define DW_CLI_APPROVE_PRINT_H

#include "approvals/approvals.h"

/*
 * Printing questions for the person who decides. The caller chooses their text, so
 * characters that a terminal acts on or hides are printed as \u{1b}.
 */

/* One line. */
void dw_approve_print_row(const struct dw_approval *approval);
void dw_approve_print_memory(const struct dw_memory *memory);

/* All details, with line numbers for the code. */
void dw_approve_print(const struct dw_approval *approval);

#endif
