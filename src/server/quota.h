/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_SERVER_QUOTA_H
#define DW_SERVER_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "keys/grant.h"
#include "server/refusal.h"

/*
 * Who has how much left, and who is next. Nothing in here locks, sleeps or asks
 * the clock: its caller does, so that all of it can be tested.
 */
struct dw_quota;

/* One key, or the local user. It lives as long as the quota. */
struct dw_tenant;

/* Room for so many that wait in all, and so many runs at a time. NULL without memory. */
struct dw_quota *dw_quota_new(size_t queue_max, unsigned running_max);
void dw_quota_free(struct dw_quota *quota);

/* As a reload of the config has it. Who waits already goes on waiting. */
void dw_quota_resize(struct dw_quota *quota, size_t queue_max, unsigned running_max);

/* Find or make; the grant takes the place of the one before. NULL without memory. */
struct dw_tenant *dw_quota_tenant(struct dw_quota *quota, const char *who,
                                  const struct dw_grant *grant);

/* Somebody who waits; part of what its owner has of the run. Start from {0}. */
struct dw_waiting {
	struct dw_waiting *next, *prev;
	struct dw_tenant *tenant; /* NULL: it does not wait */
	uint64_t since_ms;
};

/*
 * Let it wait, if its tenant may have one more run now: 429 with a time to come
 * back if its runs a minute or its cpu seconds are used up, or the queue is full.
 * A tenant has at most its fair share of a queue that is full: who waits last of
 * the one with most in it is never pushed out, but that one gets no more.
 */
int dw_quota_enter(struct dw_quota *quota, struct dw_tenant *tenant, struct dw_waiting *w,
                   uint64_t now_ms, struct dw_refusal *why);

/*
 * Who runs next: tenants take turns, each its oldest; one with as many runs as it
 * may have is stepped over. NULL if nobody may. Counts as running from here.
 */
struct dw_waiting *dw_quota_next(struct dw_quota *quota);

/* It waits no more, and did not run. */
void dw_quota_leave(struct dw_quota *quota, struct dw_waiting *w);

/* A run of the tenant's is over, and used so much. */
void dw_quota_done(struct dw_quota *quota, struct dw_tenant *tenant, uint64_t cpu_ms,
                   uint64_t now_ms);

/* It used so much earlier today, before we were started. */
void dw_quota_spent(struct dw_tenant *tenant, uint64_t cpu_ms, uint64_t now_ms);

/* How it stands, for /metrics. */
size_t dw_quota_waiting(const struct dw_quota *quota);
unsigned dw_quota_running(const struct dw_quota *quota);

#endif
