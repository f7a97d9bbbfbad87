/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "daemon/quota.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"

/* 2026-11-15T12:00:00Z */
#define NOON UINT64_C(1794744000000)
#define DAY UINT64_C(86400000)

static const struct dw_grant no_limits = {.scopes = DW_SCOPE_RUN};

static struct dw_quota *make(size_t queue_max, unsigned running_max)
{
	struct dw_quota *quota = dw_quota_new(queue_max, running_max);

	assert_non_null(quota);
	return quota;
}

static struct dw_tenant *tenant(struct dw_quota *quota, const char *who,
                                struct dw_grant grant)
{
	struct dw_tenant *made = dw_quota_tenant(quota, who, &grant);

	assert_non_null(made);
	return made;
}

/* Returns 0, or the seconds after which to retry. */
static unsigned enter(struct dw_quota *quota, struct dw_tenant *who, struct dw_waiting *w,
                      uint64_t now)
{
	struct dw_api_error why = {0};

	if (dw_quota_enter(quota, who, w, now, &why) == 0) {
		assert_ptr_equal(w->tenant, who);
		return 0;
	}
	assert_null(w->tenant);
	assert_int_equal(why.status, 429);
	assert_string_equal(why.code, "busy");
	assert_true(why.message[0] != '\0' && why.hint[0] != '\0');
	assert_true(why.retry_after_s > 0);
	return why.retry_after_s;
}

/* Ends a run as a worker does: charge it, then free its place. */
static void end_run(struct dw_quota *quota, struct dw_tenant *who,
                    const struct dw_used *used, uint64_t now)
{
	dw_quota_charge(quota, who, used, now);
	dw_quota_done(quota, who);
}

/* Enters up to n runs; returns how many were admitted. */
static size_t fill(struct dw_quota *quota, struct dw_tenant *who, struct dw_waiting *w,
                   size_t n)
{
	size_t in = 0;

	while (in < n && enter(quota, who, &w[in], NOON) == 0)
		in++;
	return in;
}

static void a_tenant_is_found_by_name(void **state)
{
	struct dw_quota *quota = make(4, 4);
	struct dw_tenant *a = tenant(quota, "a", no_limits);
	char name[32];

	(void)state;
	assert_ptr_equal(tenant(quota, "a", no_limits), a);
	for (int i = 0; i < 500; i++) {
		(void)snprintf(name, sizeof(name), "key:%08x", i * 7919);
		assert_ptr_not_equal(tenant(quota, name, no_limits), a);
	}
	assert_ptr_equal(tenant(quota, "a", no_limits), a);
	dw_quota_free(quota);
	dw_quota_free(NULL);
}

static void a_minutes_quota_may_be_used_at_once_then_it_refills(void **state)
{
	struct dw_quota *quota = make(100, 100);
	struct dw_grant grant = {.runs_per_minute = 6};
	struct dw_tenant *a = tenant(quota, "a", grant);
	struct dw_waiting w[20] = {0};

	(void)state;
	assert_int_equal(fill(quota, a, w, 20), 6);
	/* It refills by one every ten seconds. */
	assert_int_equal(enter(quota, a, &w[6], NOON), 10);
	assert_int_equal(enter(quota, a, &w[6], NOON + 9001), 1);
	assert_int_equal(enter(quota, a, &w[6], NOON + 9999), 1);
	assert_int_equal(enter(quota, a, &w[6], NOON + 10000), 0);
	assert_int_equal(enter(quota, a, &w[7], NOON + 10000), 10);
	/* It never holds more than one minute's quota. */
	for (size_t i = 7; i < 13; i++)
		assert_int_equal(enter(quota, a, &w[i], NOON + DAY), 0);
	assert_int_equal(enter(quota, a, &w[13], NOON + DAY), 10);
	dw_quota_free(quota);
}

static void a_rate_that_does_not_divide_a_minute_is_exact(void **state)
{
	struct dw_quota *quota = make(5000, 5000);
	struct dw_grant grant = {.runs_per_minute = 7};
	struct dw_tenant *a = tenant(quota, "a", grant);
	static struct dw_waiting w[5000];
	size_t in = 0;

	(void)state;
	memset(w, 0, sizeof(w));
	/* For ten minutes, try every 11 ms. */
	for (uint64_t t = 0; t < 600000; t += 11)
		in += enter(quota, a, &w[in], NOON + t) == 0;
	assert_int_equal(in, 7 + 69); /* the 70th is due at the end of the tenth minute */
	dw_quota_free(quota);
}

static void a_retry_after_the_stated_time_is_admitted(void **state)
{
	static const unsigned rates[] = {1, 2, 7, 59, 61, 1000, 4000000000U};
	struct dw_waiting w[2] = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		struct dw_quota *quota = make(10, 10);
		struct dw_grant grant = {.runs_per_minute = rates[i]};
		struct dw_tenant *a = tenant(quota, "a", grant);
		struct dw_api_error why;
		unsigned wait = 0;

		memset(w, 0, sizeof(w));
		for (unsigned n = 0; n < 2000 && wait == 0; n++) {
			wait = enter(quota, a, &w[0], NOON);
			if (wait == 0) {
				assert_ptr_equal(dw_quota_next(quota), &w[0]);
				end_run(quota, a, &(struct dw_used){0}, NOON);
			}
		}
		if (rates[i] <= 1000)
			assert_int_equal(wait, (60 + rates[i] - 1) / rates[i]);
		if (wait > 0)
			assert_int_equal(dw_quota_enter(quota, a, &w[0],
			                                NOON + wait * 1000ULL, &why),
			                 0);
		dw_quota_free(quota);
	}
}

static void a_clock_set_back_refills_nothing_and_runs_on(void **state)
{
	struct dw_quota *quota = make(100, 100);
	struct dw_grant grant = {.runs_per_minute = 1, .cpu_s_per_day = 1};
	struct dw_tenant *a = tenant(quota, "a", grant);
	struct dw_waiting w[4] = {0};

	(void)state;
	assert_int_equal(enter(quota, a, &w[0], NOON), 0);
	assert_int_equal(enter(quota, a, &w[1], NOON - 7200000), 60);
	assert_int_equal(enter(quota, a, &w[1], NOON - 7200000 + 60000), 0);

	dw_quota_spent(a, 1000, NOON);
	assert_int_equal(enter(quota, a, &w[2], NOON - DAY), 12 * 3600);
	dw_quota_free(quota);
}

static void a_changed_grant_applies_at_once(void **state)
{
	struct dw_quota *quota = make(100, 100);
	struct dw_grant grant = {.runs_per_minute = 2};
	struct dw_tenant *a = tenant(quota, "a", grant);
	struct dw_waiting w[200] = {0};

	(void)state;
	assert_int_equal(fill(quota, a, w, 100), 2);
	grant.runs_per_minute = 5;
	(void)tenant(quota, "a", grant);
	assert_int_equal(fill(quota, a, w + 2, 100), 3);
	/* After a lower rate, earlier runs delay the next one by a minute at most. */
	grant.runs_per_minute = 1;
	(void)tenant(quota, "a", grant);
	assert_int_equal(enter(quota, a, &w[5], NOON), 60);
	grant.runs_per_minute = 0;
	(void)tenant(quota, "a", grant);
	assert_int_equal(fill(quota, a, w + 5, 50), 50);
	dw_quota_free(quota);
}

static void a_run_that_leaves_the_queue_is_not_counted(void **state)
{
	struct dw_quota *quota = make(100, 100);
	struct dw_grant grant = {.runs_per_minute = 1};
	struct dw_tenant *a = tenant(quota, "a", grant);
	struct dw_waiting w = {0};

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(enter(quota, a, &w, NOON), 0);
		dw_quota_leave(quota, &w);
		assert_null(w.tenant);
		dw_quota_leave(quota, &w);
		assert_int_equal(dw_quota_waiting(quota), 0);
	}
	assert_null(dw_quota_next(quota));
	dw_quota_free(quota);
}

static void cpu_seconds_are_per_day_and_reset_at_midnight_utc(void **state)
{
	struct dw_quota *quota = make(100, 100);
	struct dw_grant grant = {.cpu_s_per_day = 10};
	struct dw_tenant *a = tenant(quota, "a", grant);
	struct dw_waiting w = {0};

	(void)state;
	assert_int_equal(enter(quota, a, &w, NOON), 0);
	assert_ptr_equal(dw_quota_next(quota), &w);
	end_run(quota, a, &(struct dw_used){.cpu_ms = 9999}, NOON);
	assert_int_equal(enter(quota, a, &w, NOON), 0);
	assert_ptr_equal(dw_quota_next(quota), &w);
	end_run(quota, a, &(struct dw_used){.cpu_ms = 1}, NOON + 500);
	assert_int_equal(enter(quota, a, &w, NOON + 500), 12 * 3600);
	assert_int_equal(enter(quota, a, &w, NOON + DAY / 2 - 1), 1);
	assert_int_equal(enter(quota, a, &w, NOON + DAY / 2), 0);

	/* All cpu time of a run that began yesterday is charged to today. */
	assert_ptr_equal(dw_quota_next(quota), &w);
	end_run(quota, a, &(struct dw_used){.cpu_ms = 10000}, NOON + DAY);
	assert_int_equal(enter(quota, a, &w, NOON + DAY), 12 * 3600);
	dw_quota_spent(a, UINT64_MAX, NOON + DAY);
	assert_int_equal(enter(quota, a, &w, NOON + DAY), 12 * 3600);
	dw_quota_free(quota);
}

static void cpu_time_of_before_a_restart_is_charged(void **state)
{
	struct dw_quota *quota = make(100, 100);
	struct dw_grant grant = {.cpu_s_per_day = 10};
	struct dw_tenant *a = tenant(quota, "a", grant);
	struct dw_waiting w = {0};

	(void)state;
	dw_quota_spent(a, 10000, NOON);
	assert_int_equal(enter(quota, a, &w, NOON), 12 * 3600);
	dw_quota_free(quota);
}

static void a_queued_run_without_cpu_quota_left_is_refused(void **state)
{
	struct dw_quota *quota = make(100, 1);
	struct dw_grant grant = {.cpu_s_per_day = 10};
	struct dw_tenant *a = tenant(quota, "a", grant);
	struct dw_tenant *b = tenant(quota, "b", no_limits);
	struct dw_waiting w[4] = {0};
	struct dw_api_error why = {0};

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(enter(quota, a, &w[i], NOON), 0);
	assert_int_equal(enter(quota, b, &w[3], NOON), 0);
	assert_ptr_equal(dw_quota_next(quota), &w[0]);
	assert_null(dw_quota_overdrawn(quota, NOON, &why));
	end_run(quota, a, &(struct dw_used){.cpu_ms = 10000}, NOON);
	assert_ptr_equal(dw_quota_overdrawn(quota, NOON, &why), &w[1]);
	assert_int_equal(why.status, 429);
	assert_int_equal(why.retry_after_s, 12 * 3600);
	assert_null(w[1].tenant);
	/* Midnight resets the quota. */
	assert_null(dw_quota_overdrawn(quota, NOON + DAY / 2, &why));
	assert_ptr_equal(dw_quota_next(quota), &w[3]);
	end_run(quota, b, &(struct dw_used){.cpu_ms = 10000}, NOON);
	assert_ptr_equal(dw_quota_next(quota), &w[2]);
	assert_int_equal(dw_quota_waiting(quota), 0);
	assert_int_equal(dw_quota_running(quota), 1);
	dw_quota_free(quota);
}

static void tenants_take_turns_oldest_run_first(void **state)
{
	struct dw_quota *quota = make(100, 100);
	struct dw_tenant *a = tenant(quota, "a", no_limits);
	struct dw_tenant *b = tenant(quota, "b", no_limits);
	struct dw_tenant *c = tenant(quota, "c", no_limits);
	struct dw_waiting w[9] = {0};

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_int_equal(enter(quota, a, &w[i], NOON), 0);
	assert_int_equal(enter(quota, b, &w[5], NOON), 0);
	assert_int_equal(enter(quota, b, &w[6], NOON), 0);
	assert_ptr_equal(dw_quota_next(quota), &w[0]);
	assert_int_equal(enter(quota, c, &w[7], NOON), 0);
	assert_ptr_equal(dw_quota_next(quota), &w[5]);
	assert_ptr_equal(dw_quota_next(quota), &w[1]);
	assert_ptr_equal(dw_quota_next(quota), &w[7]);
	assert_ptr_equal(dw_quota_next(quota), &w[6]);
	assert_ptr_equal(dw_quota_next(quota), &w[2]);
	assert_ptr_equal(dw_quota_next(quota), &w[3]);
	assert_ptr_equal(dw_quota_next(quota), &w[4]);
	assert_null(dw_quota_next(quota));
	assert_int_equal(dw_quota_running(quota), 8);
	dw_quota_free(quota);
}

static void a_tenant_at_its_ceiling_is_skipped_and_keeps_its_turn(void **state)
{
	struct dw_quota *quota = make(100, 100);
	struct dw_grant one = {.concurrent = 1};
	struct dw_tenant *a = tenant(quota, "a", one);
	struct dw_tenant *b = tenant(quota, "b", no_limits);
	struct dw_waiting w[6] = {0};

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(enter(quota, a, &w[i], NOON), 0);
	for (int i = 2; i < 6; i++)
		assert_int_equal(enter(quota, b, &w[i], NOON), 0);
	assert_ptr_equal(dw_quota_next(quota), &w[0]);
	assert_ptr_equal(dw_quota_next(quota), &w[2]);
	assert_ptr_equal(dw_quota_next(quota), &w[3]);
	end_run(quota, a, &(struct dw_used){0}, NOON);
	assert_ptr_equal(dw_quota_next(quota), &w[1]);
	assert_ptr_equal(dw_quota_next(quota), &w[4]);
	assert_ptr_equal(dw_quota_next(quota), &w[5]);
	assert_null(dw_quota_next(quota));
	dw_quota_free(quota);
}

static void concurrent_runs_never_exceed_the_ceiling(void **state)
{
	struct dw_quota *quota = make(100, 2);
	struct dw_tenant *a = tenant(quota, "a", no_limits);
	struct dw_waiting w[4] = {0};

	(void)state;
	assert_int_equal(fill(quota, a, w, 4), 4);
	assert_non_null(dw_quota_next(quota));
	assert_non_null(dw_quota_next(quota));
	assert_null(dw_quota_next(quota));
	dw_quota_resize(quota, 100, 3);
	assert_non_null(dw_quota_next(quota));
	dw_quota_resize(quota, 100, 1);
	end_run(quota, a, &(struct dw_used){0}, NOON);
	end_run(quota, a, &(struct dw_used){0}, NOON);
	assert_null(dw_quota_next(quota));
	end_run(quota, a, &(struct dw_used){0}, NOON);
	assert_ptr_equal(dw_quota_next(quota), &w[3]);
	dw_quota_free(quota);
}

static void begin(struct dw_quota *quota, struct dw_tenant *who, struct dw_waiting *w,
                  uint64_t now)
{
	assert_int_equal(enter(quota, who, w, now), 0);
	assert_ptr_equal(dw_quota_next(quota), w);
}

static void a_run_waiting_for_approval_holds_no_slot_and_is_next_after(void **state)
{
	struct dw_quota *quota = make(10, 1);
	struct dw_tenant *a = tenant(quota, "a", (struct dw_grant){.concurrent = 1});
	struct dw_tenant *b = tenant(quota, "b", no_limits);
	struct dw_waiting w[5] = {0};

	(void)state;
	assert_int_equal(enter(quota, a, &w[0], NOON), 0);
	assert_int_equal(enter(quota, a, &w[1], NOON), 0);
	assert_int_equal(enter(quota, b, &w[2], NOON), 0);
	assert_int_equal(enter(quota, b, &w[3], NOON), 0);
	assert_ptr_equal(dw_quota_next(quota), &w[0]);
	assert_null(dw_quota_next(quota));
	dw_quota_park(quota, a);
	assert_int_equal(dw_quota_running(quota), 0);
	assert_ptr_equal(dw_quota_next(quota), &w[2]);
	/* The returning run is ahead of its tenant's other runs, and of other tenants'. */
	dw_quota_return(quota, a, &w[0]);
	assert_int_equal(dw_quota_waiting(quota), 3);
	end_run(quota, b, &(struct dw_used){0}, NOON);
	assert_ptr_equal(dw_quota_next(quota), &w[0]);
	end_run(quota, a, &(struct dw_used){0}, NOON);
	assert_ptr_equal(dw_quota_next(quota), &w[3]);
	end_run(quota, b, &(struct dw_used){0}, NOON);
	assert_ptr_equal(dw_quota_next(quota), &w[1]);
	end_run(quota, a, &(struct dw_used){0}, NOON);
	/* Also if there is no other run. */
	assert_int_equal(enter(quota, a, &w[4], NOON), 0);
	assert_ptr_equal(dw_quota_next(quota), &w[4]);
	dw_quota_park(quota, a);
	dw_quota_return(quota, a, &w[4]);
	assert_ptr_equal(dw_quota_next(quota), &w[4]);
	end_run(quota, a, &(struct dw_used){0}, NOON);
	assert_int_equal(dw_quota_waiting(quota) + dw_quota_running(quota), 0);
	dw_quota_free(quota);
}

static void a_run_that_returns_has_room_and_is_counted_once(void **state)
{
	struct dw_quota *quota = make(0, 1);
	struct dw_tenant *a = tenant(quota, "a", (struct dw_grant){.runs_per_minute = 2});
	struct dw_waiting w[3] = {0};

	(void)state;
	assert_int_equal(enter(quota, a, &w[0], NOON), 0);
	assert_ptr_equal(dw_quota_next(quota), &w[0]);
	dw_quota_park(quota, a);
	assert_int_equal(enter(quota, a, &w[1], NOON), 0);
	assert_ptr_equal(dw_quota_next(quota), &w[1]);
	/* The queue has no room, and the rate does not admit a third run. */
	dw_quota_return(quota, a, &w[0]);
	assert_ptr_equal(w[0].tenant, a);
	end_run(quota, a, &(struct dw_used){0}, NOON);
	assert_ptr_equal(dw_quota_next(quota), &w[0]);
	end_run(quota, a, &(struct dw_used){0}, NOON);
	assert_true(enter(quota, a, &w[2], NOON) > 0);
	dw_quota_free(quota);
}

static void a_tenant_that_strained_the_host_runs_one_at_a_time(void **state)
{
	const struct dw_used bomb = {.strained = true}, plain = {0};
	struct dw_quota *quota = make(100, 100);
	struct dw_tenant *a = tenant(quota, "a", no_limits);
	struct dw_tenant *b = tenant(quota, "b", no_limits);
	struct dw_waiting w[8] = {0};

	(void)state;
	begin(quota, b, &w[0], NOON);
	begin(quota, a, &w[1], NOON);
	assert_false(dw_quota_yields(a));
	dw_quota_charge(quota, a, &bomb, NOON);

	/* The caller has its answer: its next request may arrive before the place is free. */
	assert_int_equal(enter(quota, a, &w[2], NOON + 1), 0);
	assert_null(dw_quota_next(quota));
	dw_quota_done(quota, a);
	assert_ptr_equal(dw_quota_next(quota), &w[2]);
	assert_true(dw_quota_yields(a));
	assert_int_equal(enter(quota, a, &w[3], NOON + 1), 0);
	assert_null(dw_quota_next(quota));
	begin(quota, b, &w[4], NOON + 1);
	begin(quota, b, &w[5], NOON + 1);
	assert_false(dw_quota_yields(b));

	/* Its runs start one after the other. */
	end_run(quota, a, &plain, NOON + 2);
	assert_ptr_equal(dw_quota_next(quota), &w[3]);

	/* Its runs are concurrent again after DW_UNRULY_MS without strain. */
	begin(quota, b, &w[6], NOON + DW_UNRULY_MS);
	begin(quota, a, &w[7], NOON + DW_UNRULY_MS);
	assert_false(dw_quota_yields(a));
	dw_quota_free(quota);
}

static void a_tenant_alone_on_the_host_is_not_slowed_down(void **state)
{
	const struct dw_used bomb = {.strained = true};
	struct dw_quota *quota = make(100, 100);
	struct dw_tenant *b = tenant(quota, "b", no_limits);
	struct dw_tenant *a = tenant(quota, "a", no_limits);
	struct dw_waiting w[5] = {0};

	(void)state;
	begin(quota, b, &w[0], NOON - DW_UNRULY_MS);
	begin(quota, a, &w[1], NOON);
	end_run(quota, a, &bomb, NOON);
	begin(quota, a, &w[2], NOON);
	begin(quota, a, &w[3], NOON);
	assert_false(dw_quota_yields(a));

	/* Until another tenant has a run: then its runs go on, but it starts no more. */
	begin(quota, b, &w[4], NOON + 1);
	w[1] = (struct dw_waiting){0};
	assert_int_equal(enter(quota, a, &w[1], NOON + 1), 0);
	assert_null(dw_quota_next(quota));
	assert_true(dw_quota_yields(a));
	dw_quota_free(quota);
}

static void a_tenant_alone_has_the_whole_queue(void **state)
{
	struct dw_quota *quota = make(10, 3);
	struct dw_tenant *a = tenant(quota, "a", no_limits);
	struct dw_waiting w[30] = {0};

	(void)state;
	/* Three places are free, so 13 are admitted even before a worker takes the first run. */
	assert_int_equal(fill(quota, a, w, 30), 13);
	for (int i = 0; i < 3; i++)
		assert_ptr_equal(dw_quota_next(quota), &w[i]);
	assert_int_equal(dw_quota_waiting(quota), 10);
	assert_int_equal(enter(quota, a, &w[13], NOON), 1);
	dw_quota_free(quota);
}

static void a_queue_of_size_zero_holds_no_run(void **state)
{
	struct dw_quota *quota = make(0, 2);
	struct dw_tenant *a = tenant(quota, "a", no_limits);
	struct dw_tenant *b = tenant(quota, "b", no_limits);
	struct dw_waiting w[3] = {0};

	(void)state;
	assert_int_equal(enter(quota, a, &w[0], NOON), 0);
	assert_int_equal(enter(quota, b, &w[1], NOON), 0);
	assert_int_equal(enter(quota, a, &w[2], NOON), 1);
	dw_quota_free(quota);
}

static void one_tenant_cannot_fill_the_queue(void **state)
{
	struct dw_quota *quota = make(256, 1);
	struct dw_tenant *busy = tenant(quota, "busy", no_limits);
	struct dw_tenant *others[40];
	struct dw_waiting first = {0};
	static struct dw_waiting w[41][300];
	char name[16];

	(void)state;
	memset(w, 0, sizeof(w));
	for (int i = 0; i < 40; i++) {
		(void)snprintf(name, sizeof(name), "other%d", i);
		others[i] = tenant(quota, name, no_limits);
	}
	assert_int_equal(enter(quota, busy, &first, NOON), 0);
	assert_ptr_equal(dw_quota_next(quota), &first);

	assert_int_equal(fill(quota, busy, w[40], 300), 128);
	assert_int_equal(fill(quota, others[0], w[0], 300), 64);
	assert_int_equal(fill(quota, others[1], w[1], 300), 32);
	/* Every other tenant finds at least one place. */
	for (int i = 2; i < 40; i++)
		assert_true(fill(quota, others[i], w[i], 300) >= 1);
	assert_true(dw_quota_waiting(quota) <= 256 + 41);

	/* After the queue drained, the shares are equal. */
	dw_quota_resize(quota, 256, 1000);
	while (dw_quota_next(quota))
		;
	dw_quota_resize(quota, 256, 1);
	memset(w, 0, sizeof(w));
	for (size_t n = 0; n < 300; n++)
		for (int i = 0; i < 3; i++)
			(void)enter(quota, others[i], &w[i][n], NOON);
	assert_int_equal(dw_quota_waiting(quota), 192);
	dw_quota_free(quota);
}

static void a_capped_tenants_backlog_does_not_take_up_free_slots(void **state)
{
	struct dw_quota *quota = make(4, 8);
	struct dw_grant one = {.concurrent = 1};
	struct dw_tenant *a = tenant(quota, "a", one);
	struct dw_tenant *b = tenant(quota, "b", no_limits);
	struct dw_waiting w[2][20] = {0};

	(void)state;
	/* One run starts; the others get half of the queue. */
	assert_int_equal(fill(quota, a, w[0], 20), 1 + 2);
	assert_int_equal(fill(quota, b, w[1], 7), 7);
	for (int i = 0; i < 8; i++)
		assert_non_null(dw_quota_next(quota));
	assert_null(dw_quota_next(quota));
	assert_int_equal(dw_quota_waiting(quota), 2);
	dw_quota_free(quota);
}

/*
 * A simple model of the quota: lists are arrays, and each number is counted again when it
 * is needed.
 */
enum {
	TENANTS = 5,
	RUNS = 400,
};

struct model {
	size_t queue_max;
	unsigned running_max;
	struct dw_grant grants[TENANTS];
	int line[RUNS], n_line; /* queued runs by age; whose[] is the tenant */
	int whose[RUNS];
	bool taken[RUNS];
	int turns[TENANTS], n_turns;
	unsigned running[TENANTS];
	double runs_left[TENANTS]; /* in this minute */
	uint64_t asked[TENANTS];
	uint64_t cpu[TENANTS], day[TENANTS];
};

static size_t m_waiting(const struct model *m, int t)
{
	size_t n = 0;

	for (int i = 0; i < m->n_line; i++)
		n += m->whose[m->line[i]] == t;
	return n;
}

static unsigned m_running(const struct model *m)
{
	unsigned n = 0;

	for (int t = 0; t < TENANTS; t++)
		n += m->running[t];
	return n;
}

static void m_tick(struct model *m, int t, uint64_t now)
{
	double most = m->grants[t].runs_per_minute;

	m->runs_left[t] += (double)(now - m->asked[t]) * most / 60000;
	if (m->runs_left[t] > most)
		m->runs_left[t] = most;
	m->asked[t] = now;
	if (now / DAY > m->day[t])
		m->cpu[t] = 0;
	m->day[t] = now / DAY;
}

/* How many queued runs would start if every run that can start did. */
static size_t m_startable(const struct model *m)
{
	unsigned running[TENANTS], all = m_running(m);
	size_t n = 0;

	memcpy(running, m->running, sizeof(running));
	for (int i = 0; i < m->n_line; i++) {
		int t = m->whose[m->line[i]];

		if (all >= m->running_max ||
		    (m->grants[t].concurrent && running[t] >= m->grants[t].concurrent))
			continue;
		running[t]++;
		all++;
		n++;
	}
	return n;
}

static bool m_may_enter(struct model *m, int t, uint64_t now)
{
	const struct dw_grant *g = &m->grants[t];
	size_t before = m_startable(m), stay = (size_t)m->n_line - before;
	bool starts;

	m_tick(m, t, now);
	if (g->cpu_s_per_day && m->cpu[t] >= g->cpu_s_per_day * 1000)
		return false;
	if (g->runs_per_minute && m->runs_left[t] < 1 - 1e-6)
		return false;
	/* Append the run, and see whether one more can start. */
	m->line[m->n_line] = RUNS - 1;
	m->whose[RUNS - 1] = t;
	m->n_line++;
	starts = m_startable(m) > before;
	m->n_line--;
	if (starts)
		return true;
	if (m->queue_max == 0)
		return false;
	return m_waiting(m, t) == 0 || m_waiting(m, t) + stay < m->queue_max;
}

static void m_remove(struct model *m, int run)
{
	int t = m->whose[run], i = 0;

	while (m->line[i] != run)
		i++;
	memmove(&m->line[i], &m->line[i + 1],
	        (size_t)(--m->n_line - i) * sizeof(m->line[0]));
	m->taken[run] = false;
	if (m_waiting(m, t) > 0)
		return;
	for (i = 0; m->turns[i] != t; i++)
		;
	memmove(&m->turns[i], &m->turns[i + 1],
	        (size_t)(--m->n_turns - i) * sizeof(m->turns[0]));
}

static void m_enter(struct model *m, int run, int t)
{
	if (m_waiting(m, t) == 0)
		m->turns[m->n_turns++] = t;
	m->whose[run] = t;
	m->line[m->n_line++] = run;
	m->taken[run] = true;
	m->runs_left[t] -= 1;
}

static int m_oldest(const struct model *m, int t)
{
	int i = 0;

	while (m->whose[m->line[i]] != t)
		i++;
	return m->line[i];
}

static int m_next(struct model *m)
{
	if (m_running(m) >= m->running_max)
		return -1;
	for (int i = 0; i < m->n_turns; i++) {
		int t = m->turns[i], run;

		if (m->grants[t].concurrent && m->running[t] >= m->grants[t].concurrent)
			continue;
		run = m_oldest(m, t);
		m_remove(m, run);
		if (m_waiting(m, t) > 0) {
			memmove(&m->turns[i], &m->turns[i + 1],
			        (size_t)(m->n_turns - 1 - i) * sizeof(m->turns[0]));
			m->turns[m->n_turns - 1] = t;
		}
		m->running[t]++;
		return run;
	}
	return -1;
}

static unsigned below(unsigned *seed, unsigned n)
{
	return (unsigned)rand_r(seed) % n;
}

static struct dw_grant some_grant(unsigned *seed)
{
	return (struct dw_grant){
		.concurrent = below(seed, 4),
		/* Rates whose refill per millisecond a double represents exactly. */
		.runs_per_minute = below(seed, 2) ? 0 : 60U << below(seed, 3),
		.cpu_s_per_day = below(seed, 3) ? 0 : 1 + below(seed, 400),
	};
}

static void one_step(struct dw_quota *quota, struct dw_tenant **tenants,
                     struct dw_waiting *w, struct model *m, uint64_t now, unsigned *seed)
{
	int t = (int)below(seed, TENANTS), run = (int)below(seed, RUNS - 1);
	struct dw_api_error why = {0};
	struct dw_waiting *next;
	unsigned cpu;
	bool may;

	switch (below(seed, 9)) {
	default:
		if (m->taken[run])
			break;
		may = m_may_enter(m, t, now);
		assert_int_equal(dw_quota_enter(quota, tenants[t], &w[run], now, &why),
		                 may ? 0 : -1);
		if (may)
			m_enter(m, run, t);
		break;
	case 0:
	case 1:
		next = dw_quota_next(quota);
		assert_int_equal(next ? next - w : -1, m_next(m));
		break;
	case 2:
	case 3:
		if (m->running[t] == 0)
			break;
		cpu = below(seed, 3000);
		m_tick(m, t, now);
		m->running[t]--;
		m->cpu[t] += cpu;
		end_run(quota, tenants[t], &(struct dw_used){.cpu_ms = cpu}, now);
		break;
	case 4:
		if (!m->taken[run])
			break;
		t = m->whose[run];
		m_remove(m, run);
		m_tick(m, t, now);
		m->runs_left[t] += 1;
		if (m->runs_left[t] > m->grants[t].runs_per_minute)
			m->runs_left[t] = m->grants[t].runs_per_minute;
		dw_quota_leave(quota, &w[run]);
		break;
	case 5:
		m->queue_max = below(seed, 24);
		m->running_max = below(seed, 8);
		dw_quota_resize(quota, m->queue_max, m->running_max);
		break;
	}
}

static void the_quota_agrees_with_a_simple_model(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		unsigned seed = round;
		struct dw_quota *quota = make(10, 4);
		struct model m = {.queue_max = 10, .running_max = 4};
		struct dw_tenant *tenants[TENANTS];
		struct dw_waiting w[RUNS] = {0};
		uint64_t now = NOON;

		for (int t = 0; t < TENANTS; t++) {
			char name[2] = {(char)('a' + t)};

			m.grants[t] = some_grant(&seed);
			m.runs_left[t] = m.grants[t].runs_per_minute;
			m.asked[t] = now;
			m.day[t] = now / DAY;
			tenants[t] = tenant(quota, name, m.grants[t]);
		}
		for (int step = 0; step < 1000; step++) {
			now += below(&seed, 50) ? 125 * below(&seed, 4) : DAY / 3;
			one_step(quota, tenants, w, &m, now, &seed);
			assert_int_equal(dw_quota_waiting(quota), m.n_line);
			assert_int_equal(dw_quota_running(quota), m_running(&m));
			assert_true(dw_quota_waiting(quota) <= 24 + 8 + TENANTS);
		}
		dw_quota_free(quota);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tenant_is_found_by_name),
		cmocka_unit_test(a_minutes_quota_may_be_used_at_once_then_it_refills),
		cmocka_unit_test(a_rate_that_does_not_divide_a_minute_is_exact),
		cmocka_unit_test(a_retry_after_the_stated_time_is_admitted),
		cmocka_unit_test(a_clock_set_back_refills_nothing_and_runs_on),
		cmocka_unit_test(a_changed_grant_applies_at_once),
		cmocka_unit_test(a_run_that_leaves_the_queue_is_not_counted),
		cmocka_unit_test(cpu_seconds_are_per_day_and_reset_at_midnight_utc),
		cmocka_unit_test(cpu_time_of_before_a_restart_is_charged),
		cmocka_unit_test(a_queued_run_without_cpu_quota_left_is_refused),
		cmocka_unit_test(tenants_take_turns_oldest_run_first),
		cmocka_unit_test(a_tenant_at_its_ceiling_is_skipped_and_keeps_its_turn),
		cmocka_unit_test(concurrent_runs_never_exceed_the_ceiling),
		cmocka_unit_test(
			a_run_waiting_for_approval_holds_no_slot_and_is_next_after),
		cmocka_unit_test(a_run_that_returns_has_room_and_is_counted_once),
		cmocka_unit_test(a_tenant_that_strained_the_host_runs_one_at_a_time),
		cmocka_unit_test(a_tenant_alone_on_the_host_is_not_slowed_down),
		cmocka_unit_test(a_tenant_alone_has_the_whole_queue),
		cmocka_unit_test(a_queue_of_size_zero_holds_no_run),
		cmocka_unit_test(one_tenant_cannot_fill_the_queue),
		cmocka_unit_test(a_capped_tenants_backlog_does_not_take_up_free_slots),
		cmocka_unit_test(the_quota_agrees_with_a_simple_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
