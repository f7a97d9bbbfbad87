/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_QUOTA_H
#define DW_DAEMON_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "daemon/api_error.h"
#include "keys/keys.h"

/*
 * The quotas of tenants, and the order of their runs. No function here locks, sleeps or
 * reads the clock: the caller does, so that tests control the time. Times are UTC in
 * milliseconds since 1970, because daily quotas start at midnight UTC. Setting the clock
 * back never adds quota.
 *
 * A run that cannot start at once waits in the queue. The queue accepts a run
 *
 *   - of the only tenant, while fewer than queue_max runs wait;
 *   - of a tenant without a run in the queue, always;
 *   - of any other tenant, if it has fewer runs in the queue than there is room left.
 *
 * So one tenant among several takes at most half of the queue; n greedy tenants get
 * 1/(n+1) each, and the remaining part stays free for the next tenant. The queue accepts
 * no run of a tenant above its share until enough of that tenant's runs have left, and no
 * waiting run is ever removed for another. A full queue still accepts one run of each
 * tenant that has none in it, so at most queue_max runs plus one per tenant wait. If
 * queue_max is 0, no run waits.
 *
 * A tenant is unruly for a while after one of its runs strained the whole host, as a fork
 * bomb does. While other tenants are active, the unruly tenant's runs then run one at a
 * time, and yield the processor to the others.
 */
struct dw_quota;

/* A key, or the local user. It lives as long as the quota. */
struct dw_tenant;

/*
 * Create a quota with which at most queue_max runs wait, besides the exceptions above,
 * and running_max runs run at a time. Returns NULL if memory runs out.
 */
struct dw_quota *dw_quota_new(size_t queue_max, unsigned running_max);

/* Free the quota, while no run waits. Accepts NULL. */
void dw_quota_free(struct dw_quota *quota);

/* Change the limits after a reload of the config. Waiting runs stay in the queue. */
void dw_quota_resize(struct dw_quota *quota, size_t queue_max, unsigned running_max);

/* Find or create a tenant, and replace its grant. Returns NULL if memory runs out. */
struct dw_tenant *dw_quota_tenant(struct dw_quota *quota, const char *who,
                                  const struct dw_grant *grant);

/* A run's entry in the queue, embedded in the run. Start from {0}. */
struct dw_waiting {
	TAILQ_ENTRY(dw_waiting) link;
	struct dw_tenant *tenant; /* NULL: not in the queue */
};

/*
 * Put a run into the queue. Returns -1 with status 429 and retry_after_s if the tenant
 * has used up its runs per minute or its cpu seconds, or if the queue has no room. A
 * tenant may start all its runs of a minute at once.
 */
int dw_quota_enter(struct dw_quota *quota, struct dw_tenant *tenant, struct dw_waiting *w,
                   uint64_t utc_ms, struct dw_api_error *why);

/*
 * Take the next run out of the queue; from now on it counts as running. Tenants take
 * turns, and each turn starts the tenant's oldest run. A tenant at its limit of
 * concurrent runs is skipped and keeps its turn. Returns NULL if no run may start.
 */
struct dw_waiting *dw_quota_next(struct dw_quota *quota);

/*
 * Take a run out of the queue whose tenant has used up its cpu seconds while the run
 * waited. The run must not start; *why is the error for its client. Returns NULL if there
 * is no such run. Before each dw_quota_next(), call this until it returns NULL; otherwise
 * runs exceed the quota.
 */
struct dw_waiting *dw_quota_overdrawn(struct dw_quota *quota, uint64_t utc_ms,
                                      struct dw_api_error *why);

/*
 * Remove a run that did not start from the queue, and from its tenant's runs per minute.
 * Does nothing if the run is not in the queue.
 */
void dw_quota_leave(struct dw_quota *quota, struct dw_waiting *w);

/*
 * Park a run that has started and waits for an approval: it no longer counts as running.
 * dw_quota_return() puts it back at the front of the whole queue, which always has room
 * for it, and does not count it as a second run.
 */
void dw_quota_park(struct dw_quota *quota, struct dw_tenant *tenant);
void dw_quota_return(struct dw_quota *quota, struct dw_tenant *tenant,
                     struct dw_waiting *w);

/* How long a tenant is unruly after its last run that strained the host. */
#define DW_UNRULY_MS 10000U

/* What a run used. */
struct dw_used {
	uint64_t cpu_ms;
	bool strained; /* the way it ended shows that it strained the host */
};

/*
 * Charge the tenant for a run. All of its cpu time counts for today, whenever the run
 * began. A running program is not stopped when its tenant's cpu seconds are used up. Call
 * this before the client gets its answer, so that the client's next request finds the run
 * counted.
 */
void dw_quota_charge(struct dw_quota *quota, struct dw_tenant *tenant,
                     const struct dw_used *used, uint64_t utc_ms);

/* Count the end of a run of the tenant. */
void dw_quota_done(struct dw_quota *quota, struct dw_tenant *tenant);

/*
 * Returns true if the run that the tenant starts now must yield to other tenants' runs.
 */
bool dw_quota_yields(const struct dw_tenant *tenant);

/* Charge the tenant for cpu time that it used today before this daemon started. */
void dw_quota_spent(struct dw_tenant *tenant, uint64_t cpu_ms, uint64_t utc_ms);

/* The numbers of waiting and of running runs, for /metrics. */
size_t dw_quota_waiting(const struct dw_quota *quota);
unsigned dw_quota_running(const struct dw_quota *quota);

#endif
