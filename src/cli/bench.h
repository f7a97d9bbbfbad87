/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_BENCH_H
#define DW_CLI_BENCH_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/bench_samples.h"
#include "dewar/error.h"

/*
 * What `dewar bench` measures, row by row.
 *
 * Each measure (bench_*.c) appends its rows. It never fails as a whole: a row that
 * could not be measured says why, and has no numbers.
 */

#define DW_BENCH_ROWS_MAX 24
#define DW_BENCH_CHECKS_MAX 2

/* Something that we promise. What has no aim has NAN there. */
struct dw_bench_check {
	const char *what; /* "p50 / bare p50" */
	const char *unit; /* "x" for a ratio, "ms", "MB", "left" */
	double value;
	double bar;
	double aim;
	bool at_least; /* more is better */
};

bool dw_bench_reaches(const struct dw_bench_check *check, double goal);

struct dw_bench_row {
	const char *name;
	const char *title;
	const char *bare; /* the row it is compared with, or NULL */
	bool plotted;     /* its times are those of one run alone */
	size_t n;
	double p50_ms, p95_ms, p99_ms; /* NAN: there is no such time */
	double ratio_to_bare;          /* NAN: nothing to compare with */
	struct dw_bench_check checks[DW_BENCH_CHECKS_MAX];
	size_t n_checks;
	uint64_t standby, forked, cold; /* runs in a pool, by way */
	uint64_t failed;
	char note[512];    /* what else there is to say, or "" */
	char skipped[512]; /* it was not measured because, or "" */
};

/* Where and when. */
struct dw_bench_host {
	char date[16];
	char kernel[65];
	const char *user;
	long cpus;
	double load; /* of the minute before: ours is not in it */
};

struct dw_bench {
	struct dw_bench_host host;
	uint64_t rounds;
	bool rounds_given;
	bool quick;
	const char *only; /* names with commas, or NULL for all */
	bool progress;    /* somebody looks at a terminal */
	int cancel_fd;    /* readable once we are to stop */
	char self[512];   /* our own program */
	struct dw_bench_row rows[DW_BENCH_ROWS_MAX];
	size_t n_rows;
};

/* The measures, in the order of the table. */
void dw_bench_latency(struct dw_bench *b);
void dw_bench_throughput(struct dw_bench *b);
void dw_bench_burst(struct dw_bench *b);
void dw_bench_held(struct dw_bench *b);
void dw_bench_memory(struct dw_bench *b);
void dw_bench_leftovers(struct dw_bench *b);
void dw_bench_docker(struct dw_bench *b);

/* ---- what they share (bench_rows.c) ---- */

/* Is it in the list (or is there none)? */
bool dw_bench_wants(const struct dw_bench *b, const char *name);

/* Were we asked to stop? */
bool dw_bench_stopped(const struct dw_bench *b);

/* A line for whoever waits; the next one takes its place. */
void dw_bench_say(const struct dw_bench *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A new row, without numbers. */
struct dw_bench_row *dw_bench_add(struct dw_bench *b, const char *name,
                                  const char *title);
void dw_bench_skip(struct dw_bench_row *row, const char *why);
void dw_bench_note(struct dw_bench_row *row, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void dw_bench_times(struct dw_bench_row *row, struct dw_samples *samples);
void dw_bench_check(struct dw_bench_row *row, const struct dw_bench_check *check);
const struct dw_bench_row *dw_bench_find(const struct dw_bench *b, const char *name);

/* Every bar is reached, and every run did well. */
bool dw_bench_met(const struct dw_bench_row *row);

/* ---- showing (bench_show.c, bench_svg.c) ---- */

void dw_bench_print(const struct dw_bench *b);
int dw_bench_print_json(const struct dw_bench *b);
int dw_bench_write_svg(const struct dw_bench *b, int fd, struct dw_error *err);

/* Look where we are. */
void dw_bench_host(struct dw_bench_host *ret);

/* A number as people like to read it: "1/16", "3.2 x", "0.61 ms". */
void dw_bench_format(char *text, size_t size, double value, const char *unit);

#endif
