/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_APPROVALS_HOOK_H
#define DW_APPROVALS_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "dewar/error.h"

/*
 * The operator's check: a program or a URL that receives a request as JSON and answers
 * {"decision": "allow" | "deny" | "ask", "reason": "..."}.
 */

/* Exactly one of argv and url is set. */
struct dw_hook {
	const char *const *argv; /* ends in NULL; argv[0] is an absolute path */
	const char *url;         /* http:// or https:// */
	uint64_t timeout_ms;     /* from start to end; 0: DW_HOOK_TIMEOUT_MS */
};

#define DW_HOOK_TIMEOUT_MS 5000U
#define DW_HOOK_TIMEOUT_MAX_MS 60000U
#define DW_HOOK_URL_MAX 2048
#define DW_HOOK_ANSWER_MAX ((size_t)64 << 10) /* bytes of an answer */
#define DW_HOOK_REASON_MAX 512

enum dw_hook_decision {
	DW_HOOK_DENY = 0, /* the default of a zeroed struct */
	DW_HOOK_ALLOW,
	DW_HOOK_ASK,
	DW_HOOK_DECISION_COUNT
};

const char *dw_hook_decision_name(enum dw_hook_decision decision);

struct dw_hook_answer {
	enum dw_hook_decision decision;
	bool failed; /* no valid answer: decision is DW_HOOK_DENY, reason says why */
	char reason[DW_HOOK_REASON_MAX]; /* UTF-8 without control characters, or "" */

	/*
	 * On failure the last line of the hook's stderr, or ""; only for the operator's
	 * log.
	 */
	char detail[DW_HOOK_REASON_MAX];
};

/* Check a hook from a configuration; DW_E_INVALID says what is wrong. */
int dw_hook_check(const struct dw_hook *hook, struct dw_error *err);

/*
 * Call the hook, and wait for its answer. Every failure (timeout, crash, exit status
 * other than 0, invalid or too long output, no such program) is a deny. No process of the
 * hook's group is left running. Any number of threads may call this.
 */
void dw_hook_ask(const struct dw_hook *hook, const char *json, size_t len,
                 struct dw_hook_answer *ret);

/* Parse an answer; on DW_E_INVALID *ret is untouched. */
int dw_hook_answer_parse(const char *text, size_t len, struct dw_hook_answer *ret,
                         struct dw_error *err);

/*
 * Run the hook's program, or dewar-hook for a URL, with these bytes as its stdin, and
 * wait until it ends. 0 if it exits with 0, in time, and its output fits into out. detail
 * is set as in struct dw_hook_answer.
 */
int dw_hook_run(const struct dw_hook *hook, const char *json, size_t len,
                struct dw_buf *out, char detail[DW_HOOK_REASON_MAX],
                struct dw_error *err);

/*
 * dewar-hook gets the URL and the timeout in its environment: any user of the host can
 * read arguments, and a URL may hold a secret.
 */
#define DW_HOOK_URL_VARIABLE "DEWAR_HOOK_URL"
#define DW_HOOK_TIMEOUT_VARIABLE "DEWAR_HOOK_TIMEOUT_MS"

/* ---- notify.c ---- */

/*
 * The webhook for new approvals. A background thread sends one message after the other;
 * a message that does not fit into the queue, or fails within the hook's timeout, is
 * reported and dropped.
 */
struct dw_notifier;

#define DW_NOTIFY_QUEUE_MAX 64U

/* Called with one line, from the notifier's thread or from within dw_hook_notify(). */
typedef void dw_notify_failed_fn(void *user, const char *text);

/* The hook is copied. failed may be NULL. */
int dw_notifier_create(const struct dw_hook *hook, dw_notify_failed_fn *failed,
                       void *user, struct dw_notifier **ret, struct dw_error *err);

/*
 * Waits until the current message is sent, at most for the hook's timeout, and drops the
 * others. Accepts NULL.
 */
void dw_notifier_free(struct dw_notifier *notifier);

/* Queue a copy of the JSON; never blocks. Does nothing if notifier is NULL. */
void dw_hook_notify(struct dw_notifier *notifier, const char *json, size_t len);

#endif
