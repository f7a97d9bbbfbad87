/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_AUDIT_DESCRIBE_H
#define DW_AUDIT_DESCRIBE_H

#include "dewar/request.h"

/* Larger input and files are recorded by size and digest only. */
#define DW_AUDIT_WHOLE_MAX ((size_t)64 << 10)

/*
 * The request as JSON that dw_request_from_json() reads: all of the code, and small
 * input and files. Bytes that are not UTF-8 become an object with their base64; such a
 * name becomes "base64:" and its base64. free() it; NULL without memory.
 */
char *dw_audit_describe(const struct dw_request *req);

#endif
