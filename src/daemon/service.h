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

/* Paths of the files that the service opens itself. */
struct dw_service_files {
	const char *audit;     /* the audit record */
	const char *approvals; /* open approvals; created with the first one */
};

/* Start a service. The config must outlive it. */
int dw_service_new(const struct dw_config *config, const struct dw_service_files *files,
                   struct dw_service **ret, struct dw_error *err);

/*
 * Stop accepting tasks. Running and queued tasks may finish until the deadline; then they
 * are cancelled. Returns when all have ended.
 */
void dw_service_drain(struct dw_service *service, uint64_t deadline_ms);

/* End the current drain at once. Any thread may call this. */
void dw_service_hurry(struct dw_service *service);

/*
 * Free the service, after dw_service_drain() and without references to its tasks. Accepts
 * NULL.
 */
void dw_service_free(struct dw_service *service);

/*
 * Use the policy, limits, levels and sizes of another config for new tasks. Returns -1 if
 * its policy is invalid; then nothing changes.
 */
int dw_service_reload(struct dw_service *service, const struct dw_config *config,
                      struct dw_error *err);

/*
 * Returns the database of approvals, for decisions, or NULL with *err filled in. May
 * block.
 */
struct dw_approvals *dw_service_approvals(struct dw_service *service,
                                          struct dw_error *err);

/*
 * Notify the service that an approval was decided in this process: it checks the parked
 * tasks at once.
 */
void dw_service_decided(struct dw_service *service);

/*
 * Decide an approval in the service's thread, without blocking the caller. Copies its
 * arguments.
 */
void dw_service_decide(struct dw_service *service, const char *approval, const char *who,
                       bool yes, const char *note);

bool dw_service_draining(const struct dw_service *service);

/*
 * Returns true if the service accepts tasks: it is not draining, and the last intent was
 * written. Some time after a failure it returns true again, so that the next task tries.
 */
bool dw_service_ready(const struct dw_service *service, struct dw_error *err);

/*
 * Bound the memory that all requests hold together, each from its first byte to the end
 * of its run. dw_service_claim() returns false if the bytes would exceed the bound. Any
 * thread may call these functions.
 */
bool dw_service_claim(struct dw_service *service, size_t bytes);
void dw_service_unclaim(struct dw_service *service, size_t bytes);

struct dw_metrics *dw_service_metrics(struct dw_service *service);

/* Print the metrics and the state of queue, pool and memory in Prometheus' text format. */
void dw_service_print(struct dw_service *service, struct dw_buf *ret);

/* Returns for how many seconds a result is kept, for messages. */
unsigned dw_service_keep_s(struct dw_service *service);

/* ---- host_info.c ---- */

/*
 * The languages and levels of this host, as JSON: {"languages": [...]} and {"levels":
 * [...]}. Finding versions and probing levels is slow, so the result is cached for a
 * minute. Returns a string to be freed with free(), or NULL if memory runs out.
 */
char *dw_host_info_languages(void);
char *dw_host_info_levels(void);

#endif
