/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

bool dw_bench_reaches(const struct dw_bench_check *check, double goal)
{
	return check->at_least ? check->value >= goal : check->value <= goal;
}

bool dw_bench_is_selected(const struct dw_bench *b, const char *name)
{
	const char *p = b->only;
	size_t len = strlen(name), n;

	for (; p && *p != '\0'; p += n + (p[n] == ',')) {
		n = strcspn(p, ",");
		if (n == len && strncmp(p, name, n) == 0)
			return true;
	}
	return !b->only;
}

bool dw_bench_stopped(const struct dw_bench *b)
{
	struct pollfd pfd = {.fd = b->cancel_fd, .events = POLLIN};

	return poll(&pfd, 1, 0) > 0;
}

void dw_bench_progress(const struct dw_bench *b, const char *fmt, ...)
{
	char line[160] = "\r";
	va_list ap;

	if (!b->progress)
		return;
	va_start(ap, fmt);
	(void)vsnprintf(line + 1, sizeof(line) - 8, fmt, ap);
	va_end(ap);
	/* Clear the rest of a longer line. */
	(void)strncat(line, "\033[K", sizeof(line) - strlen(line) - 1);
	(void)dw_fd_write_all(STDERR_FILENO, line, strlen(line));
}

struct dw_bench_row *dw_bench_add(struct dw_bench *b, const char *name, const char *title)
{
	struct dw_bench_row *row = &b->rows[b->n_rows];

	if (b->n_rows < DW_BENCH_ROWS_MAX - 1)
		b->n_rows++;
	*row = (struct dw_bench_row){
		.name = name,
		.title = title,
		.p50_ms = NAN,
		.p95_ms = NAN,
		.p99_ms = NAN,
		.ratio_to_bare = NAN,
	};
	return row;
}

void dw_bench_skip(struct dw_bench_row *row, const char *why)
{
	(void)snprintf(row->skipped, sizeof(row->skipped), "%s", why);
}

void dw_bench_note(struct dw_bench_row *row, const char *fmt, ...)
{
	size_t len = strlen(row->note);
	va_list ap;

	if (len > 0 && len < sizeof(row->note) - 2) {
		(void)snprintf(row->note + len, sizeof(row->note) - len, "; ");
		len += 2;
	}
	va_start(ap, fmt);
	(void)vsnprintf(row->note + len, sizeof(row->note) - len, fmt, ap);
	va_end(ap);
}

void dw_bench_times(struct dw_bench_row *row, struct dw_samples *samples)
{
	row->n = samples->n;
	row->p50_ms = dw_samples_percentile(samples, 50);
	row->p95_ms = dw_samples_percentile(samples, 95);
	row->p99_ms = dw_samples_percentile(samples, 99);
}

void dw_bench_check(struct dw_bench_row *row, const struct dw_bench_check *check)
{
	if (row->n_checks < DW_BENCH_CHECKS_MAX)
		row->checks[row->n_checks++] = *check;
}

const struct dw_bench_row *dw_bench_find(const struct dw_bench *b, const char *name)
{
	for (size_t i = 0; name && i < b->n_rows; i++)
		if (strcmp(b->rows[i].name, name) == 0)
			return &b->rows[i];
	return NULL;
}

bool dw_bench_met(const struct dw_bench_row *row)
{
	for (size_t i = 0; i < row->n_checks; i++)
		if (!dw_bench_reaches(&row->checks[i], row->checks[i].bar))
			return false;
	return row->failed == 0;
}
