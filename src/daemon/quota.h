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
 * The quotas of tenants, and the order of their runs. Nothing here locks, sleeps or
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
 * 1/(n+1) each, and the last part stays free for the next tenant. A tenant above its
 * share adds none until its runs have left, and no waiting run is ever removed for
 * another. A full queue still accepts one run of each tenant that has none in it, so at
 * most queue_max runs plus one per tenant wait. If queue_max is 0, no run waits.
 *
 * A tenant is unruly for a while after one of its runs strained the host for all, as a
 * fork bomb does. While other tenants are active, its runs then go one at a time and
 * yield the processor to the others.
 */
struct dw_quota;

/* A key, or the local user. It lives as long as the quota. */
struct dw_tenant;

/* At most queue_max runs wait, and running_max run at a time. NULL without memory. */
struct dw_quota *dw_quota_new(size_t queue_max, unsigned running_max);

/* No run may be waiting. Accepts NULL. */
void dw_quota_free(struct dw_quota *quota);

/* Change the limits, after a reload of the config. Runs that wait stay in the queue. */
void dw_quota_resize(struct dw_quota *quota, size_t queue_max, unsigned running_max);

/* Find or create a tenant, and replace its grant. NULL without memory. */
struct dw_tenant *dw_quota_tenant(struct dw_quota *quota, const char *who,
                                  const struct dw_grant *grant);

/* A run's entry in the queue, embedded in the run. Start from {0}. */
struct dw_waiting {
	TAILQ_ENTRY(dw_waiting) link;
	struct dw_tenant *tenant; /* NULL: not in the queue */
};

/*
 * Put a run into the queue. -1 with status 429 and retry_after_s if its tenant has used
 * up its runs per minute or its cpu seconds, or if the queue has no room. A tenant may
 * start all runs of a minute at once.
 */
int dw_quota_enter(struct dw_quota *quota, struct dw_tenant *tenant, struct dw_waiting *w,
                   uint64_t utc_ms, struct dw_api_error *why);

/*
 * Take the next run out of the queue; from here on it counts as running. Tenants take
 * turns, each with its oldest run. A tenant at its limit of concurrent runs is skipped
 * and keeps its turn. NULL if no run may start.
 */
struct dw_waiting *dw_quota_next(struct dw_quota *quota);

/*
 * Take a run out of the queue whose tenant has used up its cpu seconds in the meantime.
 * It must not run; *why is the error for its client. NULL if there is no such run. Call
 * it until it returns NULL before each dw_quota_next(): else runs exceed the quota.
 */
struct dw_waiting *dw_quota_overdrawn(struct dw_quota *quota, uint64_t utc_ms,
                                      struct dw_api_error *why);

/* Remove a run that did not start, and take it off the tenant's count. Fine if not queued. */
void dw_quota_leave(struct dw_quota *quota, struct dw_waiting *w);

/*
 * Park a run that has started and waits for an approval: it does not count as running.
 * dw_quota_return() puts it back at the front of the whole queue. There is always room
 * for it, and it is not counted as a second run.
 */
void dw_quota_park(struct dw_quota *quota, struct dw_tenant *tenant);
void dw_quota_return(struct dw_quota *quota, struct dw_tenant *tenant,
                     struct dw_waiting *w);

/* How long a tenant is unruly after its last run that strained the host. */
#define DW_UNRULY_MS 10000U

/* What a run used. */
struct dw_used {
	uint64_t cpu_ms;
	bool strained; /* its end shows that it strained the host */
};

/*
 * Charge the tenant for a run; all of it counts for today, whenever the run began. A
 * running program is not stopped when its tenant's cpu seconds are used up. Call this
 * before the client gets its answer, so that its next request finds the run counted.
 */
void dw_quota_charge(struct dw_quota *quota, struct dw_tenant *tenant,
                     const struct dw_used *used, uint64_t utc_ms);

/* A run of the tenant has ended. */
void dw_quota_done(struct dw_quota *quota, struct dw_tenant *tenant);

/* Returns true if the run that the tenant starts now must yield to other tenants' runs. */
bool dw_quota_yields(const struct dw_tenant *tenant);

/* Count what the tenant used today before this daemon started. */
void dw_quota_spent(struct dw_tenant *tenant, uint64_t cpu_ms, uint64_t utc_ms);

/* Numbers of runs, for /metrics. */
size_t dw_quota_waiting(const struct dw_quota *quota);
unsigned dw_quota_running(const struct dw_quota *quota);

#endif
