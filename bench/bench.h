/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BENCH_H
#define DW_BENCH_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bench/samples.h"
#include "dewar/error.h"
#include "dewar/pool.h"

/*
 * dewar-bench measures Dewar through its public C API, as any caller uses it, and
 * compares it with bare commands.
 *
 * Each measure (latency.c, burst.c, ...) appends its rows. A measure never fails as a
 * whole: a row that could not be measured holds the reason and no numbers.
 */

#define DW_BENCH_ROWS_MAX 24
#define DW_BENCH_CHECKS_MAX 2

/* One check of a value: it must reach the bar and should reach the aim (NAN: no aim). */
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
	bool plotted;     /* its times are those of one run at a time */
	size_t n;
	double p50_ms, p95_ms, p99_ms; /* NAN: not measured */
	double ratio_to_bare;          /* NAN: nothing to compare with */
	struct dw_bench_check checks[DW_BENCH_CHECKS_MAX];
	size_t n_checks;
	uint64_t standby, forked, cold; /* runs in a pool, by kind of start */
	uint64_t failed;
	char note[512];    /* or "" */
	char skipped[512]; /* the reason why it was not measured, or "" */
};

struct dw_bench_host {
	char date[16];
	char kernel[65];
	const char *user;
	long cpus;
	double load; /* average of the minute before the measurement */
};

struct dw_bench {
	struct dw_bench_host host;
	uint64_t rounds;
	bool rounds_given;
	bool quick;
	const char *only;  /* names with commas, or NULL for all */
	bool progress;     /* stderr is a terminal */
	int cancel_fd;     /* readable once a signal asked us to stop */
	const char *dewar; /* the path of the dewar program */
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

/* ---- rows (rows.c) ---- */

/* Returns true if --only names the row, or is not given. */
bool dw_bench_is_selected(const struct dw_bench *b, const char *name);

/* Returns true once a signal asked us to stop. */
bool dw_bench_stopped(const struct dw_bench *b);

/* Print a line of progress, which replaces the one before. */
void dw_bench_progress(const struct dw_bench *b, const char *fmt, ...)
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

/* Returns true if every bar is reached and no run failed. */
bool dw_bench_met(const struct dw_bench_row *row);

/* ---- one run (run.c) ---- */

/* Code to run once: as a bare command, or in a cell. */
struct dw_bench_workload {
	const char *const *argv; /* a command, ending in NULL, or ... */
	const char *language;    /* ... code for a cell */
	const char *template;    /* or NULL */
	const char *code;
	const char *expect;   /* its output */
	struct dw_pool *pool; /* NULL: a cold cell */
	int cancel_fd;
};

/* print(1), as a bare command and in a cell. */
extern const struct dw_bench_workload dw_bench_bare_python;
extern const struct dw_bench_workload dw_bench_python;

/* Run a workload to its end. -1: it failed, its output was wrong, or a signal came. */
int dw_bench_run(const struct dw_bench_workload *workload, double *ret_ms,
                 struct dw_error *err);

uint64_t dw_bench_now_ns(void);

/* ---- a pool with one template, to measure in (pool.c) ---- */

struct dw_bench_pool {
	struct dw_pool *pool;
	const char *name;
	unsigned standby; /* standby cells; 0: every run forks */
	struct dw_template_stats before;
};

/* Waits until the pool is ready. On failure there is nothing to close. */
int dw_bench_pool_open(const struct dw_bench *b, const char *name, unsigned standby,
                       struct dw_bench_pool *ret, struct dw_error *err);

/* Wait until the pool has all its standby cells again. */
int dw_bench_pool_ready(const struct dw_bench *b, const struct dw_bench_pool *pool,
                        struct dw_error *err);

/* The same, and wait until the pool has ended the used cells and is idle. */
int dw_bench_pool_settle(const struct dw_bench *b, const struct dw_bench_pool *pool,
                         struct dw_error *err);

void dw_bench_pool_stats(const struct dw_bench_pool *pool, struct dw_template_stats *ret);

/* Count runs from now on: dw_bench_pool_close() adds only these. */
void dw_bench_pool_mark(struct dw_bench_pool *pool);

/* Add the pool's runs to the row (or NULL), by kind of start, and free the pool. */
void dw_bench_pool_close(struct dw_bench_pool *pool, struct dw_bench_row *row);

/* ---- concurrent runs (load.c) ---- */

/* Threads that start together and repeat one workload. */
struct dw_bench_load {
	const struct dw_bench_workload *workload;
	unsigned threads;
	uint64_t runs_each; /* a thread ends after so many runs, ... */
	uint64_t ms;        /* ... or after this time */
	const char *title;  /* for the progress line, or NULL */

	/* Results. */
	struct dw_samples samples; /* of successful runs, ms */
	uint64_t failed;
	struct dw_error first; /* the first failure */
	double span_ms;        /* from the first start to the last end */
};

/* -1 if the threads could not be started. The caller finishes the samples. */
int dw_bench_load(const struct dw_bench *b, struct dw_bench_load *load,
                  struct dw_error *err);

/* ---- output (print.c, svg.c) ---- */

void dw_bench_print(const struct dw_bench *b);

/* 0, or DW_EXIT_OURS. */
int dw_bench_print_json(const struct dw_bench *b);
int dw_bench_write_svg(const struct dw_bench *b, int fd, struct dw_error *err);

void dw_bench_host(struct dw_bench_host *ret);

/* A short readable number: "1/16", "3.2 x", "0.61 ms". */
void dw_bench_format(char *text, size_t size, double value, const char *unit);

#endif
