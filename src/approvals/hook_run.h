/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_APPROVALS_HOOK_RUN_H
#define DW_APPROVALS_HOOK_RUN_H

#include "approvals/hook.h"
#include "base/buf.h"

/*
 * Run the hook's program, or dewar-hook for a URL, with these bytes as its stdin, and
 * wait for its end. 0 if that was an exit with 0, in time, and with no more output than
 * fits in out; else -1, and err says what it was. detail as in struct dw_hook_answer.
 */
int dw_hook_run(const struct dw_hook *hook, const char *json, size_t len,
                struct dw_buf *out, char detail[DW_HOOK_REASON_MAX],
                struct dw_error *err);

/*
 * How dewar-hook is told where to send it, by its environment: arguments are for
 * everybody on the host to see, and addresses may hold secrets.
 */
#define DW_HOOK_URL_VARIABLE "DEWAR_HOOK_URL"
#define DW_HOOK_TIMEOUT_VARIABLE "DEWAR_HOOK_TIMEOUT_MS"

#endif
