/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fd.h"
#include "daemon/log.h"
#include "daemon/service_own.h"
#include "dewar/dewar.h"

#define TICK_MS 100U
#define RETAIN_EVERY_MS (3600U * 1000)

/* ---- the list of tasks, under the lock ---- */

static void link_last(struct dw_service *s, struct dw_task *task)
{
	task->prev = s->last;
	if (s->last)
		s->last->next = task;
	else
		s->first = task;
	s->last = task;
}

static void unlink_task(struct dw_service *s, struct dw_task *task)
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
}

static void list_add(struct dw_service *s, struct dw_task *task)
{
	link_last(s, task);
	(void)dw_task_ref(task);
}

static void list_remove(struct dw_service *s, struct dw_task *task)
{
	unlink_task(s, task);
	dw_task_unref(task);
}

/* Release the oldest results that exceed what the config keeps. */
static void forget(struct dw_service *s)
{
	uint64_t now = dw_now_ms();
	struct dw_task *task = s->first, *next;

	for (; task; task = next) {
		next = task->next;
		if (!task->kept)
			continue;
		if (s->kept <= s->keep.n && s->kept_bytes <= s->keep.bytes &&
		    now - task->done_ms < (uint64_t)s->keep.s * 1000)
			break; /* later ones ended at about the same time or later */
		s->kept--;
		s->kept_bytes -= task->bytes;
		list_remove(s, task);
	}
}

/* Keep or drop the result of a task that has ended, after its client was notified. */
static void after(struct dw_service *s, struct dw_task *task)
{
	/* The process may keep more results than it may have descriptors. */
	dw_fd_close(&task->cancel_fd);
	if (!task->keep) {
		list_remove(s, task);
		return;
	}
	/* Move the task behind all that ended before it, so that it is forgotten last. */
	unlink_task(s, task);
	link_last(s, task);
	task->kept = true;
	s->kept++;
	s->kept_bytes += task->bytes;
	forget(s);
}

bool dw_queue_idle(const struct dw_service *s)
{
	return dw_quota_running(s->quota) == 0 && dw_quota_waiting(s->quota) == 0 &&
	       s->pending.n == 0 && s->ending == 0;
}

static void tell_if_idle(struct dw_service *s)
{
	if (dw_queue_idle(s))
		(void)pthread_cond_broadcast(&s->idle);
}

/*
 * End a waiting task with task->why. Call it with the lock, which it releases meanwhile.
 */
static void end_waiting(struct dw_service *s, struct dw_task *task)
{
	(void)dw_task_ref(task);
	dw_quota_leave(s->quota, &task->waiting);
	dw_approval_queue_leave(s, task);
	s->ending++;
	(void)pthread_mutex_unlock(&s->lock);
	dw_worker_abandon(s, task);
	dw_worker_log(task, NULL);
	dw_task_end(task, NULL);
	(void)pthread_mutex_lock(&s->lock);
	s->ending--;
	after(s, task);
	tell_if_idle(s);
	dw_task_unref(task); /* the queue's reference */
	dw_task_unref(task);
}

/*
 * End the waiting tasks of tenants that have used up their cpu seconds. Returns true if
 * there were any; then the lock was released meanwhile.
 */
static bool end_overdrawn(struct dw_service *s)
{
	struct dw_api_error why;
	struct dw_waiting *w;
	bool any = false;

	while ((w = dw_quota_overdrawn(s->quota, dw_wall_ms(), &why)) != NULL) {
		((struct dw_task *)w)->why = why;
		end_waiting(s, (struct dw_task *)w);
		any = true;
	}
	return any;
}

void dw_queue_return(struct dw_service *s, struct dw_task *task)
{
	dw_approval_queue_leave(s, task);
	task->counts_ns = dw_now_ns();
	atomic_store(&task->state, DW_TASK_QUEUED);
	dw_quota_return(s->quota, task->tenant, &task->waiting);
	(void)pthread_cond_signal(&s->work);
	(void)end_overdrawn(s);
}

static void run_task(struct dw_service *s, struct dw_task *task)
{
	struct dw_result *res = NULL;
	struct dw_used used = {0};

	if (!dw_worker(s, task, &res)) {
		if (dw_approval_queue_park(s, task))
			return; /* the list of parked tasks has the queue's reference */
		dw_worker_abandon(s, task);
	}
	if (res && res->cpu_time_ms > 0)
		used.cpu_ms = (uint64_t)res->cpu_time_ms;
	used.strained = res && res->reason == DW_REASON_PIDS;
	(void)pthread_mutex_lock(&s->lock);
	dw_quota_charge(s->quota, task->tenant, &used, dw_wall_ms());
	(void)pthread_mutex_unlock(&s->lock);
	dw_task_end(task, res);
	dw_worker_log(task, task->res);
	(void)pthread_mutex_lock(&s->lock);
	dw_quota_done(s->quota, task->tenant);
	after(s, task);
	(void)pthread_cond_signal(&s->work); /* the tenant's next run may start */
	tell_if_idle(s);
	(void)pthread_mutex_unlock(&s->lock);
	dw_task_unref(task);
}

void *dw_queue_work(void *user)
{
	struct dw_service *s = user;
	struct dw_waiting *next;
	struct dw_task *task;

	(void)pthread_mutex_lock(&s->lock);
	while (!s->ended) {
		if (end_overdrawn(s))
			continue;
		next = dw_quota_next(s->quota);
		if (!next) {
			(void)pthread_cond_wait(&s->work, &s->lock);
			continue;
		}
		task = (struct dw_task *)next;
		task->state = DW_TASK_RUNNING;
		task->yields = dw_quota_yields(task->tenant);
		(void)pthread_mutex_unlock(&s->lock);
		run_task(s, task);
		(void)pthread_mutex_lock(&s->lock);
	}
	(void)pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* ---- tasks that never run ---- */

void dw_task_cancel(struct dw_task *task)
{
	struct dw_service *s = task->service;

	(void)pthread_mutex_lock(&s->lock);
	task->cancelled = true;
	if (task->waiting.tenant || task->parked) {
		(void)dw_api_fail(&task->why, 409, "",
		                  task->parked
		                          ? "the run was cancelled before it was approved"
		                          : "the run was cancelled while it was queued");
		end_waiting(s, task);
	} else if (task->cancel_fd >= 0) {
		dw_fd_signal(task->cancel_fd);
	}
	(void)pthread_mutex_unlock(&s->lock);
}

void dw_queue_cancel(struct dw_service *s)
{
	struct dw_task *task;

	s->stopping = true;
	/*
	 * End waiting tasks first: otherwise one of them would start when a running one
	 * ends.
	 */
	for (task = s->first; task;) {
		if (!task->waiting.tenant && !task->parked) {
			task = task->next;
			continue;
		}
		if (task->parked)
			(void)dw_api_fail(&task->why, 503,
			                  "the approval stays open; send the same request "
			                  "again",
			                  "the daemon stopped before approval %s was given",
			                  task->approval.id);
		else
			(void)dw_api_fail(&task->why, 503, "retry in a few seconds",
			                  "the daemon stopped while the run was queued");
		end_waiting(s, task);
		task = s->first; /* the list may have changed */
	}
	for (task = s->first; task; task = task->next)
		if (task->state != DW_TASK_DONE && task->cancel_fd >= 0)
			dw_fd_signal(task->cancel_fd);
}

/* Returns a task whose time ran out in the queue, with its why set, or NULL. */
static struct dw_task *find_late(struct dw_service *s)
{
	uint64_t now = dw_now_ns();

	for (struct dw_task *task = s->first; task; task = task->next)
		if (task->waiting.tenant && !dw_worker_in_time(task, now))
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
		keep.since_us = (int64_t)dw_wall_ms() * 1000 - keep.since_us;
	(void)pthread_mutex_unlock(&s->lock);
	if (dw_audit_retain(s->audit, &keep, &removed, &err) < 0)
		dw_log(DW_LOG_ERROR, "audit.prune_failed", "error", err.text, NULL);
	(void)snprintf(text, sizeof(text), "%zu", removed);
	if (removed > 0)
		dw_log(DW_LOG_INFO, "audit.pruned", "records", text, NULL);
	(void)pthread_mutex_lock(&s->lock);
}

/*
 * Probe each level once, so that the operator learns of a problem before the first run.
 * This also removes what an earlier daemon left behind when it was killed.
 */
void *dw_queue_look_around(void *user)
{
	struct dw_service *s = user;
	struct dw_ceilings ceilings;
	char name[32];

	(void)pthread_mutex_lock(&s->lock);
	ceilings = s->ceilings;
	(void)pthread_mutex_unlock(&s->lock);
	for (const char *p = ceilings.levels; *p; p += strcspn(p, ","), p += *p == ',') {
		struct dw_error err = {0};

		(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(p, ","), p);
		if (dw_level_probe(name, &err) < 0)
			dw_log(DW_LOG_WARNING, "level.unavailable", "isolation", name,
			       "error", err.text, NULL);
	}
	return NULL;
}

void *dw_queue_maintain(void *user)
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
		(void)pthread_mutex_unlock(&s->lock);
		dw_service_report_policy(s);
		(void)pthread_mutex_lock(&s->lock);
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

/* ---- accepting tasks ---- */

static int enter(struct dw_service *s, struct dw_task *task, struct dw_api_error *why)
{
	const char *image;

	if (s->draining) {
		(void)dw_api_fail(why, 503, "retry in a few seconds",
		                  "the daemon is stopping");
		why->retry_after_s = 5;
		return -1;
	}
	if (dw_ceilings_apply(&s->ceilings, &task->caller, &task->req, why) < 0)
		return -1;
	/* Copy the strings: a reload may change those of the ceilings. */
	if (task->req.level == s->ceilings.level) {
		(void)snprintf(task->level, sizeof(task->level), "%s", s->ceilings.level);
		task->req.level = task->level;
	}
	image = dw_ceilings_image(&s->ceilings, &task->req);
	if (image) {
		(void)snprintf(task->image, sizeof(task->image), "%s", image);
		task->req.image = task->image;
	}
	task->timeout_ms = task->req.limits.timeout_ms;
	task->tenant = dw_quota_tenant(s->quota, task->caller.who, &task->caller.grant);
	if (!task->tenant)
		return dw_api_fail(why, 500, "", "out of memory");
	return dw_quota_enter(s->quota, task->tenant, &task->waiting, dw_wall_ms(), why);
}

int dw_task_start(struct dw_service *service, struct dw_request *req,
                  const struct dw_task_config *config, struct dw_task **ret,
                  struct dw_api_error *why)
{
	struct dw_task *task = dw_task_new(service, req, config);
	int r;

	if (!task)
		return dw_api_fail(why, 503, "retry later",
		                   "out of memory or file descriptors");
	task->arrived_ns = task->counts_ns = dw_now_ns();
	*ret = dw_task_ref(task); /* before another thread can end the task */
	(void)pthread_mutex_lock(&service->lock);
	r = enter(service, task, why);
	if (r == 0)
		list_add(service, task);
	(void)pthread_mutex_unlock(&service->lock);
	if (r == 0) {
		/* Signal without the lock, which the woken thread needs at once. */
		(void)pthread_cond_signal(&service->work);
		return 0;
	}

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

void dw_queue_forget(struct dw_service *s)
{
	while (s->first)
		list_remove(s, s->first);
}
