/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_METRICS_H
#define DW_DAEMON_METRICS_H

#include <stdint.h>

#include "base/buf.h"

/*
 * Counters and histograms in the text format of Prometheus. Any thread may call these
 * functions.
 */
struct dw_metrics;

struct dw_metrics *dw_metrics_new(void); /* NULL if memory runs out */
void dw_metrics_free(struct dw_metrics *metrics);

/* A run that has ended. Times in seconds; negative if unknown. */
struct dw_metrics_run {
	const char *language; /* "sh" for a command */
	const char *level;    /* the achieved level; "" if nothing ran */
	const char *status;
	const char *reason;
	const char *way; /* "warm", "cold" */
	double queue_s;
	double start_s; /* for creating and removing the cell */
	double run_s;
};

void dw_metrics_run(struct dw_metrics *metrics, const struct dw_metrics_run *run);

/* Count a refused request by the status of its reply. */
void dw_metrics_refused(struct dw_metrics *metrics, int status);

/* Count a decision of the policy: "allow", "raise", "deny" or "ask". */
void dw_metrics_decision(struct dw_metrics *metrics, const char *decision);

/* Count a reply of any kind by its status. */
void dw_metrics_reply(struct dw_metrics *metrics, int status);

/* Record the time that it took to write an audit record. */
enum dw_metrics_record {
	DW_METRICS_INTENT = 0,
	DW_METRICS_OUTCOME,
	DW_METRICS_RECORD_COUNT
};

void dw_metrics_audit(struct dw_metrics *metrics, enum dw_metrics_record record,
                      double seconds);
void dw_metrics_audit_failed(struct dw_metrics *metrics);

void dw_metrics_print(struct dw_metrics *metrics, struct dw_buf *ret);

#endif
