/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BENCH_SAMPLES_H
#define DW_BENCH_SAMPLES_H

#include <stddef.h>

/* Measured values. Start from {0}. */
struct dw_samples {
	double *list;
	size_t n;
	size_t size;
};

/* 0 or -ENOMEM. */
int dw_samples_add(struct dw_samples *s, double value);
int dw_samples_join(struct dw_samples *s, const struct dw_samples *more);

/*
 * The smallest measured value that p percent of the values do not exceed (nearest rank).
 * Sorts the values; NAN without values.
 */
double dw_samples_percentile(struct dw_samples *s, double p);

void dw_samples_finish(struct dw_samples *s);

#define autosamples __attribute__((cleanup(dw_samples_finish)))

#endif
