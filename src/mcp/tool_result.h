/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_TOOL_RESULT_H
#define DW_MCP_TOOL_RESULT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "daemon/api_error.h"
#include "daemon/task.h"

/* What a run became, as the result of a tool. All of these are NULL without memory. */

/* The outputSchema of the tools that run something. */
json_t *dw_mcp_result_schema(void);

/* A run that is over; structured: with structuredContent, which older revisions lack. */
json_t *dw_mcp_result_make(const struct dw_task *task, bool structured);

/*
 * Nothing ran: the reason, as text that a model can act on, and for programs in _meta,
 * {"code", "message", "hint"} as in the errors of the HTTP API.
 */
#define DW_MCP_ERROR_KEY "dewar/error"
json_t *dw_mcp_result_refused(const struct dw_api_error *why);

/* "image/png", ... by its first bytes, or NULL if it is none that models take. */
const char *dw_mcp_image_type(const void *data, size_t len);

/* The same for any bytes: an image's, or text/plain, or application/octet-stream. */
const char *dw_mcp_type(const void *data, size_t len);

/* {"uri", "mimeType", "text" or "blob"} of any bytes. */
json_t *dw_mcp_contents(const char *uri, const char *type, const void *data, size_t len);

/* dewar://runs/ID/files/NAME; free() it. */
char *dw_mcp_file_uri(const char *id, const char *name);

#endif
