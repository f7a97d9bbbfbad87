/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/verify.h"

int dw_show_html(const struct dw_rows *rows, int fd, struct dw_error *err)
{
	(void)rows;
	(void)fd;
	(void)err;
	return 0;
}
