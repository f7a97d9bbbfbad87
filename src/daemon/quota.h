/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_QUOTA_H
#define DW_DAEMON_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "daemon/api_error.h"
#include "keys/grant.h"

/*
 * Who has how much left, and who is next. Nothing in here locks, sleeps or asks
 * the clock: its caller does, so that all of it can be tested. Times are UTC's, in
 * milliseconds since 1970, since a day is; setting the clock back gives nobody
 * anything.
 *
 * The queue is for those who cannot start at once. Who gets into it:
 *
 *   - who is the only tenant there is, while fewer than queue_max wait;
 *   - who has nothing in it, always;
 *   - else who has less in it than there is room left.
 *
 * So one tenant among others takes half of it at most, n greedy ones come to have
 * an n+1st part each with one part free for who comes next, and whoever holds more
 * than that gets no more until it has drained; nobody who waits is ever pushed
 * out. A queue that is full has room for one of each tenant that has none in it:
 * no more than queue_max, and one a tenant, ever wait. With a queue_max of 0 nobody
 * waits.
 *
 * A tenant whose run ended in a way that strains the host for all, as a fork bomb
 * does, is unruly for a while: beside other tenants its runs go one at a time, and
 * yield the processor to theirs.
 */
struct dw_quota;

/* One key, or the local user. It lives as long as the quota. */
struct dw_tenant;

/* Room for so many that wait in all, and so many runs at a time. NULL without memory. */
struct dw_quota *dw_quota_new(size_t queue_max, unsigned running_max);

/* Nobody waits any more. Accepts NULL. */
void dw_quota_free(struct dw_quota *quota);

/* As a reload of the config has it. Who waits already goes on waiting. */
void dw_quota_resize(struct dw_quota *quota, size_t queue_max, unsigned running_max);

/* Find or make; the grant takes the place of the one before. NULL without memory. */
struct dw_tenant *dw_quota_tenant(struct dw_quota *quota, const char *who,
                                  const struct dw_grant *grant);

/* Somebody who waits; part of what its owner has of the run. Start from {0}. */
struct dw_waiting {
	TAILQ_ENTRY(dw_waiting) link;
	struct dw_tenant *tenant; /* NULL: it does not wait */
};

/*
 * Let it wait, if its tenant may have one more run now: 429 with a time to come
 * back if its runs a minute or its cpu seconds are used up, or the queue has no
 * room for it. A minute's worth of runs may come at once.
 */
int dw_quota_enter(struct dw_quota *quota, struct dw_tenant *tenant, struct dw_waiting *w,
                   uint64_t utc_ms, struct dw_api_error *why);

/*
 * Who runs next: tenants take turns, each its oldest; one with as many runs as it
 * may have is stepped over, and keeps its turn. NULL if nobody may. Counts as
 * running from here.
 */
struct dw_waiting *dw_quota_next(struct dw_quota *quota);

/*
 * One whose tenant has used up its cpu seconds since it came: it waits no more, is
 * not to run, and *why is what to tell it. NULL if there is none. To be asked until
 * then before dw_quota_next(), or what waits runs on credit.
 */
struct dw_waiting *dw_quota_overdrawn(struct dw_quota *quota, uint64_t utc_ms,
                                      struct dw_api_error *why);

/* It waits no more, and did not run: it does not count. Fine if it does not wait. */
void dw_quota_leave(struct dw_quota *quota, struct dw_waiting *w);

/*
 * A run of the tenant's that has begun waits for something other than its turn, and
 * does not count as running meanwhile; then it waits for its turn again, in front of
 * all others. There is always room for it, and it counts as the one run that it is.
 */
void dw_quota_park(struct dw_quota *quota, struct dw_tenant *tenant);
void dw_quota_return(struct dw_quota *quota, struct dw_tenant *tenant,
                     struct dw_waiting *w);

/* How long a tenant is unruly after the last such run. */
#define DW_UNRULY_MS 10000U

/* What a run came to. */
struct dw_used {
	uint64_t cpu_ms;
	bool strained; /* the host, by how it ended */
};

/*
 * A run of the tenant's has used so much: all of it today, whenever it began. A run that
 * has begun is not cut when its tenant's seconds are used up. Before the caller has its
 * answer: its next request must find this counted.
 */
void dw_quota_charge(struct dw_quota *quota, struct dw_tenant *tenant,
                     const struct dw_used *used, uint64_t utc_ms);

/* A run of the tenant's is over. */
void dw_quota_done(struct dw_quota *quota, struct dw_tenant *tenant);

/* Is the run that its tenant begins now to yield to those of others? */
bool dw_quota_yields(const struct dw_tenant *tenant);

/* It used so much earlier today, before we were started. */
void dw_quota_spent(struct dw_tenant *tenant, uint64_t cpu_ms, uint64_t utc_ms);

/* How it stands, for /metrics. */
size_t dw_quota_waiting(const struct dw_quota *quota);
unsigned dw_quota_running(const struct dw_quota *quota);

#endif
