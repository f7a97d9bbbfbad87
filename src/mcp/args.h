/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_ARGS_H
#define DW_MCP_ARGS_H

#include <jansson.h>

#include "dewar/error.h"
#include "dewar/request.h"

/*
 * The arguments of the tools: their JSON Schema, and how they become a request. Paths of
 * the host and images are not among them: a model writes the arguments, and it may have
 * read anything.
 */
enum dw_mcp_runs {
	DW_MCP_RUNS_CODE = 1U << 0,
	DW_MCP_RUNS_COMMAND = 1U << 1,
};

/* The inputSchema of a tool. NULL without memory. */
json_t *dw_mcp_args_schema(enum dw_mcp_runs which);

/*
 * Fill an initialised request. DW_E_INVALID says what is wrong in words for a model:
 * an unknown argument by its name; for a language or a level, those there are.
 */
int dw_mcp_args_read(enum dw_mcp_runs which, const json_t *args, struct dw_request *req,
                     struct dw_error *err);

#endif
