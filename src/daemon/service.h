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
 * The service runs the tasks of all front doors. It owns the warm cells, the audit
 * record, the queue and the worker threads.
 */
struct dw_service;

/* Paths of the service's own files. */
struct dw_service_files {
	const char *audit;     /* the record */
	const char *approvals; /* open approvals; created with the first one */
};

/* The config lives as long as the service. */
int dw_service_new(const struct dw_config *config, const struct dw_service_files *files,
                   struct dw_service **ret, struct dw_error *err);

/*
 * Accept no more tasks. Running and queued tasks may finish until the deadline, and are
 * then cancelled. Returns when all have ended.
 */
void dw_service_drain(struct dw_service *service, uint64_t deadline_ms);

/* End the drain that is under way at once. From any thread. */
void dw_service_hurry(struct dw_service *service);

/* Only after dw_service_drain(), and without references to its tasks. Accepts NULL. */
void dw_service_free(struct dw_service *service);

/*
 * Use the policy, limits, levels and sizes of another config for new tasks. -1 if its
 * policy is invalid: then nothing changes.
 */
int dw_service_reload(struct dw_service *service, const struct dw_config *config,
                      struct dw_error *err);

/* The open approvals, to decide on them. May block. NULL: see err. */
struct dw_approvals *dw_service_approvals(struct dw_service *service,
                                          struct dw_error *err);

/* An approval was decided in this process: check the parked tasks now. */
void dw_service_decided(struct dw_service *service);

/* Decide in the service's thread, without blocking the caller. Copies its arguments. */
void dw_service_decide(struct dw_service *service, const char *approval, const char *who,
                       bool yes, const char *note);

bool dw_service_draining(const struct dw_service *service);

/*
 * Returns true if the service accepts tasks: it is not draining, and the last audit
 * record was written. Ready again some time after a failure, so that the next task
 * tries.
 */
bool dw_service_ready(const struct dw_service *service, struct dw_error *err);

/*
 * Bound the memory that all requests hold together, from their first byte to the end of
 * their runs. dw_service_claim() returns false if the bytes exceed the bound. From any
 * thread.
 */
bool dw_service_claim(struct dw_service *service, size_t bytes);
void dw_service_unclaim(struct dw_service *service, size_t bytes);

struct dw_metrics *dw_service_metrics(struct dw_service *service);

/* Print the metrics and the state of queue, pool and memory in Prometheus' text format. */
void dw_service_print(struct dw_service *service, struct dw_buf *ret);

/* How long a result is kept, for messages. */
unsigned dw_service_keep_s(struct dw_service *service);

/* ---- host_info.c ---- */

/*
 * The languages and levels of this host, as JSON: {"languages": [...]} and
 * {"levels": [...]}. Finding versions and probing levels is slow, so the text is cached
 * for a minute. free() it; NULL without memory.
 */
char *dw_host_info_languages(void);
char *dw_host_info_levels(void);

#endif
