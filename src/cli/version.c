/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cli/command.h"
#include "cli/print.h"
#include "cli/subcommand.h"
#include "dewar/dewar.h"

static int print_version(const void *settings, struct dw_error *err)
{
	(void)settings;
	(void)err;
	(void)printf("dewar %s\n", dw_version());
	return dw_report_flush();
}

const struct dw_command dw_command_version = {
	.name = "version",
	.summary = "Print the version",
	.usage = {""},
	.fits = DW_FITS_NOTHING,
	.act = print_version,
};
