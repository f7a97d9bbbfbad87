/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_APPROVALS_NOTIFY_H
#define DW_APPROVALS_NOTIFY_H

#include <stddef.h>

#include "approvals/hook.h"

/*
 * Telling somebody, and not waiting for it: the webhook for when a question arrives.
 * A thread of its own tells one after the other; what does not fit in the queue, or
 * does not get through in the hook's time, is reported and dropped.
 */
struct dw_notifier;

#define DW_NOTIFY_QUEUE_MAX 64U

/* Called in the notifier's thread, or in that of who notifies; one line. */
typedef void dw_notify_failed_fn(void *user, const char *text);

/* The hook is copied. failed may be NULL. */
int dw_notifier_create(const struct dw_hook *hook, dw_notify_failed_fn *failed,
                       void *user, struct dw_notifier **ret, struct dw_error *err);

/* Waits for the one under way, which takes no longer than the hook's time; the others
 * are dropped. Accepts NULL. */
void dw_notifier_free(struct dw_notifier *notifier);

/* Never blocks, never fails: the JSON is copied. Accepts NULL, and does nothing. */
void dw_hook_notify(struct dw_notifier *notifier, const char *json, size_t len);

#endif
