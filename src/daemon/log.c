/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/log.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error_json.h"
#include "base/fd.h"

#define LINE_MAX_BYTES 65536

const char *const dw_log_level_words[] = {
	[DW_LOG_DEBUG] = "debug",     [DW_LOG_INFO] = "info",
	[DW_LOG_WARNING] = "warning", [DW_LOG_ERROR] = "error",
	[DW_LOG_LEVEL_COUNT] = NULL,
};
const char *const dw_log_format_words[] = {"json", "text", NULL};

static atomic_int threshold = DW_LOG_INFO;
static atomic_bool as_text;

void dw_log_setup(const char *level, const char *format)
{
	threshold = DW_LOG_INFO;
	for (int i = 0; level && i < DW_LOG_LEVEL_COUNT; i++)
		if (strcmp(level, dw_log_level_words[i]) == 0)
			threshold = i;
	as_text = format && strcmp(format, "text") == 0;
}

static void add_time(char *ret, size_t size)
{
	uint64_t now_ms = dw_wall_ms();
	time_t seconds = (time_t)(now_ms / 1000);
	struct tm tm;
	size_t n;

	(void)gmtime_r(&seconds, &tm);
	n = strftime(ret, size, "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(ret + n, size - n, ".%03uZ", (unsigned)(now_ms % 1000));
}

static void add_pairs_json(json_t *line, va_list ap)
{
	const char *name, *text;

	while ((name = va_arg(ap, const char *)) != NULL) {
		text = va_arg(ap, const char *);
		if (text)
			(void)json_object_set_new(line, name,
			                          dw_json_text(text, strlen(text)));
	}
}

/* Escape control characters, on which a terminal that shows the log would act. */
static void add_plain(struct dw_buf *line, const char *text)
{
	for (; *text; text++)
		(void)dw_buf_printf(line,
		                    (unsigned char)*text < ' ' || *text == 127 ? "\\x%02x"
		                                                               : "%c",
		                    (unsigned char)*text);
}

static void add_pairs_text(struct dw_buf *line, va_list ap)
{
	const char *name, *text;

	while ((name = va_arg(ap, const char *)) != NULL) {
		text = va_arg(ap, const char *);
		if (!text)
			continue;
		(void)dw_buf_printf(line, " %s=", name);
		add_plain(line, text);
	}
}

void dw_log(enum dw_log_level level, const char *event, ...)
{
	autobuf struct dw_buf line = {0};
	autofree char *text = NULL;
	char when[40];
	va_list ap;

	if ((int)level < threshold)
		return;
	dw_buf_init(&line, LINE_MAX_BYTES);
	add_time(when, sizeof(when));
	va_start(ap, event);
	if (as_text) {
		(void)dw_buf_printf(&line, "%s %-7s %s", when, dw_log_level_words[level],
		                    event);
		add_pairs_text(&line, ap);
	} else {
		json_auto_t *root = json_pack("{s:s, s:s, s:s}", "time", when, "level",
		                              dw_log_level_words[level], "message",
		                              event);

		add_pairs_json(root, ap);
		text = root ? json_dumps(root, JSON_COMPACT) : NULL;
		(void)dw_buf_puts(&line, text ? text : "{}");
	}
	va_end(ap);
	(void)dw_buf_puts(&line, "\n");
	if (line.data)
		(void)dw_fd_write_all(STDERR_FILENO, line.data, line.len);
}
