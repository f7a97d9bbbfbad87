/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_SESSIONS_H
#define DW_MCP_SESSIONS_H

#include <stdbool.h>

#include "dewar/result.h"
#include "mcp/mcp.h"

/*
 * Sessions of HTTP, for the revisions that have them: what tells one client's
 * request number 1 from another's. There is a ceiling to how many: past it the one
 * that was not used for longest has to begin again.
 */
struct dw_mcp_sessions;

struct dw_mcp_sessions *dw_mcp_sessions_create(void);        /* NULL without memory */
void dw_mcp_sessions_free(struct dw_mcp_sessions *sessions); /* closes all */

/* Take over a peer, and name it. -1 without memory, and the peer stays its owner's. */
int dw_mcp_sessions_add(struct dw_mcp_sessions *sessions, struct dw_mcp_peer *peer,
                        char ret_id[DW_ID_MAX]);

/* The peer of that name, if it is this caller's, with a reference; or NULL. */
struct dw_mcp_peer *dw_mcp_sessions_find(struct dw_mcp_sessions *sessions, const char *id,
                                         const struct dw_caller *caller);

/* End it; what it has running is cancelled. False if there is none. */
bool dw_mcp_sessions_end(struct dw_mcp_sessions *sessions, const char *id,
                         const struct dw_caller *caller);

#endif
