/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/quota.h"

#include <assert.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MINUTE_MS 60000ULL
#define DAY_MS 86400000ULL

TAILQ_HEAD(waitings, dw_waiting);
TAILQ_HEAD(tenants, dw_tenant);

struct dw_tenant {
	struct dw_grant grant;
	TAILQ_ENTRY(dw_tenant) active; /* in the quota's list, while any wait */
	struct waitings queue;         /* waiting runs, the oldest first */
	size_t waiting;
	unsigned running;

	/*
	 * A leaky bucket for the runs per minute: a run adds MINUTE_MS, and each
	 * millisecond removes runs_per_minute. So all numbers are integers, and a changed
	 * quota takes effect at once.
	 */
	uint64_t used;
	uint64_t used_at_ms;

	uint64_t cpu_ms; /* cpu time used on that day */
	uint64_t day;    /* days since 1970 */

	uint64_t strained_ms; /* when a run last strained the host; 0: never */
	uint64_t seen_ms;     /* when the tenant's last request arrived */
	bool yields;          /* the tenant is unruly, and another one is active */

	char *who;
};

struct dw_quota {
	void *by_name; /* a tree of tsearch() */
	size_t n_tenants;
	struct tenants active; /* those with waiting runs, in order of their turns */
	size_t queue_max;
	unsigned running_max;
	size_t waiting;
	unsigned running;
	size_t able; /* waiting runs that their tenants' limits would let start */
	const struct dw_tenant *last; /* the tenant of the last request */
	uint64_t before_ms; /* when the last request of any other tenant arrived */
};

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct dw_tenant *)a)->who,
	              ((const struct dw_tenant *)b)->who);
}

static void free_tenant(void *p)
{
	struct dw_tenant *tenant = p;

	free(tenant->who);
	free(tenant);
}

struct dw_quota *dw_quota_new(size_t queue_max, unsigned running_max)
{
	struct dw_quota *quota = calloc(1, sizeof(*quota));

	if (!quota)
		return NULL;
	TAILQ_INIT(&quota->active);
	dw_quota_resize(quota, queue_max, running_max);
	return quota;
}

void dw_quota_free(struct dw_quota *quota)
{
	if (quota)
		tdestroy(quota->by_name, free_tenant);
	free(quota);
}

void dw_quota_resize(struct dw_quota *quota, size_t queue_max, unsigned running_max)
{
	quota->queue_max = queue_max;
	quota->running_max = running_max;
}

/* Returns how many more runs the tenant may start now. */
static size_t slots_of(const struct dw_tenant *tenant)
{
	unsigned most = tenant->yields ? 1 : tenant->grant.concurrent;

	if (most == 0)
		return SIZE_MAX;
	return most > tenant->running ? most - tenant->running : 0;
}

/*
 * Returns how many of the tenant's waiting runs could start if there were no other
 * tenants.
 */
static size_t able_of(const struct dw_tenant *tenant)
{
	size_t slots = slots_of(tenant);

	return tenant->waiting < slots ? tenant->waiting : slots;
}

/*
 * Change the counts of a tenant only through this function, so that the totals stay
 * right.
 */
static void count(struct dw_quota *quota, struct dw_tenant *tenant, int waiting,
                  int running)
{
	quota->able -= able_of(tenant);
	tenant->waiting += (size_t)waiting;
	tenant->running += (unsigned)running;
	quota->able += able_of(tenant);
	quota->waiting += (size_t)waiting;
	quota->running += (unsigned)running;
}

static struct dw_tenant *make_tenant(struct dw_quota *quota, const char *who)
{
	struct dw_tenant *tenant = calloc(1, sizeof(*tenant));

	if (!tenant)
		return NULL;
	TAILQ_INIT(&tenant->queue);
	tenant->who = strdup(who);
	if (!tenant->who || !tsearch(tenant, &quota->by_name, compare)) {
		free_tenant(tenant);
		return NULL;
	}
	quota->n_tenants++;
	return tenant;
}

struct dw_tenant *dw_quota_tenant(struct dw_quota *quota, const char *who,
                                  const struct dw_grant *grant)
{
	const struct dw_tenant like = {.who = (char *)who};
	struct dw_tenant *const *found = tfind(&like, &quota->by_name, compare);
	struct dw_tenant *tenant = found ? *found : make_tenant(quota, who);

	if (!tenant)
		return NULL;
	quota->able -= able_of(tenant);
	tenant->grant = *grant;
	quota->able += able_of(tenant);
	return tenant;
}

/*
 * Returns true if then_ms is less than DW_UNRULY_MS ago, and false after the clock was
 * set back.
 */
static bool is_lately(uint64_t then_ms, uint64_t utc_ms)
{
	return then_ms > 0 && utc_ms - then_ms < DW_UNRULY_MS;
}

/* Set tenant->yields to true if the tenant is unruly and another tenant is active. */
static void update_yields(struct dw_quota *quota, struct dw_tenant *tenant,
                          uint64_t utc_ms)
{
	uint64_t other_ms = quota->before_ms;

	if (quota->last && quota->last != tenant)
		other_ms = quota->last->seen_ms;
	quota->able -= able_of(tenant);
	tenant->yields = is_lately(tenant->strained_ms, utc_ms) &&
	                 is_lately(other_ms, utc_ms);
	quota->able += able_of(tenant);
}

static void see(struct dw_quota *quota, struct dw_tenant *tenant, uint64_t utc_ms)
{
	if (quota->last && quota->last != tenant)
		quota->before_ms = quota->last->seen_ms;
	quota->last = tenant;
	tenant->seen_ms = utc_ms;
	update_yields(quota, tenant, utc_ms);
}

bool dw_quota_yields(const struct dw_tenant *tenant)
{
	return tenant->yields;
}

/* Let the bucket of the runs per minute leak for the time since the last call. */
static void refill(struct dw_tenant *tenant, uint64_t utc_ms)
{
	uint64_t most = tenant->grant.runs_per_minute * MINUTE_MS;
	uint64_t passed = 0, back;

	/*
	 * If the clock was set back, no quota is added, and counting continues from the
	 * new time.
	 */
	if (utc_ms > tenant->used_at_ms)
		passed = utc_ms - tenant->used_at_ms;
	tenant->used_at_ms = utc_ms;
	if (most == 0 ||
	    __builtin_mul_overflow(passed, tenant->grant.runs_per_minute, &back) ||
	    back > tenant->used)
		back = tenant->used;
	tenant->used -= back;
	/*
	 * The quota may have been larger before: make the tenant wait for one minute at
	 * most.
	 */
	if (tenant->used > most)
		tenant->used = most;
}

/*
 * Reset the cpu seconds on a new day, but not if the clock was set back to an earlier
 * day.
 */
static void turn_day(struct dw_tenant *tenant, uint64_t utc_ms)
{
	uint64_t day = utc_ms / DAY_MS;

	if (day > tenant->day)
		tenant->cpu_ms = 0;
	tenant->day = day;
}

static unsigned whole_seconds(uint64_t ms)
{
	uint64_t s = (ms + 999) / 1000;

	return s == 0 ? 1 : (unsigned)s;
}

static int check_rate(const struct dw_tenant *tenant, struct dw_api_error *why)
{
	uint64_t rate = tenant->grant.runs_per_minute;
	uint64_t most = rate * MINUTE_MS, after = tenant->used + MINUTE_MS;

	if (rate == 0 || after <= most)
		return 0;
	(void)dw_api_fail(why, 429, "retry later, or use a key with a larger quota",
	                  "%s has used up its %llu runs per minute", tenant->who,
	                  (unsigned long long)rate);
	why->retry_after_s = whole_seconds((after - most + rate - 1) / rate);
	return -1;
}

static int check_cpu(const struct dw_tenant *tenant, uint64_t utc_ms,
                     struct dw_api_error *why)
{
	uint64_t most = tenant->grant.cpu_s_per_day;

	if (most == 0 || tenant->cpu_ms / 1000 < most)
		return 0;
	(void)dw_api_fail(why, 429,
	                  "retry after midnight UTC, or use a key with a larger quota",
	                  "%s has used up its %llu cpu seconds per day", tenant->who,
	                  (unsigned long long)most);
	why->retry_after_s = whole_seconds(DAY_MS - utc_ms % DAY_MS);
	return -1;
}

/* Returns true if a new run of the tenant would start at once. */
static bool starts(const struct dw_quota *quota, const struct dw_tenant *tenant)
{
	return tenant->waiting < slots_of(tenant) &&
	       quota->running < quota->running_max &&
	       quota->able < quota->running_max - quota->running;
}

/*
 * Returns true if the queue accepts a run of the tenant; the head of quota.h states the
 * rule.
 */
static bool has_room(const struct dw_quota *quota, const struct dw_tenant *tenant)
{
	size_t slots = quota->running < quota->running_max
	                       ? quota->running_max - quota->running
	                       : 0;
	size_t stay = quota->waiting - (quota->able < slots ? quota->able : slots);
	size_t room = stay < quota->queue_max ? quota->queue_max - stay : 0;

	if (quota->queue_max == 0)
		return false;
	if (quota->n_tenants == 1)
		return room > 0;
	return tenant->waiting == 0 || tenant->waiting < room;
}

int dw_quota_enter(struct dw_quota *quota, struct dw_tenant *tenant, struct dw_waiting *w,
                   uint64_t utc_ms, struct dw_api_error *why)
{
	assert(!w->tenant);
	refill(tenant, utc_ms);
	turn_day(tenant, utc_ms);
	see(quota, tenant, utc_ms);
	if (check_cpu(tenant, utc_ms, why) < 0 || check_rate(tenant, why) < 0)
		return -1;
	if (!starts(quota, tenant) && !has_room(quota, tenant))
		return dw_api_fail(
			why, 429, "retry later",
			"the queue is full: %zu runs are waiting, %zu of them from %s",
			quota->waiting, tenant->waiting, tenant->who);

	if (tenant->waiting == 0)
		TAILQ_INSERT_TAIL(&quota->active, tenant, active);
	TAILQ_INSERT_TAIL(&tenant->queue, w, link);
	w->tenant = tenant;
	count(quota, tenant, 1, 0);
	if (tenant->grant.runs_per_minute > 0)
		tenant->used += MINUTE_MS;
	return 0;
}

/*
 * Remove a run from its tenant's queue, and the tenant from the active list if no other
 * run of it waits.
 */
static void take_out(struct dw_quota *quota, struct dw_waiting *w, bool runs)
{
	struct dw_tenant *tenant = w->tenant;

	TAILQ_REMOVE(&tenant->queue, w, link);
	w->tenant = NULL;
	count(quota, tenant, -1, runs ? 1 : 0);
	if (tenant->waiting == 0)
		TAILQ_REMOVE(&quota->active, tenant, active);
}

/* Returns the tenant whose turn it is, or NULL. */
static struct dw_tenant *next_tenant(const struct dw_quota *quota)
{
	struct dw_tenant *tenant = TAILQ_FIRST(&quota->active);

	while (tenant && slots_of(tenant) == 0)
		tenant = TAILQ_NEXT(tenant, active);
	return tenant;
}

struct dw_waiting *dw_quota_next(struct dw_quota *quota)
{
	struct dw_tenant *tenant = next_tenant(quota);
	struct dw_waiting *w;

	if (!tenant || quota->running >= quota->running_max)
		return NULL;
	w = TAILQ_FIRST(&tenant->queue);
	take_out(quota, w, true);
	if (tenant->waiting > 0) {
		TAILQ_REMOVE(&quota->active, tenant, active);
		TAILQ_INSERT_TAIL(&quota->active, tenant, active);
	}
	return w;
}

struct dw_waiting *dw_quota_overdrawn(struct dw_quota *quota, uint64_t utc_ms,
                                      struct dw_api_error *why)
{
	struct dw_tenant *tenant = TAILQ_FIRST(&quota->active);
	struct dw_waiting *w;

	for (; tenant; tenant = TAILQ_NEXT(tenant, active)) {
		turn_day(tenant, utc_ms);
		if (check_cpu(tenant, utc_ms, why) == 0)
			continue;
		w = TAILQ_FIRST(&tenant->queue);
		dw_quota_leave(quota, w);
		return w;
	}
	return NULL;
}

void dw_quota_leave(struct dw_quota *quota, struct dw_waiting *w)
{
	struct dw_tenant *tenant = w->tenant;

	if (!tenant)
		return;
	take_out(quota, w, false);
	tenant->used -= tenant->used < MINUTE_MS ? tenant->used : MINUTE_MS;
}

void dw_quota_park(struct dw_quota *quota, struct dw_tenant *tenant)
{
	assert(tenant->running > 0);
	count(quota, tenant, 0, -1);
}

void dw_quota_return(struct dw_quota *quota, struct dw_tenant *tenant,
                     struct dw_waiting *w)
{
	assert(!w->tenant);
	if (tenant->waiting > 0)
		TAILQ_REMOVE(&quota->active, tenant, active);
	TAILQ_INSERT_HEAD(&quota->active, tenant, active);
	TAILQ_INSERT_HEAD(&tenant->queue, w, link);
	w->tenant = tenant;
	count(quota, tenant, 1, 0);
}

void dw_quota_charge(struct dw_quota *quota, struct dw_tenant *tenant,
                     const struct dw_used *used, uint64_t utc_ms)
{
	dw_quota_spent(tenant, used->cpu_ms, utc_ms);
	if (used->strained)
		tenant->strained_ms = utc_ms;
	update_yields(quota, tenant, utc_ms);
}

void dw_quota_done(struct dw_quota *quota, struct dw_tenant *tenant)
{
	assert(tenant->running > 0);
	count(quota, tenant, 0, -1);
}

void dw_quota_spent(struct dw_tenant *tenant, uint64_t cpu_ms, uint64_t utc_ms)
{
	turn_day(tenant, utc_ms);
	if (__builtin_add_overflow(tenant->cpu_ms, cpu_ms, &tenant->cpu_ms))
		tenant->cpu_ms = UINT64_MAX;
}

size_t dw_quota_waiting(const struct dw_quota *quota)
{
	return quota->waiting;
}

unsigned dw_quota_running(const struct dw_quota *quota)
{
	return quota->running;
}
