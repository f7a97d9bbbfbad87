/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_SERVER_MCP_PULSE_H
#define DW_SERVER_MCP_PULSE_H

#include <stddef.h>

/*
 * Signs of life for calls that have nothing else to say: many clients give up on a
 * call that they hear nothing of for a minute, and progress is what they count.
 */
struct dw_mcp_pulse;

/* Part of what its owner has of the call. Start from {.fn, .user}. */
struct dw_mcp_beat {
	void (*fn)(void *user); /* must not wait for anything */
	void *user;
	struct dw_mcp_beat *next, *prev;
};

/* NULL without memory. Its thread is there from the first beat on. */
struct dw_mcp_pulse *dw_mcp_pulse_create(unsigned every_ms);
void dw_mcp_pulse_free(struct dw_mcp_pulse *pulse); /* accepts NULL */

/* Call it every so often, from a thread of ours, until it is removed. */
void dw_mcp_pulse_add(struct dw_mcp_pulse *pulse, struct dw_mcp_beat *beat);

/* No call is under way once this returns. Not from fn. */
void dw_mcp_pulse_remove(struct dw_mcp_pulse *pulse, struct dw_mcp_beat *beat);

#endif
