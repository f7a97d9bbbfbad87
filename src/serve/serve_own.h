/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_SERVE_SERVE_OWN_H
#define DW_SERVE_SERVE_OWN_H

#include <signal.h>

#include "cli/serve_settings.h"

/* The commands of dewar-serve; each returns its exit status. */
int dw_serve_main(const struct dw_serve_settings *set);
int dw_mcp_main(const struct dw_mcp_settings *set);
int dw_tool_schema_main(const struct dw_tool_schema_settings *set);

/*
 * Block the signals that stop or reload the daemon, and return them in *ret. Call it
 * before any thread is created.
 */
void dw_serve_block_signals(sigset_t *ret);

#endif
