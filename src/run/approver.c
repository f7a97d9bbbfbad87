/* SPDX-License-Identifier: Apache-2.0 */
#include "run/approver.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/advice.h"
#include "approvals/notify.h"
#include "base/cleanup.h"
#include "run/approval_message.h"
#include "run/check.h"

/* Policies change, and with them who is called; no more than so many at a time. */
#define CALLED_MAX 4

struct called {
	char *url;
	struct dw_notifier *notifier;
};

struct dw_approver {
	struct dw_approver_config config;
	pthread_mutex_t lock; /* of all below */
	struct called called[CALLED_MAX];
	size_t next; /* whose place is taken next */
};

int dw_approver_new(const struct dw_approver_config *config, struct dw_approver **ret,
                    struct dw_error *err)
{
	struct dw_approver *people = calloc(1, sizeof(*people));

	if (!people)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "set up approvals");
	people->config = *config;
	(void)pthread_mutex_init(&people->lock, NULL);
	*ret = people;
	return 0;
}

void dw_approver_free(struct dw_approver *people)
{
	if (!people)
		return;
	for (size_t i = 0; i < CALLED_MAX; i++) {
		dw_notifier_free(people->called[i].notifier);
		free(people->called[i].url);
	}
	(void)pthread_mutex_destroy(&people->lock);
	free(people);
}

const struct dw_asked *dw_approver_asked(const struct dw_permission *passage)
{
	return passage->approval;
}

/* ---- the webhook ---- */

static void complain(const struct dw_approver *people, const char *text)
{
	if (people->config.complain)
		people->config.complain(people->config.user, text);
}

static void on_failed(void *user, const char *text)
{
	complain(user, text);
}

/* Under the lock: who is told at that URL, made if need be. */
static struct dw_notifier *find_called(struct dw_approver *people, const char *url)
{
	struct dw_hook hook = {.url = url};
	struct called *place = &people->called[people->next];
	struct dw_notifier *notifier = NULL;
	struct dw_error err = {0};

	for (size_t i = 0; i < CALLED_MAX; i++)
		if (people->called[i].url && strcmp(people->called[i].url, url) == 0)
			return people->called[i].notifier;
	if (dw_notifier_create(&hook, on_failed, people, &notifier, &err) < 0) {
		complain(people, err.text);
		return NULL;
	}
	people->next = (people->next + 1) % CALLED_MAX;
	dw_notifier_free(place->notifier);
	free(place->url);
	place->notifier = notifier;
	place->url = strdup(url);
	return notifier;
}

static void call(struct dw_approver *people, const char *url,
                 const struct dw_approval *approval)
{
	autofree char *text = url ? dw_job_pending(approval) : NULL;

	if (!text)
		return;
	(void)pthread_mutex_lock(&people->lock);
	dw_hook_notify(find_called(people, url), text, strlen(text));
	(void)pthread_mutex_unlock(&people->lock);
}

/* ---- asking ---- */

static void forget(void *user, struct dw_permission *passage)
{
	(void)user;
	free(passage->approval);
	passage->approval = NULL;
}

/* "no-walls: approved by uid:0 (root), approval 0123..." */
static void open_gate(struct dw_permission *passage, const struct dw_approval *approval)
{
	size_t used = strlen(passage->rule);

	passage->state = DW_GATE_OPEN;
	passage->hint[0] = '\0';
	(void)snprintf(passage->rule + used, sizeof(passage->rule) - used,
	               ": approved by %.100s, approval %s", approval->decided_by,
	               approval->id);
}

static void take(struct dw_permission *passage, const struct dw_approval *approval)
{
	char line[DW_APPROVAL_LINE_MAX];

	switch (approval->state) {
	case DW_APPROVAL_PENDING:
		passage->state = DW_GATE_WAITING;
		return;
	case DW_APPROVAL_APPROVED:
	case DW_APPROVAL_USED: /* dw_approver_use() finds out by whom */
		open_gate(passage, approval);
		return;
	case DW_APPROVAL_DENIED:
	case DW_APPROVAL_EXPIRED:
	case DW_APPROVAL_STATE_COUNT:
		break;
	}
	dw_approval_line(approval, line);
	passage->state = DW_GATE_SHUT;
	passage->reason = approval->state == DW_APPROVAL_DENIED
	                          ? DW_REASON_APPROVAL_DENIED
	                          : DW_REASON_APPROVAL_EXPIRED;
	(void)snprintf(passage->hint, sizeof(passage->hint),
	               "the rule %.100s of the policy wants approval, and it was not given: "
	               "%.300s (approval %s)",
	               passage->rule, line, approval->id);
}

static char *findings_of(const struct dw_permission *passage)
{
	json_t *tree = dw_advice_json(&passage->decision.findings);
	char *text = tree ? json_dumps(tree, JSON_COMPACT) : NULL;

	json_decref(tree);
	return text;
}

static int dress(const struct dw_approver *people,
                 const struct dw_policy_question *question,
                 const struct dw_permission *passage, struct dw_request *copy,
                 struct dw_error *err)
{
	int r = 0;

	*copy = *question->req;
	if (people->config.dress)
		r = people->config.dress(people->config.user, question, passage, copy,
		                         err);
	else
		dw_gate_apply(passage, copy);
	dw_request_limits(copy, &copy->limits);
	return r;
}

/* Why somebody is asked: what the rule's author has to say, or what matched. */
static const char *reason_of(const struct dw_permission *passage)
{
	const struct dw_decision *d = &passage->decision;

	if (passage->said[0] != '\0')
		return passage->said;
	return d->reason ? d->reason : d->matched;
}

static struct dw_approvals *approvals_of(const struct dw_approver *people,
                                         struct dw_error *err)
{
	return people->config.approvals(people->config.user, err);
}

static int ask(struct dw_approver *people, const struct dw_policy_question *question,
               struct dw_permission *passage, struct dw_asked *asked)
{
	const struct dw_policy_approvals *settings = dw_policy_approvals(
		passage->decision.policy);
	autofree char *findings = findings_of(passage);
	struct dw_approvals *approvals = approvals_of(people, &asked->error);
	struct dw_approval approval = {0};
	struct dw_request req;
	struct dw_asking asking = {
		.run = question->req->id,
		.who = question->who,
		.door = question->door,
		.rule = passage->rule,
		.reason = reason_of(passage),
		.findings = findings,
		.req = &req,
		.expires_ms = settings->expire_s * 1000ULL,
		.allow_self = settings->self,
	};
	bool fresh = false;

	if (!approvals || dress(people, question, passage, &req, &asked->error) < 0 ||
	    dw_approvals_ask(approvals, &asking, &approval, &fresh, &asked->error) < 0)
		return -1;
	(void)snprintf(asked->id, sizeof(asked->id), "%s", approval.id);
	asked->expires_us = approval.expires_us;
	asked->self = approval.allow_self;
	take(passage, &approval);
	if (fresh)
		call(people, settings->webhook, &approval);
	dw_approval_finish(&approval);
	return 0;
}

static int on_ask(void *user, const struct dw_policy_question *question,
                  struct dw_permission *passage, struct dw_error *err)
{
	struct dw_asked *asked = calloc(1, sizeof(*asked));

	if (!asked)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "ask for approval");
	passage->approval = asked;
	if (ask(user, question, passage, asked) == 0)
		return 0;
	if (err)
		*err = asked->error;
	return -1;
}

/* ---- hearing ---- */

int dw_approver_hear(struct dw_approver *people, struct dw_permission *passage,
                     struct dw_error *err)
{
	const struct dw_asked *asked = passage->approval;
	struct dw_approval approval = {0};
	struct dw_approvals *approvals;

	if (passage->state != DW_GATE_WAITING)
		return 0;
	approvals = approvals_of(people, err);
	if (!approvals || dw_approvals_get(approvals, asked->id, &approval, err) < 0)
		return -1;
	take(passage, &approval);
	dw_approval_finish(&approval);
	return 0;
}

int dw_approver_use(struct dw_approver *people, struct dw_permission *passage,
                    const char *who, const char *run, const struct dw_request *req,
                    struct dw_error *err)
{
	const struct dw_asked *asked = passage->approval;
	struct dw_request full = *req;
	struct dw_approvals *approvals;
	struct dw_error why = {0};

	if (passage->state != DW_GATE_OPEN || !asked)
		return 0;
	approvals = approvals_of(people, err);
	if (!approvals)
		return -1;
	dw_request_limits(req, &full.limits);
	if (dw_approvals_use(approvals, asked->id, who, run, &full, &why) == 0)
		return 0;
	if (why.code == DW_E_BUSY)
		return 1;
	if (why.code != DW_E_DENIED) {
		if (err)
			*err = why;
		return -1;
	}
	/* It was approved a moment ago, and its time has passed; or we are wrong. */
	passage->state = DW_GATE_SHUT;
	passage->reason = DW_REASON_APPROVAL_EXPIRED;
	(void)snprintf(passage->hint, sizeof(passage->hint), "%s", why.text);
	return 0;
}

/* ---- the operator's own check ---- */

static int on_check(void *user, const struct dw_policy_hook *hook,
                    const struct dw_policy_question *question,
                    const struct dw_permission *passage, enum dw_verdict *ret_verdict,
                    char ret_why[DW_DECISION_TEXT_MAX], struct dw_error *err)
{
	static const enum dw_verdict verdicts[] = {
		[DW_HOOK_DENY] = DW_DENY,
		[DW_HOOK_ALLOW] = DW_ALLOW,
		[DW_HOOK_ASK] = DW_ASK,
	};
	autofree char *text = dw_job_check(question, passage);
	const struct dw_hook asked = {
		.argv = hook->program,
		.url = hook->url,
		.timeout_ms = hook->timeout_s * 1000ULL,
	};
	struct dw_hook_answer answer = {0};

	(void)user;
	if (!text)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "write the request down");
	dw_hook_ask(&asked, text, strlen(text), &answer);
	if (answer.failed)
		return dw_fail(err, DW_E_DENIED, 0, "%s", answer.reason);
	*ret_verdict = verdicts[answer.decision];
	(void)snprintf(ret_why, DW_DECISION_TEXT_MAX, "%.*s", DW_DECISION_TEXT_MAX - 1,
	               answer.reason);
	return 0;
}

void dw_approver_attend(struct dw_approver *people, struct dw_gate *gate)
{
	dw_gate_set_approver(gate, &(struct dw_gate_approver){
					   .user = people,
					   .ask = on_ask,
					   .forget = forget,
				   });
	dw_gate_set_checker(gate, &(struct dw_gate_checker){
					  .user = people,
					  .check = on_check,
				  });
}
