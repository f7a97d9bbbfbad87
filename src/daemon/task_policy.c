/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/task_policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "daemon/log.h"
#include "daemon/service_own.h"

/* An approval may be spent by another run with the same request, again and again. */
#define TRIES_MAX 8

/* ---- which policy it is ---- */

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

int dw_task_policy_set(struct dw_service *s, const char *policy, struct dw_error *err)
{
	struct dw_task_policy *house = &s->gatehouse;
	struct dw_gate **before = NULL, *gate = NULL;
	char *name = NULL;

	if (house->gate && is_same(policy, house->policy))
		return dw_gate_look(house->gate, err) < 0 ? -1 : 0;
	before = realloc(house->before, (house->n_before + 1) * sizeof(struct dw_gate *));
	if (before)
		house->before = before;
	if (policy)
		name = strdup(policy);
	if (!before || (policy && !name)) {
		free(name);
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "set the policy");
	}
	if (dw_gate_open(policy, &gate, err) < 0) {
		free(name);
		return -1;
	}
	dw_approver_attend(s->people, gate);
	(void)pthread_mutex_lock(&s->lock);
	if (house->gate)
		house->before[house->n_before++] = house->gate;
	house->gate = gate;
	(void)pthread_mutex_unlock(&s->lock);
	free(house->policy);
	house->policy = name;
	return 0;
}

static struct dw_gate *gate_of(struct dw_service *s)
{
	struct dw_gate *gate;

	(void)pthread_mutex_lock(&s->lock);
	gate = s->gatehouse.gate;
	(void)pthread_mutex_unlock(&s->lock);
	return gate;
}

void dw_task_policy_look(struct dw_service *s)
{
	struct dw_task_policy *house = &s->gatehouse;
	struct dw_gate *gate = gate_of(s);
	struct dw_policy *now = dw_gate_policy(gate);
	struct dw_error problem;
	char rules[32];

	dw_gate_problem(gate, &problem);
	if (problem.code != DW_OK)
		dw_log(DW_LOG_ERROR, "the policy stays as it was", "why", problem.text,
		       NULL);
	if (now == house->seen) {
		dw_policy_unref(now);
		return;
	}
	(void)snprintf(rules, sizeof(rules), "%zu", dw_policy_n_rules(now));
	dw_log(DW_LOG_INFO, "policy", "file", dw_policy_file(now), "rules", rules, NULL);
	dw_policy_unref(house->seen);
	house->seen = now;
}

void dw_task_policy_finish(struct dw_service *s)
{
	struct dw_task_policy *house = &s->gatehouse;

	for (size_t i = 0; i < house->n_before; i++)
		dw_gate_close(house->before[i]);
	dw_gate_close(house->gate);
	dw_policy_unref(house->seen);
	free(house->before);
	free(house->policy);
}

/* ---- the way through ---- */

static enum dw_way fail(struct dw_task *task, const struct dw_error *err)
{
	(void)dw_api_fail_with(&task->why, err);
	return DW_WAY_FAILED;
}

/*
 * What would run. A level that was raised is one that the daemon and the key must
 * allow, as if it had been asked for; and the config's image is of one level.
 */
static int dress(struct dw_service *s, struct dw_task *task,
                 const struct dw_permission *passage, struct dw_request *req,
                 struct dw_api_error *why)
{
	const char *image;
	int r;

	dw_gate_apply(passage, req);
	if (passage->decision.level[0] == '\0')
		return 0;
	if (req->image == task->image)
		req->image = NULL;
	(void)pthread_mutex_lock(&s->lock);
	r = dw_ceilings_check(&s->rules, &task->caller, req, why);
	image = dw_ceilings_image(&s->rules, req);
	if (r == 0 && image) {
		(void)snprintf(task->image, sizeof(task->image), "%s", image);
		req->image = task->image;
	}
	(void)pthread_mutex_unlock(&s->lock);
	if (r < 0)
		(void)snprintf(why->hint, sizeof(why->hint),
		               "the policy's rule %.100s raises its level to %.64s",
		               passage->decision.raised_by, passage->decision.level);
	return r;
}

int dw_task_policy_dress(void *service, const struct dw_policy_question *question,
                         const struct dw_permission *passage, struct dw_request *copy,
                         struct dw_error *err)
{
	struct dw_task *task = question->req->user;

	if (dress(service, task, passage, copy, &task->why) < 0)
		return dw_fail(err, DW_E_DENIED, 0, "%s (%s)", task->why.message,
		               task->why.hint);
	return dw_approval_queue_room(service, task, err);
}

/* Ask the policy. */
static enum dw_way pass(struct dw_service *s, struct dw_task *task)
{
	struct dw_policy_question question = {
		.who = task->caller.who,
		.door = task->door,
		.req = &task->req,
		.limits = &task->req.limits,
	};
	const struct dw_asked *asked;
	struct dw_error err = {0};

	task->req.user = task; /* for dw_task_policy_dress() */
	task->plain = task->req;
	if (dw_gate_pass(gate_of(s), &question, &task->passage, &err) < 0)
		return fail(task, &err);
	task->passed = true;
	dw_metrics_decision(s->metrics, task->passage.decided);
	asked = dw_approver_asked(&task->passage);
	if (asked && asked->error.code != DW_OK)
		return fail(task, &asked->error);
	if (task->passage.state == DW_GATE_WAITING)
		return DW_WAY_WAITS;
	return task->passage.state == DW_GATE_OPEN ? DW_WAY_OPEN : DW_WAY_SHUT;
}

/* It was asked about, and there may be an answer. */
static enum dw_way hear(struct dw_service *s, struct dw_task *task)
{
	struct dw_error err = {0};

	if (dw_approver_hear(s->people, &task->passage, &err) < 0)
		return fail(task, &err);
	if (task->passage.state == DW_GATE_WAITING)
		return DW_WAY_WAITS;
	return task->passage.state == DW_GATE_OPEN ? DW_WAY_OPEN : DW_WAY_SHUT;
}

/* Its passage is not good any more. */
static void go_back(struct dw_task *task)
{
	task->req = task->plain;
	task->passed = false;
	dw_permission_finish(&task->passage);
}

enum dw_way dw_task_policy_pass(struct dw_service *s, struct dw_task *task)
{
	struct dw_error err = {0};

	for (int i = 0; i < TRIES_MAX; i++) {
		enum dw_way way = task->passed ? hear(s, task) : pass(s, task);
		int r;

		if (way != DW_WAY_OPEN)
			return way;
		if (dress(s, task, &task->passage, &task->req, &task->why) < 0)
			return DW_WAY_FAILED;
		r = dw_approver_use(s->people, &task->passage, task->caller.who, task->id,
		                    &task->req, &err);
		if (r < 0)
			return fail(task, &err);
		if (r == 0)
			return task->passage.state == DW_GATE_OPEN ? DW_WAY_OPEN
			                                           : DW_WAY_SHUT;
		go_back(task);
	}
	(void)dw_fail(&err, DW_E_BUSY, 0, "others use up the approvals of this request");
	return fail(task, &err);
}
