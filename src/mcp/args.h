/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_ARGS_H
#define DW_MCP_ARGS_H

#include <jansson.h>

#include "dewar/error.h"
#include "dewar/request.h"

/*
 * The arguments of our tools: their JSON Schema, and how they become a request.
 * What a tool may not ask for (folders of the host's, images) is not among them:
 * whoever writes arguments is a model, which may have read anything.
 */
enum dw_mcp_runs {
	DW_MCP_RUNS_CODE = 1U << 0,
	DW_MCP_RUNS_COMMAND = 1U << 1,
};

/* The inputSchema of a tool. NULL without memory. */
json_t *dw_mcp_args_schema(enum dw_mcp_runs which);

/*
 * Fill an initialised request. DW_E_INVALID says what is wrong in words for a model:
 * an unknown argument by its name, and for a language or level which there are.
 */
int dw_mcp_args_read(enum dw_mcp_runs which, const json_t *args, struct dw_request *req,
                     struct dw_error *err);

#endif
