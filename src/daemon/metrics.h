/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_METRICS_H
#define DW_DAEMON_METRICS_H

#include <stdint.h>

#include "base/buf.h"

/*
 * What is counted, and printed in Prometheus' text form. From any thread.
 */
struct dw_metrics;

struct dw_metrics *dw_metrics_new(void); /* NULL without memory */
void dw_metrics_free(struct dw_metrics *metrics);

/* A run that is over. Times in seconds, negative if there is none. */
struct dw_metrics_run {
	const char *language; /* "sh" for a command */
	const char *level;    /* achieved, "" if nothing ran */
	const char *status;
	const char *reason;
	const char *way; /* "warm", "cold" */
	double queue_s;
	double start_s; /* making its cell and taking it down */
	double run_s;
};

void dw_metrics_run(struct dw_metrics *metrics, const struct dw_metrics_run *run);

/* A request that was not let in, by the status of the answer. */
void dw_metrics_refused(struct dw_metrics *metrics, int status);

/* What a policy decided: "allow", "raise", "deny" or "ask". */
void dw_metrics_decision(struct dw_metrics *metrics, const char *decision);

/* A reply of any kind. */
void dw_metrics_reply(struct dw_metrics *metrics, int status);

/* A record took so long to write. */
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
