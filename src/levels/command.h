/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_COMMAND_H
#define DW_LEVELS_COMMAND_H

#include "base/buf.h"
#include "levels/launched.h"

/*
 * Write the program into the plan: its code and files, its command line and
 * the environment of its language and of the request. library is the folder to
 * import from besides, or NULL.
 */
int dw_command_plan(struct dw_launched *l, const char *library, struct dw_error *err);

/* The same for a cell with a way of its own: what runs there is ours. */
int dw_command_plan_way(struct dw_launched *l, struct dw_error *err);

/* Of it: the request's files, in a folder of the cell's. */
int dw_command_plan_files(struct dw_plan_builder *plan, const struct dw_spec *spec,
                          const char *folder, struct dw_error *err);

/*
 * And, if the request has a list of modules, what holds the program to it: a file, which
 * is at ret then, and a variable. Behind all variables of the request's own.
 */
void dw_command_plan_hook(struct dw_plan_builder *plan, const struct dw_spec *spec,
                          const char *folder, char *ret, size_t size);

/* Names with commas between them. */
void dw_command_join(const char *const *names, struct dw_buf *ret);

/* And the code, or the shell's command, as a file. */
void dw_command_plan_code(struct dw_plan_builder *plan, const struct dw_spec *spec,
                          const char *path);

#endif
