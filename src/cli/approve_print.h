/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_APPROVE_PRINT_H
#define DW_CLI_APPROVE_PRINT_H

#include "approvals/approvals.h"

/*
 * How questions are shown to who decides. All of it may be chosen by who wants the
 * yes, so whatever a terminal would act on, or not show, is shown as \u{1b}.
 */

/* One line each. */
void dw_approve_print_row(const struct dw_approval *approval);
void dw_approve_print_memory(const struct dw_memory *memory);

/* All there is to know, code with the numbers of its lines. */
void dw_approve_print(const struct dw_approval *approval);

#endif
