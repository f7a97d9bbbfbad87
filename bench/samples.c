/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/samples.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

int dw_samples_add(struct dw_samples *s, double value)
{
	if (s->n == s->size) {
		size_t size = s->size ? s->size * 2 : 256;
		double *list = reallocarray(s->list, size, sizeof(*list));

		if (!list)
			return -ENOMEM;
		s->list = list;
		s->size = size;
	}
	s->list[s->n++] = value;
	return 0;
}

int dw_samples_join(struct dw_samples *s, const struct dw_samples *more)
{
	for (size_t i = 0; i < more->n; i++)
		if (dw_samples_add(s, more->list[i]) < 0)
			return -ENOMEM;
	return 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double dw_samples_percentile(struct dw_samples *s, double p)
{
	double rank = ceil(p / 100 * (double)s->n);

	if (s->n == 0)
		return NAN;
	qsort(s->list, s->n, sizeof(*s->list), compare);
	if (rank < 1)
		return s->list[0];
	return rank > (double)s->n ? s->list[s->n - 1] : s->list[(size_t)rank - 1];
}

void dw_samples_finish(struct dw_samples *s)
{
	free(s->list);
	*s = (struct dw_samples){0};
}
