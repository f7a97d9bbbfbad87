/* SPDX-License-Identifier: Apache-2.0 */
#include "run/permission.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "approvals/hook.h"
#include "base/cleanup.h"
#include "dewar/dewar.h"
#include "request/request.h"
#include "run/approver.h"
#include "run/request_check.h"

/* A result reports at most this many findings; a policy sees them all. */
#define FINDINGS_MAX 100U

void dw_permission_refuse(struct dw_permission *permission, enum dw_reason reason,
                          const char *fmt, ...)
{
	va_list args;

	permission->state = DW_PERMISSION_REFUSED;
	permission->reason = reason;
	permission->approval.granted_by[0] = '\0';
	va_start(args, fmt);
	(void)vsnprintf(permission->hint, sizeof(permission->hint), fmt, args);
	va_end(args);
}

/* "policy strict denies this run (rule no-network, line 40): network is full. ..." */
static void refuse_by_rule(struct dw_permission *permission, const char *what)
{
	const struct dw_decision *d = &permission->decision;

	dw_permission_refuse(permission, DW_REASON_POLICY,
	                     "policy %.100s %s this run (rule %s, line %u): %.120s%s%s",
	                     d->file, what, d->rule, d->line, d->matched,
	                     d->reason ? ". " : "", d->reason ? d->reason : "");
}

static void name_decision(struct dw_permission *permission)
{
	const struct dw_decision *d = &permission->decision;

	permission->decided = d->effect == DW_ALLOW && d->raised_by
	                              ? "raise"
	                              : dw_effect_name(d->effect);
	(void)snprintf(permission->rule, sizeof(permission->rule), "%s",
	               strcmp(permission->decided, "raise") == 0 ? d->raised_by
	                                                         : d->rule);
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

/* Ask the operator's program or server. Returns -1 if it gave no usable answer. */
static int ask_check(const struct dw_policy_hook *hook,
                     const struct dw_policy_question *question,
                     const struct dw_permission *permission, enum dw_effect *ret_effect,
                     char ret_why[DW_DECISION_TEXT_MAX], struct dw_error *err)
{
	static const enum dw_effect effects[] = {
		[DW_HOOK_DENY] = DW_DENY,
		[DW_HOOK_ALLOW] = DW_ALLOW,
		[DW_HOOK_ASK] = DW_ASK,
	};
	autofree char *text = dw_check_message(question, permission);
	const struct dw_hook asked = {
		.argv = hook->program,
		.url = hook->url,
		.timeout_ms = hook->timeout_s * 1000ULL,
	};
	struct dw_hook_answer answer = {0};

	_Static_assert(DW_POLICY_HOOK_TIMEOUT_MAX_S * 1000 <= DW_HOOK_TIMEOUT_MAX_MS,
	               "else every run of a valid policy would be denied");
	if (!text)
		return dw_fail(err, DW_E_INTERNAL, 0,
		               "cannot describe the request: out of memory");
	dw_hook_ask(&asked, text, strlen(text), &answer);
	if (answer.failed)
		return dw_fail(err, DW_E_DENIED, 0, "%s", answer.reason);
	*ret_effect = effects[answer.decision];
	(void)snprintf(ret_why, DW_DECISION_TEXT_MAX, "%.*s", DW_DECISION_TEXT_MAX - 1,
	               answer.reason);
	return 0;
}

/* The operator's own check; a check that fails denies the run. */
static enum dw_effect check(const struct dw_policy_question *question,
                            struct dw_permission *permission)
{
	const struct dw_policy_hook *hook = dw_policy_hook(permission->decision.policy);
	enum dw_effect effect = DW_DENY;
	char why[DW_DECISION_TEXT_MAX] = "";
	struct dw_error err = {0};

	if (!hook || !is_asked(hook, question->req))
		return DW_ALLOW;
	if (ask_check(hook, question, permission, &effect, why, &err) < 0) {
		effect = DW_DENY;
		dw_permission_refuse(permission, DW_REASON_POLICY, "%.200s", err.text);
	} else if (effect != DW_ALLOW) {
		dw_permission_refuse(permission, DW_REASON_POLICY,
		                     "the operator's check %s%s%.200s",
		                     effect == DW_ASK ? "requires approval"
		                                      : "denies this run",
		                     why[0] != '\0' ? ": " : "", why);
	}
	if (effect != DW_ALLOW) {
		(void)snprintf(permission->check_reason, sizeof(permission->check_reason),
		               "%s", why);
		permission->decided = dw_effect_name(effect);
		(void)snprintf(permission->rule, sizeof(permission->rule), "check");
	}
	return effect;
}

void dw_permission_trim(struct dw_decision *decision, const struct dw_request *req)
{
	struct dw_request raised = *req;

	if (decision->level[0] != '\0')
		raised.level = decision->level;
	if (!req->allowed_modules && !dw_request_enforces_modules(&raised)) {
		free((void *)decision->allowed_modules);
		decision->allowed_modules = NULL;
	}
	if (!req->allowed_commands && !dw_request_may_have(&raised, DW_G_COMMANDS)) {
		free((void *)decision->allowed_commands);
		decision->allowed_commands = NULL;
	}
}

int dw_permission_decide(struct dw_policy *policy,
                         const struct dw_policy_question *question,
                         struct dw_permission *ret, struct dw_error *err)
{
	struct dw_policy_question full = *question;
	struct dw_permission permission = {0};
	struct dw_limits limits;
	enum dw_effect effect, checked;

	if (!full.limits) {
		dw_request_limits(full.req, &limits);
		full.limits = &limits;
	}
	if (dw_policy_decide(policy, &full, &permission.decision, err) < 0)
		return -1;
	dw_permission_trim(&permission.decision, full.req);
	name_decision(&permission);
	effect = permission.decision.effect;
	if (effect == DW_DENY) {
		refuse_by_rule(&permission, "denies");
	} else {
		checked = check(&full, &permission);
		if (checked == DW_ALLOW && effect == DW_ASK)
			refuse_by_rule(&permission, "requires approval for");
		effect = checked == DW_ALLOW ? effect : checked;
	}
	if (effect == DW_ASK)
		permission.state = DW_PERMISSION_ASK;
	*ret = permission;
	return 0;
}

const char *dw_permission_reason(const struct dw_permission *permission)
{
	const struct dw_decision *d = &permission->decision;

	if (permission->check_reason[0] != '\0')
		return permission->check_reason;
	return d->reason ? d->reason : d->matched;
}

void dw_permission_apply(const struct dw_permission *permission, struct dw_request *req)
{
	const struct dw_decision *d = &permission->decision;

	if (d->level[0] != '\0')
		req->level = d->level;
	if (d->allowed_modules)
		req->allowed_modules = d->allowed_modules;
	if (d->allowed_commands)
		req->allowed_commands = d->allowed_commands;
}

struct dw_result *dw_permission_refusal(const struct dw_permission *permission,
                                        const struct dw_request *req)
{
	struct dw_result *res = dw_result_blank(req);

	if (!res)
		return NULL;
	res->status = DW_STATUS_ERROR;
	res->reason = permission->reason;
	(void)snprintf(res->hint, sizeof(res->hint), "%s", permission->hint);
	dw_permission_report(permission, res);
	return res;
}

void dw_permission_report(const struct dw_permission *permission, struct dw_result *res)
{
	const struct dw_decision *d = &permission->decision;
	size_t n = d->findings.n < FINDINGS_MAX ? d->findings.n : FINDINGS_MAX;

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
		return; /* the warnings name them already */
	memcpy(res->findings, d->findings.list, n * sizeof(*res->findings));
	res->n_findings = n;
}

void dw_permission_finish(struct dw_permission *permission)
{
	dw_decision_finish(&permission->decision);
	*permission = (struct dw_permission){0};
}
