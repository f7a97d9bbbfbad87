/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "init/init.h"
#include "launch/launch.h"

enum dw_report_stage dw_launch_stage;

void dw_launch_send_error(int sock, const struct dw_error *err)
{
	struct dw_report report = {
		.kind = DW_REPORT_ERROR,
		.stage = dw_launch_stage,
		.error = *err,
	};

	(void)dw_report_send(sock, &report, -1);
}

_Noreturn void dw_init_die(const struct dw_error *err)
{
	dw_launch_send_error(DW_LAUNCH_FD, err);
	_exit(125);
}
