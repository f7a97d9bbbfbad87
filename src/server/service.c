/* SPDX-License-Identifier: Apache-2.0 */
#include "server/service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "server/log.h"
#include "server/service_own.h"

#define TICK_MS 100U
#define RETAIN_EVERY_MS (3600U * 1000)

/* Quotas go by the calendar: a day is a day. */
static uint64_t wall_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000U + (uint64_t)ts.tv_nsec / 1000000U;
}

/* ---- the list of tasks; under the lock ---- */

static void list_add(struct dw_service *s, struct dw_task *task)
{
	task->prev = s->last;
	if (s->last)
		s->last->next = task;
	else
		s->first = task;
	s->last = task;
	(void)dw_task_ref(task);
}

static void list_remove(struct dw_service *s, struct dw_task *task)
{
	if (task->prev)
		task->prev->next = task->next;
	else
		s->first = task->next;
	if (task->next)
		task->next->prev = task->prev;
	else
		s->last = task->prev;
	task->next = task->prev = NULL;
	dw_task_unref(task);
}

/* Let go of results: the oldest beyond what is to be kept. */
static void forget(struct dw_service *s)
{
	uint64_t now = dw_now_ms();
	struct dw_task *task = s->first, *next;

	for (; task; task = next) {
		next = task->next;
		if (task->stage != DW_TASK_DONE)
			continue;
		if (s->kept <= s->keep.n && s->kept_bytes <= s->keep.bytes &&
		    now - task->done_ms < (uint64_t)s->keep.s * 1000)
			break; /* those behind it ended about as late, or later */
		s->kept--;
		s->kept_bytes -= task->bytes;
		list_remove(s, task);
	}
}

/* It is done, and was told so. */
static void after(struct dw_service *s, struct dw_task *task)
{
	if (!task->keep) {
		list_remove(s, task);
		return;
	}
	s->kept++;
	s->kept_bytes += task->bytes;
	forget(s);
}

static void tell_if_idle(struct dw_service *s)
{
	if (dw_quota_running(s->quota) == 0 && dw_quota_waiting(s->quota) == 0)
		(void)pthread_cond_broadcast(&s->idle);
}

static void run_task(struct dw_service *s, struct dw_task *task)
{
	struct dw_result *res = dw_running(s, task, dw_now_ns());
	double cpu_ms = res && res->cpu_time_ms > 0 ? res->cpu_time_ms : 0;

	dw_task_end(task, res);
	(void)pthread_mutex_lock(&s->lock);
	dw_quota_done(s->quota, task->tenant, (uint64_t)cpu_ms, wall_ms());
	after(s, task);
	(void)pthread_cond_signal(&s->work); /* it may be this tenant's turn now */
	tell_if_idle(s);
	(void)pthread_mutex_unlock(&s->lock);
	dw_task_unref(task);
}

static void *work(void *user)
{
	struct dw_service *s = user;
	struct dw_waiting *next;

	(void)pthread_mutex_lock(&s->lock);
	while (!s->ended) {
		next = dw_quota_next(s->quota);
		if (!next) {
			(void)pthread_cond_wait(&s->work, &s->lock);
			continue;
		}
		((struct dw_task *)next)->stage = DW_TASK_RUNNING;
		(void)pthread_mutex_unlock(&s->lock);
		run_task(s, (struct dw_task *)next);
		(void)pthread_mutex_lock(&s->lock);
	}
	(void)pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* ---- those that never run ---- */

/* Under the lock, which is let go of meanwhile: it waits no more, and ends so. */
static void end_waiting(struct dw_service *s, struct dw_task *task)
{
	(void)dw_task_ref(task);
	dw_quota_leave(s->quota, &task->waiting);
	(void)pthread_mutex_unlock(&s->lock);
	dw_metrics_refused(s->metrics, task->why.status);
	dw_running_log(task, NULL);
	dw_task_end(task, NULL);
	(void)pthread_mutex_lock(&s->lock);
	after(s, task);
	tell_if_idle(s);
	dw_task_unref(task); /* what the queue had */
	dw_task_unref(task);
}

void dw_task_cancel(struct dw_task *task)
{
	struct dw_service *s = task->service;
	const uint64_t one = 1;

	(void)pthread_mutex_lock(&s->lock);
	if (task->waiting.tenant) {
		(void)dw_refuse(&task->why, 409, "",
		                "it was cancelled before its turn came");
		end_waiting(s, task);
	} else {
		(void)!write(task->cancel_fd, &one, sizeof(one));
	}
	(void)pthread_mutex_unlock(&s->lock);
}

/* One whose time has passed in the queue; NULL if there is none. */
static struct dw_task *find_late(struct dw_service *s)
{
	uint64_t now = dw_now_ns();

	for (struct dw_task *task = s->first; task; task = task->next)
		if (task->waiting.tenant && !dw_running_in_time(task, now))
			return task;
	return NULL;
}

static void retain(struct dw_service *s)
{
	struct dw_audit_keep keep = s->retain;
	struct dw_error err = {0};
	size_t removed = 0;
	char text[32];

	if (keep.since_us == 0 && keep.bytes == 0)
		return;
	if (keep.since_us > 0)
		keep.since_us = (int64_t)wall_ms() * 1000 - keep.since_us;
	(void)pthread_mutex_unlock(&s->lock);
	if (dw_audit_retain(s->audit, &keep, &removed, &err) < 0)
		dw_log(DW_LOG_ERROR, "old records stay", "why", err.text, NULL);
	(void)snprintf(text, sizeof(text), "%zu", removed);
	if (removed > 0)
		dw_log(DW_LOG_INFO, "old records are gone", "records", text, NULL);
	(void)pthread_mutex_lock(&s->lock);
}

/* What goes by the clock. */
static void *keep_house(void *user)
{
	struct dw_service *s = user;
	uint64_t retain_ms = 0;
	struct dw_task *late;
	struct timespec until;

	(void)pthread_mutex_lock(&s->lock);
	while (!s->ended) {
		while ((late = find_late(s)) != NULL)
			end_waiting(s, late);
		forget(s);
		if (dw_now_ms() >= retain_ms) {
			retain(s);
			retain_ms = dw_now_ms() + RETAIN_EVERY_MS;
		}
		until = dw_time_in(dw_quota_waiting(s->quota) > 0 ? TICK_MS
		                                                  : 10 * TICK_MS);
		if (!s->ended)
			(void)pthread_cond_timedwait(&s->tick, &s->lock, &until);
	}
	(void)pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* ---- taking one ---- */

static int enter(struct dw_service *s, struct dw_task *task, struct dw_refusal *why)
{
	if (s->draining) {
		(void)dw_refuse(why, 503, "another server may take it",
		                "the daemon is about to stop");
		why->retry_after_s = 5;
		return -1;
	}
	if (dw_rules_apply(&s->rules, &task->caller, &task->req, why) < 0)
		return -1;
	task->timeout_ms = task->req.limits.timeout_ms;
	task->tenant = dw_quota_tenant(s->quota, task->caller.who, &task->caller.grant);
	if (!task->tenant)
		return dw_refuse(why, 500, "", "no memory");
	return dw_quota_enter(s->quota, task->tenant, &task->waiting, wall_ms(), why);
}

int dw_task_start(struct dw_service *service, struct dw_request *req,
                  const struct dw_order *order, struct dw_task **ret,
                  struct dw_refusal *why)
{
	struct dw_task *task = dw_task_new(service, req, order);
	int r;

	if (!task)
		return dw_refuse(why, 503, "try again later",
		                 "out of memory or of descriptors");
	task->arrived_ns = dw_now_ns();
	*ret = dw_task_ref(task); /* before anything can happen to it */
	(void)pthread_mutex_lock(&service->lock);
	r = enter(service, task, why);
	if (r == 0) {
		list_add(service, task);
		(void)pthread_cond_signal(&service->work);
	}
	(void)pthread_mutex_unlock(&service->lock);
	if (r == 0)
		return 0;

	*ret = NULL;
	dw_metrics_refused(service->metrics, why->status);
	dw_task_unref(task);
	dw_task_unref(task);
	return -1;
}

struct dw_task *dw_task_find(struct dw_service *service, const struct dw_caller *caller,
                             const char *id)
{
	struct dw_task *task;

	(void)pthread_mutex_lock(&service->lock);
	for (task = service->last; task; task = task->prev)
		if (strcmp(task->id, id) == 0)
			break;
	if (task && !(caller->grant.scopes & DW_SCOPE_ADMIN) &&
	    strcmp(task->caller.who, caller->who) != 0)
		task = NULL;
	if (task)
		(void)dw_task_ref(task);
	(void)pthread_mutex_unlock(&service->lock);
	return task;
}

/* ---- the whole ---- */

static unsigned want_workers(const struct dw_config *config)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned n = config->runs.concurrent;

	if (n == 0)
		n = 4U * (unsigned)(cores > 0 ? cores : 1);
	return n > DW_WORKERS_MAX ? DW_WORKERS_MAX : n;
}

/* Under the lock, or before there is anybody else. */
static void take_config(struct dw_service *s, const struct dw_config *config)
{
	dw_rules_from_config(&s->rules, config);
	s->keep = (struct dw_service_keep){
		.n = config->runs.keep,
		.s = config->runs.keep_s,
		.bytes = config->runs.keep_bytes,
	};
	s->retain = (struct dw_audit_keep){
		.since_us = (int64_t)config->audit.keep_days * 86400 * 1000000,
		.bytes = config->audit.keep_bytes,
	};
}

static int start_threads(struct dw_service *s, unsigned n, struct dw_error *err)
{
	int r = 0;

	while (s->n_workers < n && r == 0) {
		r = pthread_create(&s->workers[s->n_workers], NULL, work, s);
		if (r == 0)
			s->n_workers++;
	}
	if (r == 0 && !s->keeping) {
		r = pthread_create(&s->keeper, NULL, keep_house, s);
		s->keeping = r == 0;
	}
	return r == 0 ? 0 : dw_fail(err, DW_E_INTERNAL, r, "start a thread");
}

/* What was used today counts, whoever was there to count it. */
static int on_spent(void *user, const struct dw_audit_record *rec)
{
	const struct dw_grant none = {0};
	struct dw_service *s = user;
	struct dw_tenant *tenant;
	char who[sizeof(((struct dw_caller *)0)->who)];

	if (!rec->who.data || rec->cpu_us <= 0)
		return 0;
	(void)snprintf(who, sizeof(who), "%.*s", (int)rec->who.len, rec->who.data);
	tenant = dw_quota_tenant(s->quota, who, &none);
	if (tenant)
		dw_quota_spent(tenant, (uint64_t)rec->cpu_us / 1000, wall_ms());
	return 0;
}

static int read_spent(struct dw_service *s, const char *audit, struct dw_error *err)
{
	const int64_t day_us = 86400LL * 1000000;
	struct dw_audit_filter today = {
		.since_us = (int64_t)wall_ms() * 1000 / day_us * day_us,
	};
	struct dw_audit_reader *reader = NULL;
	int r;

	if (dw_audit_reader_open(audit, &reader, err) < 0)
		return -1;
	r = dw_audit_each_record(reader, &today, on_spent, s, err);
	dw_audit_reader_close(reader);
	return r;
}

static int open_audit(struct dw_service *s, const char *audit, struct dw_error *err)
{
	size_t interrupted = 0;
	char text[32];

	if (dw_audit_open(audit, DW_AUDIT_STAYS, &s->audit, err) < 0 ||
	    dw_audit_recover(s->audit, &interrupted, err) < 0)
		return -1;
	(void)snprintf(text, sizeof(text), "%zu", interrupted);
	if (interrupted > 0)
		dw_log(DW_LOG_WARNING, "runs of a process that is gone were interrupted",
		       "runs", text, NULL);
	return read_spent(s, audit, err);
}

static int make_pool(struct dw_service *s, const struct dw_config *config,
                     struct dw_error *err)
{
	struct dw_pool_config pool = {
		.templates = config->pool.n_templates > 0 ? config->pool.templates : NULL,
		.n_templates = config->pool.n_templates,
		.memory_bytes = config->pool.memory_bytes,
		.standby_max = config->pool.standby_max,
		.idle_ms = (uint64_t)config->pool.idle_s * 1000,
	};

	return config->pool.off ? 0 : dw_pool_new(&pool, &s->pool, err);
}

static void init_locks(struct dw_service *s)
{
	pthread_condattr_t attr;

	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_mutex_init(&s->lock, NULL);
	(void)pthread_cond_init(&s->work, NULL);
	(void)pthread_cond_init(&s->idle, &attr);
	(void)pthread_cond_init(&s->tick, &attr);
	(void)pthread_condattr_destroy(&attr);
}

int dw_service_new(const struct dw_config *config, const char *audit,
                   struct dw_service **ret, struct dw_error *err)
{
	struct dw_service *s = calloc(1, sizeof(*s));

	if (!s)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "start the service");
	init_locks(s);
	take_config(s, config);
	s->metrics = dw_metrics_new();
	s->quota = dw_quota_new(config->runs.queue, want_workers(config));
	if (!s->metrics || !s->quota) {
		(void)dw_fail(err, DW_E_INTERNAL, ENOMEM, "start the service");
		dw_service_free(s);
		return -1;
	}
	if (open_audit(s, audit, err) < 0 || make_pool(s, config, err) < 0 ||
	    start_threads(s, want_workers(config), err) < 0) {
		dw_service_free(s);
		return -1;
	}
	*ret = s;
	return 0;
}

void dw_service_reload(struct dw_service *service, const struct dw_config *config)
{
	struct dw_error err = {0};
	unsigned n = want_workers(config);

	(void)pthread_mutex_lock(&service->lock);
	take_config(service, config);
	if (start_threads(service, n, &err) < 0)
		dw_log(DW_LOG_ERROR, "fewer runs at a time than the config has", "why",
		       err.text, NULL);
	dw_quota_resize(service->quota, config->runs.queue,
	                n < service->n_workers ? n : service->n_workers);
	(void)pthread_cond_broadcast(&service->work);
	(void)pthread_mutex_unlock(&service->lock);
}

static bool is_idle(const struct dw_service *s)
{
	return dw_quota_running(s->quota) == 0 && dw_quota_waiting(s->quota) == 0;
}

/* Under the lock, which is let go of meanwhile. */
static void cancel_all(struct dw_service *s)
{
	const uint64_t one = 1;
	struct dw_task *task;

	for (task = s->first; task; task = task->next)
		if (task->stage == DW_TASK_RUNNING)
			(void)!write(task->cancel_fd, &one, sizeof(one));
	for (task = s->first; task;) {
		if (!task->waiting.tenant) {
			task = task->next;
			continue;
		}
		(void)dw_refuse(&task->why, 503, "another server may take it",
		                "the daemon stopped before its turn came");
		end_waiting(s, task);
		task = s->first; /* the list may be another one by now */
	}
}

void dw_service_drain(struct dw_service *service, uint64_t deadline_ms)
{
	uint64_t now = dw_now_ms();
	struct timespec until = dw_time_in(deadline_ms > now ? deadline_ms - now : 0);

	(void)pthread_mutex_lock(&service->lock);
	service->draining = true;
	while (!is_idle(service))
		if (pthread_cond_timedwait(&service->idle, &service->lock, &until) ==
		    ETIMEDOUT)
			break;
	cancel_all(service);
	while (!is_idle(service))
		(void)pthread_cond_wait(&service->idle, &service->lock);
	(void)pthread_mutex_unlock(&service->lock);
}

void dw_service_free(struct dw_service *service)
{
	if (!service)
		return;
	(void)pthread_mutex_lock(&service->lock);
	service->ended = true;
	(void)pthread_cond_broadcast(&service->work);
	(void)pthread_cond_broadcast(&service->tick);
	(void)pthread_mutex_unlock(&service->lock);
	for (unsigned i = 0; i < service->n_workers; i++)
		(void)pthread_join(service->workers[i], NULL);
	if (service->keeping)
		(void)pthread_join(service->keeper, NULL);
	while (service->first)
		list_remove(service, service->first);
	dw_pool_free(service->pool);
	dw_audit_close(service->audit);
	dw_quota_free(service->quota);
	dw_metrics_free(service->metrics);
	(void)pthread_cond_destroy(&service->tick);
	(void)pthread_cond_destroy(&service->idle);
	(void)pthread_cond_destroy(&service->work);
	(void)pthread_mutex_destroy(&service->lock);
	free(service);
}

bool dw_service_draining(const struct dw_service *service)
{
	return service->draining;
}

bool dw_service_ready(const struct dw_service *service, struct dw_error *err)
{
	if (service->draining)
		(void)dw_fail(err, DW_E_BUSY, 0, "it is about to stop");
	else if (service->audit_down)
		(void)dw_fail(err, DW_E_INTERNAL, 0,
		              "the audit record cannot be written");
	return !service->draining && !service->audit_down;
}

struct dw_metrics *dw_service_metrics(struct dw_service *service)
{
	return service->metrics;
}

unsigned dw_service_keep_s(const struct dw_service *service)
{
	return service->keep.s;
}
