/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_BENCH_LOAD_H
#define DW_CLI_BENCH_LOAD_H

#include "cli/bench_run.h"

/* Several threads that run the same thing over and over; they start together. */
struct dw_bench_load {
	const struct dw_bench_way *way;
	unsigned threads;
	uint64_t runs_each; /* then a thread is done */
	uint64_t ms;        /* then all are */
	const char *title;  /* to tell how far they are, or NULL */

	/* What came of it. */
	struct dw_samples samples; /* of the runs that did well, ms */
	uint64_t failed;
	struct dw_error first; /* of those that failed */
	double span_ms;        /* from the first start to the last end */
};

/* -1 if the threads could not be started. The samples are the caller's to finish. */
int dw_bench_load(const struct dw_bench *b, struct dw_bench_load *load,
                  struct dw_error *err);

#endif
