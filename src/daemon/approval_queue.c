/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/approval_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/log.h"
#include "daemon/service_own.h"

#define LOOK_MS 100U

/*
 * Parked tasks may hold one part in this many of the memory for requests: a task may wait
 * for hours, and must not keep new requests out.
 */
#define PART_OF_CLAIMS 4U

struct dw_approval_queue_answer {
	struct dw_approval_queue_answer *next;
	char id[DW_ID_MAX];
	char who[sizeof(((struct dw_caller *)0)->who)];
	char note[DW_APPROVALS_TEXT_MAX];
	bool yes;
};

/* ---- parking and leaving ---- */

static size_t count_of(const struct dw_approval_queue *p, const struct dw_tenant *tenant)
{
	size_t n = 0;

	for (const struct dw_task *task = p->first; task; task = task->behind)
		n += task->tenant == tenant;
	return n;
}

int dw_approval_queue_room(struct dw_service *s, const struct dw_task *task,
                           struct dw_error *err)
{
	const struct dw_approval_queue *p = &s->pending;
	bool full, many;

	(void)pthread_mutex_lock(&s->lock);
	full = p->n >= DW_APPROVAL_QUEUE_MAX ||
	       p->bytes + task->claimed > s->claimed_max / PART_OF_CLAIMS;
	many = count_of(p, task->tenant) >= DW_APPROVAL_QUEUE_MAX_PER_CALLER;
	(void)pthread_mutex_unlock(&s->lock);
	if (full)
		return dw_fail(err, DW_E_BUSY, 0,
		               "too many runs are waiting for approval; retry later");
	if (many)
		return dw_fail(err, DW_E_BUSY, 0,
		               "%u of your runs are waiting for approval, which is the limit; "
		               "retry when they are decided",
		               DW_APPROVAL_QUEUE_MAX_PER_CALLER);
	return 0;
}

/* Returns true, with task->why set, if the task must end instead. Under the lock. */
static bool is_over(struct dw_service *s, struct dw_task *task)
{
	if (s->stopping)
		(void)dw_api_fail(&task->why, 503,
		                  "the approval stays open; send the same request again",
		                  "the daemon stopped before approval %s was given",
		                  task->approval.id);
	else if (task->cancelled)
		(void)dw_api_fail(&task->why, 409, "",
		                  "the run was cancelled before it was approved");
	return s->stopping || task->cancelled;
}

static void describe(struct dw_task *task)
{
	const struct dw_permission *permission = &task->run.permission;

	(void)pthread_mutex_lock(&task->lock);
	(void)snprintf(task->approval.id, sizeof(task->approval.id), "%s",
	               permission->approval.id);
	(void)snprintf(task->approval.rule, sizeof(task->approval.rule), "%s",
	               permission->rule);
	(void)snprintf(task->approval.reason, sizeof(task->approval.reason), "%s",
	               dw_permission_reason(permission));
	task->approval.expires_us = permission->approval.expires_us;
	task->approval.self = permission->approval.self;
	(void)pthread_mutex_unlock(&task->lock);
}

bool dw_approval_queue_park(struct dw_service *s, struct dw_task *task)
{
	struct dw_approval_queue *p = &s->pending;
	bool over;

	describe(task);
	atomic_store(&task->state, DW_TASK_WAITING);
	/*
	 * Send the event before the task is parked: until then no other thread sends
	 * events for it.
	 */
	dw_task_tell(task, DW_TASK_PENDING, DW_STDOUT, &task->approval,
	             sizeof(task->approval));
	dw_log(DW_LOG_INFO, "run.pending", "run", task->id, "who", task->caller.who,
	       "approval", task->approval.id, "rule", task->approval.rule, NULL);

	(void)pthread_mutex_lock(&s->lock);
	over = is_over(s, task);
	if (!over) {
		task->parked = true;
		task->looked_at = false;
		task->before = NULL;
		task->behind = p->first;
		if (p->first)
			p->first->before = task;
		p->first = task;
		p->n++;
		p->bytes += task->claimed;
		dw_quota_park(s->quota, task->tenant);
		(void)pthread_cond_signal(&s->work);
		(void)pthread_cond_signal(&p->wake);
	}
	(void)pthread_mutex_unlock(&s->lock);
	return !over;
}

void dw_approval_queue_leave(struct dw_service *s, struct dw_task *task)
{
	struct dw_approval_queue *p = &s->pending;

	if (!task->parked)
		return;
	if (task->before)
		task->before->behind = task->behind;
	else
		p->first = task->behind;
	if (task->behind)
		task->behind->before = task->before;
	task->before = task->behind = NULL;
	task->parked = false;
	p->n--;
	p->bytes -= task->claimed;
}

/* ---- decisions from threads that must not block ---- */

void dw_service_decide(struct dw_service *service, const char *approval, const char *who,
                       bool yes, const char *note)
{
	struct dw_approval_queue_answer *answer = calloc(1, sizeof(*answer));

	if (!answer)
		return; /* the decision is lost, and the approval expires */
	(void)snprintf(answer->id, sizeof(answer->id), "%s", approval);
	(void)snprintf(answer->who, sizeof(answer->who), "%s", who);
	(void)snprintf(answer->note, sizeof(answer->note), "%s", note ? note : "");
	answer->yes = yes;
	(void)pthread_mutex_lock(&service->lock);
	answer->next = service->pending.answers;
	service->pending.answers = answer;
	(void)pthread_cond_signal(&service->pending.wake);
	(void)pthread_mutex_unlock(&service->lock);
}

void dw_service_decided(struct dw_service *service)
{
	(void)pthread_mutex_lock(&service->lock);
	service->pending.decided = true;
	(void)pthread_cond_signal(&service->pending.wake);
	(void)pthread_mutex_unlock(&service->lock);
}

struct dw_approvals *dw_service_approvals(struct dw_service *service,
                                          struct dw_error *err)
{
	struct dw_approvals *approvals = NULL;

	(void)pthread_mutex_lock(&service->opening);
	if (service->approvals || dw_approvals_open(service->approvals_path, NULL,
	                                            &service->approvals, err) == 0)
		approvals = service->approvals;
	(void)pthread_mutex_unlock(&service->opening);
	return approvals;
}

static void decide(struct dw_service *s, struct dw_approval_queue_answer *answers)
{
	for (struct dw_approval_queue_answer *next, *answer = answers; answer;
	     answer = next) {
		struct dw_ruling ruling = {
			.yes = answer->yes,
			.who = answer->who,
			.note = answer->note[0] != '\0' ? answer->note : NULL,
		};
		struct dw_error err = {0};

		struct dw_approvals *approvals = dw_service_approvals(s, &err);

		if (!approvals ||
		    dw_approvals_decide(approvals, answer->id, &ruling, NULL, &err) < 0)
			dw_log(DW_LOG_WARNING, "approval.decision_failed", "approval",
			       answer->id, "who", answer->who, "error", err.text, NULL);
		next = answer->next;
		free(answer);
	}
}

/* ---- polling ---- */

struct seen {
	struct dw_task *task;
	bool decided;
};

/* Collect the tasks to check, each with a reference. Under the lock. */
static size_t collect(struct dw_service *s, bool changed, struct seen *ret, size_t max)
{
	int64_t now = dw_wall_us();
	size_t n = 0;

	for (struct dw_task *task = s->pending.first; task && n < max;
	     task = task->behind) {
		if (!changed && task->looked_at && task->approval.expires_us > now)
			continue;
		task->looked_at = true;
		ret[n++].task = dw_task_ref(task);
	}
	return n;
}

/*
 * Returns true also on an error: the worker runs into the same error and reports it to
 * the client.
 */
static bool is_decided(struct dw_service *s, const struct dw_task *task)
{
	struct dw_approvals *approvals = dw_service_approvals(s, NULL);
	enum dw_approval_state state;

	return !approvals ||
	       dw_approvals_state(approvals, task->approval.id, &state, NULL) < 0 ||
	       state != DW_APPROVAL_PENDING;
}

/*
 * Check parked tasks, and return decided ones to the queue. Call it with the lock, which
 * it releases while it reads approvals.
 */
static void look(struct dw_service *s, bool changed)
{
	_Static_assert(DW_APPROVAL_QUEUE_MAX < 1000, "they are on the stack");
	struct seen seen[DW_APPROVAL_QUEUE_MAX];
	size_t n = collect(s, changed, seen, DW_APPROVAL_QUEUE_MAX);

	if (n == 0)
		return;
	(void)pthread_mutex_unlock(&s->lock);
	for (size_t i = 0; i < n; i++)
		seen[i].decided = is_decided(s, seen[i].task);
	(void)pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < n; i++) {
		if (seen[i].decided && seen[i].task->parked)
			dw_queue_return(s, seen[i].task);
		dw_task_unref(seen[i].task);
	}
}

static bool has_changed(struct dw_service *s, uint64_t *generation, bool *complained)
{
	struct dw_error err = {0};
	struct dw_approvals *approvals = dw_service_approvals(s, &err);
	int r = approvals ? dw_approvals_changed(approvals, generation, &err) : -1;

	if (r < 0 && !*complained)
		dw_log(DW_LOG_ERROR, "approvals.unreadable", "error", err.text, NULL);
	*complained = r < 0;
	return r > 0;
}

void *dw_approval_queue_watch(void *service)
{
	struct dw_service *s = service;
	struct dw_approval_queue *p = &s->pending;
	uint64_t generation = UINT64_MAX;
	bool complained = false;

	(void)pthread_mutex_lock(&s->lock);
	while (!s->ended) {
		struct dw_approval_queue_answer *answers = TAKE_PTR(p->answers);
		struct timespec until;
		bool changed;

		if (!answers && p->n == 0) {
			(void)pthread_cond_wait(&p->wake, &s->lock);
			continue;
		}
		p->decided = false;
		(void)pthread_mutex_unlock(&s->lock);
		decide(s, answers);
		changed = has_changed(s, &generation, &complained);
		(void)pthread_mutex_lock(&s->lock);
		look(s, changed);
		until = dw_time_in(LOOK_MS);
		if (!s->ended && !p->answers && !p->decided)
			(void)pthread_cond_timedwait(&p->wake, &s->lock, &until);
	}
	(void)pthread_mutex_unlock(&s->lock);
	return NULL;
}

void dw_approval_queue_finish(struct dw_service *s)
{
	struct dw_approval_queue_answer *next;

	for (struct dw_approval_queue_answer *a = s->pending.answers; a; a = next) {
		next = a->next;
		free(a);
	}
}
