/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_RESOURCES_H
#define DW_MCP_RESOURCES_H

#include <jansson.h>
#include <stdbool.h>

#include "mcp/call.h"

/* What resources/list and resources/templates/list answer with. */
json_t *dw_mcp_resources_list(void);
json_t *dw_mcp_resources_templates(void);

/* Would reading it take its time? Then it is no work for a thread that must not wait. */
bool dw_mcp_resources_slow(const struct dw_mcp_message *msg);

/* resources/read. */
void dw_mcp_resources_read(struct dw_mcp_call *call, json_t *params);

#endif
