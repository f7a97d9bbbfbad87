/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_CHECK_H
#define DW_RUN_CHECK_H

#include "dewar/request.h"

/* Ceilings of one request. */
#define DW_CODE_MAX (64U << 20)
#define DW_FILES_MAX 256U
#define DW_FILES_BYTES_MAX (256U << 20)
#define DW_ARGS_MAX 4096U
#define DW_COMMANDS_MAX 64U /* each costs a cell up to four entries of its plan */
#define DW_MODULES_MAX 256U
#define DW_ALLOWED_NAME_MAX 128U

/* Does the request make sense? DW_E_INVALID, and what does not. */
int dw_request_check(const struct dw_request *req, struct dw_error *err);

/*
 * The limits that it would run with: its own, and for the others the defaults of
 * the first level it names that there is.
 */
void dw_request_limits(const struct dw_request *req, struct dw_limits *ret);

/* Could a list of modules be held, or one of commands, at one of its levels at least? */
bool dw_request_holds_modules(const struct dw_request *req);
bool dw_request_holds_commands(const struct dw_request *req);

#endif
