/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_OVER_HTTP_H
#define DW_MCP_OVER_HTTP_H

#include "daemon/task.h"

/*
 * MCP at /mcp: what is called Streamable HTTP. The routes are in router.h.
 */
struct dw_mcp_http;

/* The service is borrowed. NULL without memory. */
struct dw_mcp_http *dw_mcp_http_create(struct dw_service *service);

/* When no exchange is left, and the service is drained. Accepts NULL. */
void dw_mcp_http_free(struct dw_mcp_http *http);

#endif
