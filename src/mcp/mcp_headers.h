/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_MCP_HEADERS_H
#define DW_MCP_MCP_HEADERS_H

#include <stdbool.h>

#include "mcp/jsonrpc.h"

/* What HTTP says beside the message. */
struct dw_mcp_headers {
	const char *(*get)(void *user, const char *name); /* NULL: it is not there */
	void *user;
};

/*
 * Is this message of revision 2026-07-28 or later? Its _meta tells, or else the
 * header, if it names what is none of the revisions before.
 */
bool dw_mcp_headers_modern(const struct dw_mcp_headers *headers,
                           const struct dw_mcp_message *msg);

/*
 * May this modern request be served? Its headers repeat parts of it, so that what
 * stands between can route it without reading; a pair that differs could mean one
 * thing there and another here.
 */
int dw_mcp_headers_check(const struct dw_mcp_headers *headers,
                         const struct dw_mcp_message *msg, struct dw_mcp_problem *why);

#endif
