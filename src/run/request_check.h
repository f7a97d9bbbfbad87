/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUN_REQUEST_CHECK_H
#define DW_RUN_REQUEST_CHECK_H

#include "dewar/request.h"

/* Limits of one request. */
#define DW_CODE_MAX (64U << 20)
#define DW_FILES_MAX 256U
#define DW_FILES_BYTES_MAX (256U << 20)
#define DW_ARGS_MAX 4096U
#define DW_COMMANDS_MAX 64U /* each costs a cell up to four entries of its plan */
#define DW_MODULES_MAX 256U
#define DW_ALLOWED_NAME_MAX 128U

/* Check that the request is valid; else DW_E_INVALID with the reason. */
int dw_request_check(const struct dw_request *req, struct dw_error *err);

/*
 * The limits that the request would run with: its own, and the defaults of the first
 * existing level that it names for the others.
 */
void dw_request_limits(const struct dw_request *req, struct dw_limits *ret);

/* Returns true if a list of modules can be enforced for the request. */
bool dw_request_enforces_modules(const struct dw_request *req);

/* Returns true if one of the request's levels has these guarantees (DW_G_*). */
bool dw_request_may_have(const struct dw_request *req, uint32_t guarantees);

#endif
