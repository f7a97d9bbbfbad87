/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_APPROVALS_NOTIFY_H
#define DW_APPROVALS_NOTIFY_H

#include <stddef.h>

#include "approvals/hook.h"

/*
 * The webhook for new questions. A background thread sends one message after the other;
 * a message that does not fit into the queue, or fails within the hook's timeout, is
 * reported and dropped.
 */
struct dw_notifier;

#define DW_NOTIFY_QUEUE_MAX 64U

/* Called with one line, in the notifier's thread or in that of dw_hook_notify(). */
typedef void dw_notify_failed_fn(void *user, const char *text);

/* The hook is copied. failed may be NULL. */
int dw_notifier_create(const struct dw_hook *hook, dw_notify_failed_fn *failed,
                       void *user, struct dw_notifier **ret, struct dw_error *err);

/* Waits for the message being sent, at most the hook's timeout; drops the others.
 * Accepts NULL. */
void dw_notifier_free(struct dw_notifier *notifier);

/* Queue a copy of the JSON; never blocks. Does nothing if notifier is NULL. */
void dw_hook_notify(struct dw_notifier *notifier, const char *json, size_t len);

#endif
