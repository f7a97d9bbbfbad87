/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_BATCH_H
#define DW_MCP_BATCH_H

#include "mcp/mcp.h"

/*
 * Several messages in one, as revision 2025-03-26 has it, and no other: served beside
 * each other, and answered together when the last is done. As dw_mcp_peer_take().
 */
void dw_mcp_batch_take(struct dw_mcp_peer *peer, struct dw_mcp_message *msg,
                       const struct dw_mcp_sink *sink);

#endif
