/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_TOOLS_H
#define DW_MCP_TOOLS_H

#include <jansson.h>

#include "mcp/call.h"

/* What tools/list answers with, as far as the call's revision knows it. */
json_t *dw_mcp_tools_list(const struct dw_mcp_call *call);

/* tools/call. */
void dw_mcp_tools_call(struct dw_mcp_call *call, json_t *params);

/* The tools, ending in a row without name: for `dewar tool-schema`. */
extern const struct dw_mcp_tool dw_mcp_tools[];

#endif
