/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_ALLOWED_COMMANDS_H
#define DW_LEVELS_ALLOWED_COMMANDS_H

#include "levels/launched.h"

/*
 * The request's list of commands, as walls.
 *
 * What may be executed: the programs that are named, the interpreter of the request,
 * and of each what it cannot start without: its dynamic loader, the interpreter in
 * its first line. With a root of its own the cell sees these alone in the folders
 * where programs are, and nothing that it writes, or that was brought along, is on a
 * mount that lets execute; with Landlock, on top of that or instead of it, the kernel
 * refuses to execute any other file. Behind everything else in the plan.
 */
int dw_allowed_plan(struct dw_launched *l, struct dw_error *err);

/* Level process: may be read, but for the folders with programs. */
void dw_allowed_show(struct dw_plan_builder *plan, const char *path);

#endif
