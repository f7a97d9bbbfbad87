/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/metrics.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/lock.h"

/*
 * Labels have few values each (languages, levels, statuses, reasons), so the list of
 * their combinations is short. If it is ever full, further combinations are counted as
 * "other": memory stays bounded, and sums stay right.
 */
#define ROWS_MAX 512
#define BOUNDS 16

static const double bounds[BOUNDS] = {0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01,
                                      0.02,   0.05,   0.1,   0.2,   0.5,   1,
                                      2,      5,      10,    60};

#define DECISIONS 4

static const char *const decision_names[DECISIONS] = {"allow", "raise", "deny", "ask"};

struct histogram {
	uint64_t in[BOUNDS + 1]; /* not cumulative; the last is above all bounds */
	uint64_t n;
	double sum;
};

struct row {
	char language[24], level[16], status[24], reason[24], way[8];
	uint64_t n;
};

struct dw_metrics {
	pthread_mutex_t lock;
	struct row rows[ROWS_MAX];
	size_t n_rows;
	struct histogram queue, start, run, audit[DW_METRICS_RECORD_COUNT];
	uint64_t refused[600], replies[600];
	uint64_t audit_failed;
	uint64_t decisions[DECISIONS];
};

struct dw_metrics *dw_metrics_new(void)
{
	struct dw_metrics *metrics = calloc(1, sizeof(*metrics));

	if (metrics)
		(void)pthread_mutex_init(&metrics->lock, NULL);
	return metrics;
}

void dw_metrics_free(struct dw_metrics *metrics)
{
	if (metrics)
		(void)pthread_mutex_destroy(&metrics->lock);
	free(metrics);
}

static void observe(struct histogram *h, double seconds)
{
	size_t i = 0;

	if (seconds < 0)
		return;
	while (i < BOUNDS && seconds > bounds[i])
		i++;
	h->in[i]++;
	h->n++;
	h->sum += seconds;
}

static struct row *find_row(struct dw_metrics *m, const struct dw_metrics_run *run)
{
	struct row *row;

	for (size_t i = 0; i < m->n_rows; i++) {
		row = &m->rows[i];
		if (strcmp(row->language, run->language) == 0 &&
		    strcmp(row->level, run->level) == 0 &&
		    strcmp(row->status, run->status) == 0 &&
		    strcmp(row->reason, run->reason) == 0 &&
		    strcmp(row->way, run->way) == 0)
			return row;
	}
	if (m->n_rows == ROWS_MAX) { /* the last row counts all further combinations */
		row = &m->rows[ROWS_MAX - 1];
		*row = (struct row){"other", "other", "other", "other", "other", row->n};
		return row;
	}
	row = &m->rows[m->n_rows++];
	(void)snprintf(row->language, sizeof(row->language), "%s", run->language);
	(void)snprintf(row->level, sizeof(row->level), "%s", run->level);
	(void)snprintf(row->status, sizeof(row->status), "%s", run->status);
	(void)snprintf(row->reason, sizeof(row->reason), "%s", run->reason);
	(void)snprintf(row->way, sizeof(row->way), "%s", run->way);
	return row;
}

void dw_metrics_run(struct dw_metrics *metrics, const struct dw_metrics_run *run)
{
	HOLD_LOCK(&metrics->lock);
	find_row(metrics, run)->n++;
	observe(&metrics->queue, run->queue_s);
	observe(&metrics->start, run->start_s);
	observe(&metrics->run, run->run_s);
}

static void count(struct dw_metrics *metrics, uint64_t *by_status, int status)
{
	HOLD_LOCK(&metrics->lock);
	by_status[status >= 100 && status < 600 ? status : 0]++;
}

void dw_metrics_refused(struct dw_metrics *metrics, int status)
{
	count(metrics, metrics->refused, status);
}

void dw_metrics_reply(struct dw_metrics *metrics, int status)
{
	count(metrics, metrics->replies, status);
}

void dw_metrics_decision(struct dw_metrics *metrics, const char *decision)
{
	HOLD_LOCK(&metrics->lock);
	for (size_t i = 0; i < DECISIONS; i++)
		if (strcmp(decision_names[i], decision) == 0)
			metrics->decisions[i]++;
}

void dw_metrics_audit(struct dw_metrics *metrics, enum dw_metrics_record record,
                      double seconds)
{
	HOLD_LOCK(&metrics->lock);
	observe(&metrics->audit[record], seconds);
}

void dw_metrics_audit_failed(struct dw_metrics *metrics)
{
	HOLD_LOCK(&metrics->lock);
	metrics->audit_failed++;
}

static void print_head(struct dw_buf *ret, const char *name, const char *type,
                       const char *help)
{
	(void)dw_buf_printf(ret, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Print a histogram; the label is "" or, for example, `record="intent"`. */
static void print_histogram(struct dw_buf *ret, const struct histogram *h,
                            const char *name, const char *label)
{
	const char *comma = *label ? "," : "";
	uint64_t below = 0;

	for (size_t i = 0; i < BOUNDS; i++) {
		below += h->in[i];
		(void)dw_buf_printf(ret, "%s_bucket{%s%sle=\"%g\"} %llu\n", name, label,
		                    comma, bounds[i], (unsigned long long)below);
	}
	(void)dw_buf_printf(ret, "%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, label, comma,
	                    (unsigned long long)h->n);
	(void)dw_buf_printf(ret, "%s_sum%s%s%s %.9g\n", name, *label ? "{" : "", label,
	                    *label ? "}" : "", h->sum);
	(void)dw_buf_printf(ret, "%s_count%s%s%s %llu\n", name, *label ? "{" : "", label,
	                    *label ? "}" : "", (unsigned long long)h->n);
}

static void print_statuses(struct dw_buf *ret, const uint64_t *by_status,
                           const char *name)
{
	for (int i = 100; i < 600; i++)
		if (by_status[i] > 0)
			(void)dw_buf_printf(ret, "%s{status=\"%d\"} %llu\n", name, i,
			                    (unsigned long long)by_status[i]);
}

static void print_all(const struct dw_metrics *m, struct dw_buf *ret)
{
	print_head(ret, "dewar_runs_total", "counter", "Runs that have ended, by how.");
	for (size_t i = 0; i < m->n_rows; i++) {
		const struct row *row = &m->rows[i];

		(void)dw_buf_printf(ret,
		                    "dewar_runs_total{language=\"%s\",level=\"%s\","
		                    "status=\"%s\",reason=\"%s\",way=\"%s\"} %llu\n",
		                    row->language, row->level, row->status, row->reason,
		                    row->way, (unsigned long long)row->n);
	}
	print_head(ret, "dewar_refused_total", "counter", "Refused runs, by status.");
	print_statuses(ret, m->refused, "dewar_refused_total");
	print_head(ret, "dewar_policy_decisions_total", "counter",
	           "Decisions of the policy.");
	for (size_t i = 0; i < DECISIONS; i++)
		(void)dw_buf_printf(ret,
		                    "dewar_policy_decisions_total{decision=\"%s\"} %llu\n",
		                    decision_names[i],
		                    (unsigned long long)m->decisions[i]);
	print_head(ret, "dewar_http_replies_total", "counter", "Replies, by status.");
	print_statuses(ret, m->replies, "dewar_http_replies_total");
	print_head(ret, "dewar_queue_seconds", "histogram", "Time in the queue.");
	print_histogram(ret, &m->queue, "dewar_queue_seconds", "");
	print_head(ret, "dewar_start_seconds", "histogram",
	           "Time to create and remove cells.");
	print_histogram(ret, &m->start, "dewar_start_seconds", "");
	print_head(ret, "dewar_run_seconds", "histogram", "Run time of programs.");
	print_histogram(ret, &m->run, "dewar_run_seconds", "");
	print_head(ret, "dewar_audit_seconds", "histogram",
	           "Time to write an audit record.");
	print_histogram(ret, &m->audit[DW_METRICS_INTENT], "dewar_audit_seconds",
	                "record=\"intent\"");
	print_histogram(ret, &m->audit[DW_METRICS_OUTCOME], "dewar_audit_seconds",
	                "record=\"outcome\"");
	print_head(ret, "dewar_audit_failures_total", "counter",
	           "Audit records that could not be written.");
	(void)dw_buf_printf(ret, "dewar_audit_failures_total %llu\n",
	                    (unsigned long long)m->audit_failed);
}

void dw_metrics_print(struct dw_metrics *metrics, struct dw_buf *ret)
{
	HOLD_LOCK(&metrics->lock);
	print_all(metrics, ret);
}
