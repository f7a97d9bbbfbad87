/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_SERVICE_H
#define DW_DAEMON_SERVICE_H

#include <stdint.h>

#include "base/buf.h"
#include "daemon/config.h"
#include "daemon/metrics.h"
#include "daemon/task.h"
#include "dewar/error.h"

/*
 * What runs the tasks of all front doors: warm cells, the audit record, the queue
 * and the threads behind it.
 */
struct dw_service;

/* Files of its own. */
struct dw_service_files {
	const char *audit;     /* the record */
	const char *approvals; /* what waits for people; made when somebody is asked */
};

/* The config lives as long as the service. */
int dw_service_new(const struct dw_config *config, const struct dw_service_files *files,
                   struct dw_service **ret, struct dw_error *err);

/*
 * Take nothing more, and let what runs and waits come to its end until the
 * deadline, when it is cancelled. Returns when all is over.
 */
void dw_service_drain(struct dw_service *service, uint64_t deadline_ms);

/* The deadline of the drain that is under way is now. From any thread. */
void dw_service_hurry(struct dw_service *service);

/* Of a service that was drained, and whose tasks nobody holds. Accepts NULL. */
void dw_service_free(struct dw_service *service);

/*
 * The policy, limits, levels and sizes of another config, for the tasks to come. -1 if
 * its policy makes no sense: then all is as it was.
 */
int dw_service_reload(struct dw_service *service, const struct dw_config *config,
                      struct dw_error *err);

/* For those who decide; from any thread, but those that must not wait. NULL: why. */
struct dw_approvals *dw_service_approvals(struct dw_service *service,
                                          struct dw_error *err);

/* Something was decided by us: who waits for it need not wait for the next look. */
void dw_service_decided(struct dw_service *service);

/* Decide soon, in a thread of ours: for who must not wait. All is copied. */
void dw_service_decide(struct dw_service *service, const char *approval, const char *who,
                       bool yes, const char *note);

bool dw_service_draining(const struct dw_service *service);

/*
 * Can it record? The last one tells, as nothing runs without; after a while the next
 * one may find out.
 */
bool dw_service_ready(const struct dw_service *service, struct dw_error *err);

/*
 * What all requests together may hold of memory, from their first byte to the end of
 * their runs: a claim on so many bytes more, false if there is no room for them; and
 * giving it back. From any thread.
 */
bool dw_service_claim(struct dw_service *service, size_t bytes);
void dw_service_unclaim(struct dw_service *service, size_t bytes);

struct dw_metrics *dw_service_metrics(struct dw_service *service);

/* Its own numbers in Prometheus' form: queue, pool, memory; and the metrics. */
void dw_service_print(struct dw_service *service, struct dw_buf *ret);

/* How long a result is kept, for messages. */
unsigned dw_service_keep_s(struct dw_service *service);

#endif
