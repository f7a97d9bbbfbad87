/* SPDX-License-Identifier: Apache-2.0 */
#include "run/approver.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/advice.h"
#include "approvals/hook.h"
#include "base/cleanup.h"

/* A changed policy may name another webhook; keep the notifiers of this many. */
#define WEBHOOKS_MAX 4

struct webhook {
	char *url;
	struct dw_notifier *notifier;
};

struct dw_approver {
	struct dw_approver_config config;
	pthread_mutex_t lock; /* of all members below */
	struct webhook webhooks[WEBHOOKS_MAX];
	size_t next; /* the slot that is replaced next */
};

int dw_approver_create(const struct dw_approver_config *config, struct dw_approver **ret,
                       struct dw_error *err)
{
	struct dw_approver *approver = calloc(1, sizeof(*approver));

	if (!approver)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot set up approvals");
	approver->config = *config;
	(void)pthread_mutex_init(&approver->lock, NULL);
	*ret = approver;
	return 0;
}

void dw_approver_free(struct dw_approver *approver)
{
	if (!approver)
		return;
	for (size_t i = 0; i < WEBHOOKS_MAX; i++) {
		dw_notifier_free(approver->webhooks[i].notifier);
		free(approver->webhooks[i].url);
	}
	(void)pthread_mutex_destroy(&approver->lock);
	free(approver);
}

/* ---- the webhook ---- */

static void on_failed(void *user, const char *text)
{
	const struct dw_approver *approver = user;

	if (approver->config.on_webhook_error)
		approver->config.on_webhook_error(approver->config.user, text);
}

/*
 * The caller holds the lock. Returns NULL if the notifier cannot be created; the front
 * door was told. *ret_old is the notifier that was replaced. The caller frees it without
 * the lock, because that waits for its last call.
 */
static struct dw_notifier *find_notifier(struct dw_approver *approver, const char *url,
                                         struct dw_notifier **ret_old)
{
	struct dw_hook hook = {.url = url};
	struct webhook *slot = &approver->webhooks[approver->next];
	struct dw_notifier *notifier = NULL;
	struct dw_error err = {0};
	char *copy;

	for (size_t i = 0; i < WEBHOOKS_MAX; i++)
		if (approver->webhooks[i].url &&
		    strcmp(approver->webhooks[i].url, url) == 0)
			return approver->webhooks[i].notifier;
	copy = strdup(url);
	if (!copy)
		return NULL;
	if (dw_notifier_create(&hook, on_failed, approver, &notifier, &err) < 0) {
		on_failed(approver, err.text);
		free(copy);
		return NULL;
	}
	approver->next = (approver->next + 1) % WEBHOOKS_MAX;
	*ret_old = slot->notifier;
	free(slot->url);
	slot->notifier = notifier;
	slot->url = copy;
	return notifier;
}

static void notify(struct dw_approver *approver, const char *url,
                   const struct dw_approval *approval)
{
	autofree char *text = url ? dw_pending_message(approval) : NULL;
	struct dw_notifier *old = NULL;

	if (!text)
		return;
	(void)pthread_mutex_lock(&approver->lock);
	dw_hook_notify(find_notifier(approver, url, &old), text, strlen(text));
	(void)pthread_mutex_unlock(&approver->lock);
	dw_notifier_free(old);
}

/* ---- questions and answers ---- */

static void grant(struct dw_permission *permission, const struct dw_approval *approval)
{
	permission->state = DW_PERMISSION_GRANTED;
	permission->hint[0] = '\0';
	(void)snprintf(permission->approval.granted_by,
	               sizeof(permission->approval.granted_by),
	               "approved by %.100s, approval %s", approval->decided_by,
	               approval->id);
}

static void take_answer(struct dw_permission *permission,
                        const struct dw_approval *approval)
{
	char line[DW_APPROVAL_LINE_MAX];

	switch (approval->state) {
	case DW_APPROVAL_PENDING:
		permission->state = DW_PERMISSION_WAITING;
		return;
	case DW_APPROVAL_APPROVED:
		grant(permission, approval);
		return;
	case DW_APPROVAL_USED: /* by another run: ours has not started */
		permission->state = DW_PERMISSION_ASK;
		return;
	case DW_APPROVAL_DENIED:
	case DW_APPROVAL_EXPIRED:
	case DW_APPROVAL_STATE_COUNT:
		break;
	}
	dw_approval_line(approval, line);
	dw_permission_refuse(permission,
	                     approval->state == DW_APPROVAL_DENIED
	                             ? DW_REASON_APPROVAL_DENIED
	                             : DW_REASON_APPROVAL_EXPIRED,
	                     "the policy's rule %.100s requires approval, which was not "
	                     "given: %.300s (approval %s)",
	                     permission->rule, line, approval->id);
}

static char *findings_of(const struct dw_permission *permission)
{
	json_auto_t *tree = dw_advice_json(&permission->decision.findings);

	return tree ? json_dumps(tree, JSON_COMPACT) : NULL;
}

static struct dw_approvals *approvals_of(const struct dw_approver *approver,
                                         struct dw_error *err)
{
	return approver->config.approvals(approver->config.user, err);
}

int dw_approver_ask(struct dw_approver *approver,
                    const struct dw_policy_question *question,
                    struct dw_permission *permission, struct dw_error *err)
{
	const struct dw_policy_approvals *settings = dw_policy_approvals(
		permission->decision.policy);
	autofree char *findings = findings_of(permission);
	struct dw_approvals *approvals = approvals_of(approver, err);
	struct dw_approval approval = {0};
	struct dw_asking asking = {
		.run = question->req->id,
		.who = question->who,
		.door = question->door,
		.rule = permission->rule,
		.reason = dw_permission_reason(permission),
		.findings = findings,
		.req = question->req,
		.expires_ms = settings->expire_s * 1000ULL,
		.allow_self = settings->self,
	};
	bool is_new = false;

	if (!approvals ||
	    dw_approvals_ask(approvals, &asking, &approval, &is_new, err) < 0)
		return -1;
	(void)snprintf(permission->approval.id, sizeof(permission->approval.id), "%s",
	               approval.id);
	permission->approval.expires_us = approval.expires_us;
	permission->approval.self = approval.allow_self;
	take_answer(permission, &approval);
	if (is_new)
		notify(approver, settings->webhook, &approval);
	dw_approval_finish(&approval);
	return 0;
}

int dw_approver_answer(struct dw_approver *approver, struct dw_permission *permission,
                       struct dw_error *err)
{
	struct dw_approvals *approvals = approvals_of(approver, err);
	struct dw_approval approval = {0};

	if (!approvals ||
	    dw_approvals_get(approvals, permission->approval.id, &approval, err) < 0)
		return -1;
	take_answer(permission, &approval);
	dw_approval_finish(&approval);
	return 0;
}

int dw_approver_spend(struct dw_approver *approver,
                      const struct dw_policy_question *question,
                      struct dw_permission *permission, struct dw_error *err)
{
	struct dw_approvals *approvals;
	struct dw_error why = {0};

	if (permission->approval.id[0] == '\0')
		return 0;
	approvals = approvals_of(approver, err);
	if (!approvals)
		return -1;
	if (dw_approvals_use(approvals, permission->approval.id, question->who,
	                     question->req->id, question->req, &why) == 0)
		return 0;
	permission->approval.granted_by[0] = '\0';
	if (why.code == DW_E_BUSY) {
		permission->state = DW_PERMISSION_ASK;
		return 0;
	}
	if (why.code != DW_E_DENIED) {
		*err = why;
		return -1;
	}
	/* It expired between the answer and now. */
	dw_permission_refuse(permission, DW_REASON_APPROVAL_EXPIRED, "%s", why.text);
	return 0;
}

void dw_approver_give_back(struct dw_approver *approver,
                           const struct dw_permission *permission, const char *run,
                           struct dw_error *err)
{
	const char *id = permission->approval.id;
	struct dw_error why = {0};
	struct dw_approvals *approvals;

	if (permission->state != DW_PERMISSION_GRANTED || id[0] == '\0')
		return;
	approvals = approvals_of(approver, &why);
	if (!approvals || dw_approvals_give_back(approvals, id, run, &why) < 0)
		(void)dw_wrap(err, "approval %s is lost (%.200s)", id, why.text);
}
