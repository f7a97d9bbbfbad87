/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_FOREGROUND_H
#define DW_CLI_FOREGROUND_H

#include "cli/run_options.h"

/*
 * Run the job, be there while it runs, and answer as the settings ask: output
 * as it comes, or the result as JSON or text at the end. Our exit status: the
 * program's, 125 if we failed, 128 plus the signal that ended us.
 */
int dw_foreground(struct dw_run_options *job, const struct dw_run_settings *set);

#endif
