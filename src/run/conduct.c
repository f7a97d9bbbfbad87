/* SPDX-License-Identifier: Apache-2.0 */
#include "run/conduct.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "policy/policy.h"
#include "run/request_check.h"

/* How often a run asks again because another run used the approval it waited for. */
#define TRIES_MAX 8

/* A rule with its approval: "RULE: approved by uid:0 (root), approval ID". */
#define RULE_MAX (2 * DW_DECISION_TEXT_MAX + 2)

struct dw_conductor {
	struct dw_audit *audit;
	struct dw_approver *approver;
	pthread_mutex_t lock; /* of all members below */
	char *policy;         /* its name, or NULL */
	struct dw_policy_watch *watch;
	struct dw_error problem; /* of the policy's file, not yet reported */
};

/* ---- the policy ---- */

int dw_conductor_create(const struct dw_conductor_config *config,
                        struct dw_conductor **ret, struct dw_error *err)
{
	struct dw_conductor *conductor = calloc(1, sizeof(*conductor));

	if (!conductor)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot prepare runs");
	(void)pthread_mutex_init(&conductor->lock, NULL);
	conductor->audit = config->audit;
	if (dw_approver_create(&config->approver, &conductor->approver, err) < 0 ||
	    dw_conductor_set_policy(conductor, config->policy, err) < 0) {
		dw_conductor_free(conductor);
		return -1;
	}
	*ret = conductor;
	return 0;
}

void dw_conductor_free(struct dw_conductor *conductor)
{
	if (!conductor)
		return;
	dw_policy_watch_close(conductor->watch);
	dw_approver_free(conductor->approver);
	free(conductor->policy);
	(void)pthread_mutex_destroy(&conductor->lock);
	free(conductor);
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The caller holds the lock. */
static int set_policy(struct dw_conductor *conductor, const char *policy,
                      struct dw_error *err)
{
	struct dw_policy_watch *watch = NULL;
	char *name = NULL;

	if (conductor->watch && is_same(policy, conductor->policy))
		return dw_policy_watch_look(conductor->watch, err) < 0 ? -1 : 0;
	if (policy) {
		name = strdup(policy);
		if (!name)
			return dw_fail(err, DW_E_INTERNAL, ENOMEM,
			               "cannot set the policy");
	}
	if (dw_policy_watch_open(policy, &watch, err) < 0) {
		free(name);
		return -1;
	}
	dw_policy_watch_close(conductor->watch);
	free(conductor->policy);
	conductor->watch = watch;
	conductor->policy = name;
	return 0;
}

int dw_conductor_set_policy(struct dw_conductor *conductor, const char *policy,
                            struct dw_error *err)
{
	int r;

	(void)pthread_mutex_lock(&conductor->lock);
	r = set_policy(conductor, policy, err);
	(void)pthread_mutex_unlock(&conductor->lock);
	return r;
}

struct dw_policy *dw_conductor_policy(struct dw_conductor *conductor,
                                      struct dw_error *ret_problem)
{
	struct dw_policy *policy;
	struct dw_error problem;

	(void)pthread_mutex_lock(&conductor->lock);
	policy = dw_policy_watch_get(conductor->watch, &problem);
	if (problem.code != DW_OK)
		conductor->problem = problem;
	if (ret_problem) {
		*ret_problem = conductor->problem;
		conductor->problem = (struct dw_error){0};
	}
	(void)pthread_mutex_unlock(&conductor->lock);
	return policy;
}

/* ---- permission ---- */

/* *full is the request, with defaults for the limits that it leaves open. */
static struct dw_policy_question question_of(const struct dw_conduct *run,
                                             struct dw_request *full)
{
	*full = run->req;
	dw_request_limits(&run->req, &full->limits);
	return (struct dw_policy_question){
		.who = run->who,
		.door = run->door,
		.req = full,
	};
}

static int decide(struct dw_conductor *conductor, struct dw_conduct *run)
{
	struct dw_policy_question question;
	struct dw_request full;
	struct dw_policy *policy;
	int r;

	run->req = *run->asked;
	if (dw_request_check(&run->req, &run->error) < 0)
		return -1;
	policy = dw_conductor_policy(conductor, NULL);
	question = question_of(run, &full);
	r = dw_permission_decide(policy, &question, &run->permission, &run->error);
	dw_policy_unref(policy);
	run->decided = r == 0;
	return r;
}

/* Make run->req the request that would run. */
static int prepare(struct dw_conduct *run, bool asking)
{
	run->req = *run->asked;
	dw_permission_apply(&run->permission, &run->req);
	return run->admit ? run->admit(run, asking, &run->error) : 0;
}

static int ask(struct dw_conductor *conductor, struct dw_conduct *run)
{
	struct dw_policy_question question;
	struct dw_request full;

	if (prepare(run, true) < 0)
		return -1;
	question = question_of(run, &full);
	return dw_approver_ask(conductor->approver, &question, &run->permission,
	                       &run->error);
}

/* Take the permission as far as possible without waiting for a person. */
static int get_permission(struct dw_conductor *conductor, struct dw_conduct *run)
{
	struct dw_permission *permission = &run->permission;

	if (!run->decided && decide(conductor, run) < 0)
		return -1;
	if (permission->state == DW_PERMISSION_WAITING &&
	    dw_approver_answer(conductor->approver, permission, &run->error) < 0)
		return -1;
	if (permission->state == DW_PERMISSION_ASK && ask(conductor, run) < 0)
		return -1;
	if (permission->state == DW_PERMISSION_GRANTED)
		return prepare(run, false);
	return 0;
}

/* ---- the record ---- */

/* "no-walls: approved by uid:0 (root), approval 0123..." */
static struct dw_audit_run record_of(const struct dw_conduct *run, char rule[RULE_MAX])
{
	const struct dw_permission *permission = &run->permission;
	const char *granted_by = permission->approval.granted_by;

	(void)snprintf(rule, RULE_MAX, "%s%s%s", permission->rule,
	               granted_by[0] != '\0' ? ": " : "", granted_by);
	return (struct dw_audit_run){
		.id = run->asked->id,
		.who = run->who,
		.decision = permission->decided,
		.rule = rule,
	};
}

static int record_intent(struct dw_conductor *conductor, struct dw_conduct *run)
{
	char rule[RULE_MAX];
	struct dw_audit_run record;
	uint64_t since;

	if (!conductor->audit)
		return 0;
	run->step = DW_CONDUCT_INTENT;
	record = record_of(run, rule);
	since = dw_now_ns();
	if (dw_audit_intent(conductor->audit, &record, &run->req, &run->error) < 0)
		return dw_wrap(&run->error, "no record, no run");
	run->intended = true;
	run->intent_ns = dw_now_ns() - since;
	return 0;
}

static void record_outcome(struct dw_conductor *conductor, struct dw_conduct *run)
{
	char rule[RULE_MAX];
	struct dw_audit_run record;
	uint64_t since;

	if (!run->intended)
		return;
	record = record_of(run, rule);
	since = dw_now_ns();
	if (dw_audit_outcome(conductor->audit, &record, run->res,
	                     run->res ? NULL : &run->error, &run->unrecorded) < 0)
		(void)dw_wrap(&run->unrecorded, "cannot record the outcome of run %s",
		              record.id);
	run->outcome_ns = dw_now_ns() - since;
}

/* ---- the sequence ---- */

/* Run the program, or make the result that says why it may not run. */
static int execute(struct dw_conduct *run)
{
	if (run->permission.state != DW_PERMISSION_GRANTED) {
		run->res = dw_permission_refusal(&run->permission, &run->req);
		return run->res ? 0
		                : dw_fail(&run->error, DW_E_INTERNAL, ENOMEM,
		                          "cannot create a result");
	}
	if (run->execute(run, &run->res, &run->error) < 0)
		return -1;
	dw_permission_report(&run->permission, run->res);
	return 0;
}

static bool is_cancelled(const struct dw_conduct *run)
{
	struct pollfd pfd = {.fd = run->asked->cancel_fd, .events = POLLIN};

	return poll(&pfd, 1, 0) > 0;
}

static int spend(struct dw_conductor *conductor, struct dw_conduct *run)
{
	struct dw_permission *permission = &run->permission;
	struct dw_request full;
	struct dw_policy_question question = question_of(run, &full);

	if (permission->state != DW_PERMISSION_GRANTED ||
	    permission->approval.id[0] == '\0')
		return 0;
	if (is_cancelled(run)) {
		dw_permission_refuse(permission, DW_REASON_CANCELLED,
		                     "the run was cancelled before it started; approval "
		                     "%s was not used",
		                     permission->approval.id);
		return 0;
	}
	return dw_approver_spend(conductor->approver, &question, permission, &run->error);
}

/* Returns 0 if the run has its result or waits for a person; -1 with run->error. */
static int proceed(struct dw_conductor *conductor, struct dw_conduct *run)
{
	for (int i = 0; i < TRIES_MAX; i++) {
		run->step = DW_CONDUCT_PERMISSION;
		if (get_permission(conductor, run) < 0)
			return -1;
		if (run->permission.state == DW_PERMISSION_WAITING)
			return 0;
		if (spend(conductor, run) < 0)
			return -1;
		if (run->permission.state == DW_PERMISSION_ASK)
			continue;
		if (record_intent(conductor, run) < 0) {
			dw_approver_give_back(conductor->approver, &run->permission,
			                      run->asked->id, &run->error);
			return -1;
		}
		run->step = DW_CONDUCT_RUN;
		return execute(run);
	}
	return dw_fail(&run->error, DW_E_BUSY, 0,
	               "other runs used %d approvals of this request in a row",
	               TRIES_MAX);
}

bool dw_conduct(struct dw_conductor *conductor, struct dw_conduct *run)
{
	if (proceed(conductor, run) == 0 && !run->res)
		return false;
	record_outcome(conductor, run);
	return true;
}

void dw_conduct_finish(struct dw_conduct *run)
{
	dw_permission_finish(&run->permission);
	run->decided = false;
}
