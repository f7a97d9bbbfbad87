/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_ATTEND_H
#define DW_CLI_ATTEND_H

#include "cli/job.h"

/*
 * Run the job, be there while it runs, and answer as the settings ask: output
 * as it comes, or the result as JSON or text at the end. Our exit status: the
 * program's, 125 if we failed, 128 plus the signal that ended us.
 */
int dw_attend(struct dw_job *job, const struct dw_job_settings *set);

#endif
