/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_MCP_KEEPALIVE_H
#define DW_MCP_KEEPALIVE_H

#include <stddef.h>

/*
 * Signs of life for calls that have nothing else to say: many clients give up on a
 * call that they hear nothing of for a minute, and progress is what they count.
 */
struct dw_mcp_keepalive;

/* Part of what its owner has of the call. Start from {.fn, .user}. */
struct dw_mcp_beat {
	void (*fn)(void *user); /* must not wait for anything */
	void *user;
	struct dw_mcp_beat *next, *prev;
};

/* NULL without memory. Its thread is there from the first beat on. */
struct dw_mcp_keepalive *dw_mcp_keepalive_create(unsigned every_ms);
void dw_mcp_keepalive_free(struct dw_mcp_keepalive *pulse); /* accepts NULL */

/* Call it every so often, from a thread of ours, until it is removed. */
void dw_mcp_keepalive_add(struct dw_mcp_keepalive *pulse, struct dw_mcp_beat *beat);

/* No call is under way once this returns. Not from fn. */
void dw_mcp_keepalive_remove(struct dw_mcp_keepalive *pulse, struct dw_mcp_beat *beat);

#endif
