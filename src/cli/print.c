/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/print.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error_json.h"
#include "base/fd.h"
#include "base/utf8.h"

void dw_report_clean(char *line, const char *keep)
{
	size_t len = strlen(line), n;
	uint32_t c;

	for (size_t i = 0; i < len; i += n) {
		n = dw_utf8_decode(line + i, len - i, &c);
		if (c == DW_UTF8_INVALID || (n > 1 && dw_utf8_is_invisible(c)))
			memset(line + i, '?', n);
		else if (dw_utf8_is_invisible(c) && !strchr(keep, line[i]))
			line[i] = ' ';
	}
}

void dw_report_line(const char *fmt, ...)
{
	char line[2048] = "dewar: ";
	size_t front = strlen(line);
	size_t len;
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(line + front, sizeof(line) - front - 1, fmt, ap);
	va_end(ap);

	/* The program in the cell may have chosen a part of the line. */
	dw_report_clean(line, "");
	len = strlen(line);
	line[len++] = '\n';

	/* Use one write, so that output of the program cannot split the line. */
	(void)dw_fd_write_all(STDERR_FILENO, line, len);
}

int dw_report_error(const struct dw_error *err, bool json)
{
	dw_report_line("%s", err->text);
	if (json)
		(void)dw_report_json(
			dw_error_json(dw_code_name(err->code), err->text, NULL));
	return DW_EXIT_OURS;
}

json_t *dw_report_string(const char *text)
{
	return text ? dw_json_text(text, strlen(text)) : json_null();
}

int dw_report_json(json_t *value)
{
	json_auto_t *owned = value;
	autofree char *text = NULL;
	int r = -ENOMEM;

	if (owned)
		text = json_dumps(owned, JSON_COMPACT | JSON_ENCODE_ANY);
	if (text)
		r = dw_fd_write_all(STDOUT_FILENO, text, strlen(text));
	if (r == 0)
		r = dw_fd_write_all(STDOUT_FILENO, "\n", 1);
	if (r == 0)
		return 0;

	dw_report_line("cannot write the output: %s", strerrordesc_np(-r));
	return DW_EXIT_OURS;
}

int dw_report_flush(void)
{
	/* ferror() remembers an earlier failure, whose errno may be lost. */
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;

	dw_report_line("cannot write the output: %s",
	               strerrordesc_np(errno ? errno : EIO));
	return DW_EXIT_OURS;
}

bool dw_report_colour(int fd)
{
	const char *no = getenv("NO_COLOR");
	const char *term = getenv("TERM");

	if (no && no[0] != '\0')
		return false;
	if (!term || strcmp(term, "dumb") == 0)
		return false;
	return isatty(fd) == 1;
}
