/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_ERROR_JSON_H
#define DW_BASE_ERROR_JSON_H

#include <jansson.h>

/*
 * The body of an error, the same at every front door:
 * {"error": {"code", "message", "hint"}}. The hint may be NULL or "": both become null.
 * The texts may hold any bytes. NULL without memory.
 */
json_t *dw_error_json(const char *code, const char *message, const char *hint);

/* A JSON string, with U+FFFD in place of bytes that are not UTF-8. NULL without memory. */
json_t *dw_json_text(const char *text, size_t len);

#endif
