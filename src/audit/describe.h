/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_AUDIT_DESCRIBE_H
#define DW_AUDIT_DESCRIBE_H

#include "dewar/request.h"

/* Input and files up to this size are recorded whole, others by size and digest. */
#define DW_AUDIT_WHOLE_MAX ((size_t)64 << 10)

/*
 * The request as JSON, as dw_request_from_json() reads it: code always whole, and
 * input and files if they are small. What JSON cannot hold as text is an object
 * with its base64; a name that it cannot hold is "base64:" and that. free() it;
 * NULL without memory.
 */
char *dw_audit_describe(const struct dw_request *req);

#endif
