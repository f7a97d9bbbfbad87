/* SPDX-License-Identifier: Apache-2.0 */
#include "run/gate.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "dewar/dewar.h"
#include "policy/watch.h"
#include "request/blank.h"
#include "request/warnings.h"
#include "run/check.h"

/* What a result tells of the findings; a policy sees them all. */
#define FINDINGS_TOLD 100U

struct dw_gate {
	struct dw_policy_watch *watch;
	struct dw_gate_approver approver;
	struct dw_gate_checker checker;
	pthread_mutex_t lock;
	struct dw_error problem;
};

int dw_gate_open(const char *policy, struct dw_gate **ret, struct dw_error *err)
{
	struct dw_gate *gate = calloc(1, sizeof(*gate));

	if (!gate)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "make a gate");
	if (dw_policy_watch_open(policy, &gate->watch, err) < 0) {
		free(gate);
		return -1;
	}
	(void)pthread_mutex_init(&gate->lock, NULL);
	*ret = gate;
	return 0;
}

void dw_gate_close(struct dw_gate *gate)
{
	if (!gate)
		return;
	dw_policy_watch_close(gate->watch);
	(void)pthread_mutex_destroy(&gate->lock);
	free(gate);
}

void dw_gate_set_approver(struct dw_gate *gate, const struct dw_gate_approver *approver)
{
	gate->approver = *approver;
}

void dw_gate_set_checker(struct dw_gate *gate, const struct dw_gate_checker *checker)
{
	gate->checker = *checker;
}

int dw_gate_look(struct dw_gate *gate, struct dw_error *err)
{
	return dw_policy_watch_look(gate->watch, err);
}

struct dw_policy *dw_gate_policy(struct dw_gate *gate)
{
	struct dw_error problem;
	struct dw_policy *policy = dw_policy_watch_get(gate->watch, &problem);

	if (problem.code != DW_OK) {
		(void)pthread_mutex_lock(&gate->lock);
		gate->problem = problem;
		(void)pthread_mutex_unlock(&gate->lock);
	}
	return policy;
}

void dw_gate_problem(struct dw_gate *gate, struct dw_error *ret)
{
	(void)pthread_mutex_lock(&gate->lock);
	*ret = gate->problem;
	gate->problem = (struct dw_error){0};
	(void)pthread_mutex_unlock(&gate->lock);
}

__attribute__((format(printf, 3, 4))) static void shut(struct dw_permission *passage,
                                                       enum dw_reason reason,
                                                       const char *fmt, ...)
{
	va_list args;

	passage->state = DW_GATE_SHUT;
	passage->reason = reason;
	va_start(args, fmt);
	(void)vsnprintf(passage->hint, sizeof(passage->hint), fmt, args);
	va_end(args);
}

/* "the policy strict denies it by its rule no-network (line 40): network is full. ..." */
static void shut_by_rule(struct dw_permission *passage, enum dw_reason reason,
                         const char *what)
{
	const struct dw_decision *d = &passage->decision;

	shut(passage, reason, "the policy %.100s %s by its rule %s (line %u): %.120s%s%s",
	     d->file, what, d->rule, d->line, d->matched, d->reason ? ". " : "",
	     d->reason ? d->reason : "");
}

static void record(struct dw_permission *passage)
{
	const struct dw_decision *d = &passage->decision;

	passage->decided = d->verdict == DW_ALLOW && d->raised_by
	                           ? "raise"
	                           : dw_verdict_name(d->verdict);
	(void)snprintf(passage->rule, sizeof(passage->rule), "%s",
	               strcmp(passage->decided, "raise") == 0 ? d->raised_by : d->rule);
}

static bool is_asked(const struct dw_policy_hook *hook, const struct dw_request *req)
{
	const char *language = req->language ? dw_language_name(req->language) : NULL;

	if (!hook->languages)
		return true;
	if (req->command)
		language = "sh";
	for (const char *const *name = hook->languages; language && *name; name++)
		if (strcmp(*name, language) == 0)
			return true;
	return false;
}

/* The operator's own check; whatever goes wrong with it is a denial. */
static enum dw_verdict check(struct dw_gate *gate,
                             const struct dw_policy_question *question,
                             struct dw_permission *passage)
{
	const struct dw_policy_hook *hook = dw_policy_hook(passage->decision.policy);
	enum dw_verdict verdict = DW_DENY;
	char why[DW_DECISION_TEXT_MAX] = "";
	struct dw_error err = {0};

	if (!hook || !is_asked(hook, question->req))
		return DW_ALLOW;
	if (!gate->checker.check) {
		shut(passage, DW_REASON_UNAVAILABLE,
		     "the policy %.100s has a check of its own, which cannot be made here",
		     passage->decision.policy ? dw_policy_file(passage->decision.policy)
		                              : "");
	} else if (gate->checker.check(gate->checker.user, hook, question, passage,
	                               &verdict, why, &err) < 0) {
		verdict = DW_DENY;
		shut(passage, DW_REASON_POLICY, "the policy's own check failed: %.200s",
		     err.text);
	} else if (verdict != DW_ALLOW) {
		shut(passage,
		     verdict == DW_ASK ? DW_REASON_UNAVAILABLE : DW_REASON_POLICY,
		     "the policy's own check %s%s%.200s",
		     verdict == DW_ASK ? "asks a person about it" : "denies it",
		     why[0] != '\0' ? ": " : "", why);
	}
	if (verdict != DW_ALLOW) {
		(void)snprintf(passage->said, sizeof(passage->said), "%s", why);
		passage->decided = dw_verdict_name(verdict);
		(void)snprintf(passage->rule, sizeof(passage->rule), "check");
	}
	return verdict;
}

static void ask(struct dw_gate *gate, const struct dw_policy_question *question,
                struct dw_permission *passage)
{
	struct dw_error err = {0};
	size_t used = strlen(passage->hint);

	if (!gate->approver.ask)
		(void)snprintf(passage->hint + used, sizeof(passage->hint) - used,
		               "; there is nobody to ask: approvals are not set up here");
	else if (gate->approver.ask(gate->approver.user, question, passage, &err) < 0)
		shut(passage, DW_REASON_INTERNAL,
		     "nobody could be asked for approval: %.200s", err.text);
}

void dw_gate_trim(struct dw_decision *decision, const struct dw_request *req)
{
	struct dw_request raised = *req;

	if (decision->level[0] != '\0')
		raised.level = decision->level;
	if (!req->allowed_modules && !dw_request_holds_modules(&raised)) {
		free((void *)decision->allowed_modules);
		decision->allowed_modules = NULL;
	}
	if (!req->allowed_commands && !dw_request_holds_commands(&raised)) {
		free((void *)decision->allowed_commands);
		decision->allowed_commands = NULL;
	}
}

int dw_gate_pass(struct dw_gate *gate, const struct dw_policy_question *question,
                 struct dw_permission *ret, struct dw_error *err)
{
	struct dw_policy_question full = *question;
	struct dw_policy *policy = dw_gate_policy(gate);
	struct dw_permission passage = {.gate = gate};
	struct dw_limits limits;
	enum dw_verdict verdict, checked;
	int r;

	if (!full.limits) {
		dw_request_limits(full.req, &limits);
		full.limits = &limits;
	}
	r = dw_policy_decide(policy, &full, &passage.decision, err);
	dw_policy_unref(policy);
	if (r < 0)
		return -1;
	dw_gate_trim(&passage.decision, full.req);
	record(&passage);
	verdict = passage.decision.verdict;
	if (verdict == DW_DENY) {
		shut_by_rule(&passage, DW_REASON_POLICY, "denies it");
	} else {
		checked = check(gate, &full, &passage);
		if (checked == DW_ALLOW && verdict == DW_ASK)
			shut_by_rule(&passage, DW_REASON_UNAVAILABLE,
			             "asks a person about it");
		verdict = checked == DW_ALLOW ? verdict : checked;
	}
	if (verdict == DW_ASK)
		ask(gate, &full, &passage);
	*ret = passage;
	return 0;
}

void dw_gate_apply(const struct dw_permission *passage, struct dw_request *req)
{
	const struct dw_decision *d = &passage->decision;

	if (d->level[0] != '\0')
		req->level = d->level;
	if (d->allowed_modules)
		req->allowed_modules = d->allowed_modules;
	if (d->allowed_commands)
		req->allowed_commands = d->allowed_commands;
}

struct dw_result *dw_gate_refusal(const struct dw_permission *passage,
                                  const struct dw_request *req)
{
	struct dw_result *res = dw_result_blank(req);

	if (!res)
		return NULL;
	res->status = DW_STATUS_ERROR;
	res->reason = passage->reason;
	(void)snprintf(res->hint, sizeof(res->hint), "%s", passage->hint);
	dw_gate_remark(passage, res);
	return res;
}

void dw_gate_remark(const struct dw_permission *passage, struct dw_result *res)
{
	const struct dw_decision *d = &passage->decision;
	size_t n = d->findings.n < FINDINGS_TOLD ? d->findings.n : FINDINGS_TOLD;

	if (d->raised_by)
		dw_warn(res, "the level was raised to %s by the policy's rule %s%s%s",
		        d->level, d->raised_by, d->raise_reason ? ": " : "",
		        d->raise_reason ? d->raise_reason : "");
	for (size_t i = 0; i < d->findings.n; i++) {
		const struct dw_finding *f = &d->findings.list[i];

		if (f->severity > DW_SEVERITY_NOTE)
			dw_warn(res, "line %u, column %u: %s [%s]", f->line, f->column,
			        f->message, f->rule);
	}
	if (n == 0 || res->findings)
		return;
	res->findings = calloc(n, sizeof(*res->findings));
	if (!res->findings)
		return; /* the warnings have said it */
	memcpy(res->findings, d->findings.list, n * sizeof(*res->findings));
	res->n_findings = n;
}

void dw_permission_finish(struct dw_permission *passage)
{
	const struct dw_gate *gate = passage->gate;

	if (gate && gate->approver.forget)
		gate->approver.forget(gate->approver.user, passage);
	dw_decision_finish(&passage->decision);
	*passage = (struct dw_permission){0};
}
