/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cli/command.h"
#include "cli/report.h"
#include "dewar/dewar.h"

static int version(const struct dw_command *cmd, int argc, char **argv)
{
	struct dw_parsed parsed = {0};
	struct dw_error err = {0};
	int r;

	r = dw_options_parse(cmd, argc, argv, NULL, &parsed, &err);
	if (r == 0 && parsed.n_operands > 0)
		r = dw_fail(&err, DW_E_INVALID, 0,
		            "\"%s\" is too much: it takes no operands",
		            parsed.operands[0]);
	dw_parsed_finish(&parsed);
	if (r < 0)
		return dw_report_error(&err, false);

	if (r == 0)
		(void)printf("dewar %s\n", dw_version());
	return dw_report_flush();
}

const struct dw_command dw_command_version = {
	.name = "version",
	.summary = "Print the version",
	.usage = {""},
	.fits = DW_FITS_NOTHING,
	.run = version,
};
