/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bench/bench.h"
#include "cli/print.h"

struct colours {
	const char *good, *fair, *bad, *dim, *bold, *plain;
};

static struct colours choose_colours(void)
{
	if (!dw_report_colour(STDOUT_FILENO))
		return (struct colours){"", "", "", "", "", ""};
	return (struct colours){"\033[32m", "\033[33m", "\033[31m",
	                        "\033[2m",  "\033[1m",  "\033[0m"};
}

static void format_number(char *text, size_t size, double value)
{
	if (value != 0 && fabs(value) < 100)
		(void)snprintf(text, size, "%.3g", value);
	else
		(void)snprintf(text, size, "%.0f", value);
}

void dw_bench_format(char *text, size_t size, double value, const char *unit)
{
	char number[32];
	bool ratio = strcmp(unit, "x") == 0;

	if (isnan(value)) {
		(void)snprintf(text, size, "-");
		return;
	}
	if (ratio && value > 0 && value < 0.8) {
		format_number(number, sizeof(number), 1 / value);
		(void)snprintf(text, size, "1/%s", number);
		return;
	}
	format_number(number, sizeof(number), value);
	(void)snprintf(text, size, "%s%s%s", number, *unit ? " " : "", unit);
}

void dw_bench_host(struct dw_bench_host *ret)
{
	struct utsname uts = {0};
	time_t now = time(NULL);
	struct tm tm = {0};

	(void)uname(&uts);
	(void)snprintf(ret->kernel, sizeof(ret->kernel), "%s", uts.release);
	(void)gmtime_r(&now, &tm);
	(void)strftime(ret->date, sizeof(ret->date), "%Y-%m-%d", &tm);
	if (getloadavg(&ret->load, 1) != 1)
		ret->load = NAN;
	ret->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	ret->user = geteuid() == 0 ? "root" : "a plain user";
}

/* ---- the table ---- */

static void print_times(const struct dw_bench *b, const struct colours *c)
{
	(void)printf("%s%-48s %6s %9s %9s %9s %9s%s\n", c->bold, "", "n", "p50 ms",
	             "p95 ms", "p99 ms", "of bare", c->plain);
	for (size_t i = 0; i < b->n_rows; i++) {
		const struct dw_bench_row *row = &b->rows[i];
		char p50[32], p95[32], p99[32], ratio[32];

		if (row->skipped[0] != '\0' || isnan(row->p50_ms))
			continue;
		dw_bench_format(p50, sizeof(p50), row->p50_ms, "");
		dw_bench_format(p95, sizeof(p95), row->p95_ms, "");
		dw_bench_format(p99, sizeof(p99), row->p99_ms, "");
		dw_bench_format(ratio, sizeof(ratio), row->ratio_to_bare, "x");
		(void)printf("%-48s %6zu %9s %9s %9s %9s\n", row->title, row->n, p50, p95,
		             p99, ratio);
	}
}

static void print_check(const struct dw_bench_row *row,
                        const struct dw_bench_check *check, const struct colours *c)
{
	char value[32], bar[32], aim[32];
	const char *colour = c->bad, *word = "MISSED";

	if (row->failed > 0) {
		word = "RUNS FAILED";
	} else if (!isnan(check->aim) && dw_bench_reaches(check, check->aim)) {
		colour = c->good;
		word = "aim reached";
	} else if (dw_bench_reaches(check, check->bar)) {
		colour = isnan(check->aim) ? c->good : c->fair;
		word = "kept";
	}
	dw_bench_format(value, sizeof(value), check->value, check->unit);
	dw_bench_format(bar, sizeof(bar), check->bar, check->unit);
	dw_bench_format(aim, sizeof(aim), check->aim, check->unit);
	(void)printf("%-12s %-35s %9s %9s %9s  %s%s%s\n", row->name, check->what, value,
	             bar, aim, colour, word, c->plain);
}

static void print_checks(const struct dw_bench *b, const struct colours *c)
{
	bool any = false;

	for (size_t i = 0; i < b->n_rows; i++)
		for (size_t j = 0; j < b->rows[i].n_checks; j++) {
			if (!any)
				(void)printf("\n%s%-48s %9s %9s %9s%s\n", c->bold, "",
				             "measured", "bar", "aim", c->plain);
			any = true;
			print_check(&b->rows[i], &b->rows[i].checks[j], c);
		}
}

static void print_rest(const struct dw_bench *b, const struct colours *c)
{
	const char *before = "\n";

	for (size_t i = 0; i < b->n_rows; i++) {
		const struct dw_bench_row *row = &b->rows[i];
		const char *text = row->skipped[0] ? row->skipped : row->note;
		bool pooled = row->standby + row->forked + row->cold > 0;

		if (text[0] == '\0' && (!pooled || row->standby == row->n))
			continue;
		(void)printf("%s%-12s %s%s%s", before, row->name, c->dim,
		             row->skipped[0] ? "not measured: " : "", text);
		if (pooled && !row->skipped[0])
			(void)printf("%s%llu on standby, %llu forked, %llu cold",
			             text[0] ? "; " : "",
			             (unsigned long long)row->standby,
			             (unsigned long long)row->forked,
			             (unsigned long long)row->cold);
		(void)printf("%s\n", c->plain);
		before = "";
	}
}

void dw_bench_print(const struct dw_bench *b)
{
	struct colours c = choose_colours();
	const struct dw_bench_host *host = &b->host;

	(void)printf("%s, as %s: Linux %s, %ld cores, load %.2f\n\n", host->date,
	             host->user, host->kernel, host->cpus, host->load);
	print_times(b, &c);
	print_checks(b, &c);
	print_rest(b, &c);
}

/* ---- JSON ---- */

static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *checks_json(const struct dw_bench_row *row)
{
	json_t *array = json_array();

	for (size_t i = 0; i < row->n_checks; i++) {
		const struct dw_bench_check *c = &row->checks[i];
		json_t *aim = isnan(c->aim) ? json_null()
		                            : json_boolean(dw_bench_reaches(c, c->aim));

		(void)json_array_append_new(array,
		                            json_pack("{s:s, s:s, s:o, s:o, s:o, s:b, s:o}",
		                                      "what", c->what, "unit", c->unit,
		                                      "value", number(c->value), "bar",
		                                      number(c->bar), "aim",
		                                      number(c->aim), "bar_met",
		                                      (int)dw_bench_reaches(c, c->bar),
		                                      "aim_met", aim));
	}
	return array;
}

static json_t *row_json(const struct dw_bench_row *row)
{
	bool skipped = row->skipped[0] != '\0';
	json_t *met = skipped || row->n_checks == 0 ? json_null()
	                                            : json_boolean(dw_bench_met(row));

	return json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:s, s:s?, s:o, s:o, "
	                 "s:{s:I, s:I, s:I}, s:I, s:o, s:o}",
	                 "name", row->name, "n", (json_int_t)row->n, "p50_ms",
	                 number(row->p50_ms), "p95_ms", number(row->p95_ms), "p99_ms",
	                 number(row->p99_ms), "ratio_to_bare", number(row->ratio_to_bare),
	                 "title", row->title, "bare", row->bare, "checks",
	                 checks_json(row), "met", met, "runs", "standby",
	                 (json_int_t)row->standby, "forked", (json_int_t)row->forked,
	                 "cold", (json_int_t)row->cold, "failed", (json_int_t)row->failed,
	                 "note", dw_report_string(row->note[0] ? row->note : NULL),
	                 "not_measured", dw_report_string(skipped ? row->skipped : NULL));
}

int dw_bench_print_json(const struct dw_bench *b)
{
	json_t *rows = json_array();
	const struct dw_bench_host *host = &b->host;

	for (size_t i = 0; i < b->n_rows; i++)
		(void)json_array_append_new(rows, row_json(&b->rows[i]));
	return dw_report_json(
		json_pack("{s:o, s:s, s:s, s:s, s:I, s:o, s:I}", "rows", rows, "date",
	                  host->date, "kernel", host->kernel, "user", host->user, "cpus",
	                  (json_int_t)host->cpus, "load", number(host->load), "rounds",
	                  (json_int_t)b->rounds));
}
