/* SPDX-License-Identifier: Apache-2.0 */
#include "request/warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void dw_warn(struct dw_result *res, const char *fmt, ...)
{
	char **list, *text;
	va_list ap;
	int n;

	if (res->n_warnings >= DW_WARNINGS_MAX)
		return;
	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	list = realloc(res->warnings, (res->n_warnings + 1) * sizeof(*list));
	if (!list) {
		free(text);
		return;
	}
	res->warnings = list;
	list[res->n_warnings++] = text;
}
