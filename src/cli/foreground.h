/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_FOREGROUND_H
#define DW_CLI_FOREGROUND_H

#include "cli/run_options.h"

/*
 * Run the job and answer as the settings ask: output as it comes, or the result as JSON
 * or text at the end. Returns dewar's exit status: the program's, 125 if Dewar failed, or
 * 128 plus the signal that ended dewar.
 */
int dw_foreground(struct dw_run_options *job, const struct dw_run_settings *set);

/*
 * A command that runs something: parse its options into settings that begin with *set,
 * let prepare fill in the job, and run that in the foreground. Returns the exit status.
 */
struct dw_command;
typedef int dw_prepare_fn(const struct dw_command *cmd, struct dw_run_options *job,
                          const struct dw_run_settings *set,
                          const struct dw_parsed *parsed, struct dw_error *err);
int dw_foreground_command(const struct dw_command *cmd, int argc, char **argv,
                          struct dw_run_settings *set, dw_prepare_fn *prepare);

#endif
