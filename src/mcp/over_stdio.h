/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_OVER_STDIO_H
#define DW_MCP_OVER_STDIO_H

#include "mcp/mcp.h"

/*
 * MCP over a pair of descriptors, a message a line. Returns at the end of input,
 * once stop_fd is readable, or when nobody reads what we write: what still runs is
 * cancelled then, and what was answered has been written. -1: why it could not even
 * begin.
 */
int dw_mcp_stdio(struct dw_mcp *mcp, const struct dw_caller *caller, int in_fd,
                 int out_fd, int stop_fd, struct dw_error *err);

#endif
