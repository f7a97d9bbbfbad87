/* SPDX-License-Identifier: Apache-2.0 */
#include "approvals/hook.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

struct message {
	struct message *next;
	size_t len;
	char json[];
};

struct dw_notifier {
	struct dw_hook hook;
	char **argv; /* owned; hook points to it */
	char *url;
	dw_notify_failed_fn *failed;
	void *user;
	pthread_t thread;
	bool started;

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	struct message *first, **last;
	unsigned waiting;
	bool stopped;
};

static void report(const struct dw_notifier *n, const char *text)
{
	if (n->failed)
		n->failed(n->user, text);
}

/* Wait for the next message. Returns NULL when the notifier ends. */
static struct message *next(struct dw_notifier *n)
{
	struct message *message = NULL;

	(void)pthread_mutex_lock(&n->lock);
	while (!n->stopped && !n->first)
		(void)pthread_cond_wait(&n->changed, &n->lock);
	if (!n->stopped) {
		message = n->first;
		n->first = message->next;
		if (!n->first)
			n->last = &n->first;
		n->waiting--;
	}
	(void)pthread_mutex_unlock(&n->lock);
	return message;
}

static void *deliver(void *user)
{
	struct dw_notifier *n = user;
	char detail[DW_HOOK_REASON_MAX], text[DW_ERROR_TEXT_MAX + DW_HOOK_REASON_MAX + 8];
	struct message *message;

	while ((message = next(n))) {
		struct dw_error err = {0};
		autobuf struct dw_buf out;

		dw_buf_init(&out, DW_HOOK_ANSWER_MAX);
		if (dw_hook_run(&n->hook, message->json, message->len, &out, detail,
		                &err) < 0) {
			(void)snprintf(text, sizeof(text), "%s%s%s", err.text,
			               detail[0] != '\0' ? ": " : "", detail);
			report(n, text);
		}
		free(message);
	}
	return NULL;
}

static int copy_hook(struct dw_notifier *n, const struct dw_hook *hook)
{
	size_t count = 0;

	n->hook = (struct dw_hook){.timeout_ms = hook->timeout_ms};
	if (hook->url) {
		n->hook.url = n->url = strdup(hook->url);
		return n->url ? 0 : -ENOMEM;
	}
	while (hook->argv[count])
		count++;
	n->argv = calloc(count + 1, sizeof(char *));
	for (size_t i = 0; n->argv && i < count; i++) {
		n->argv[i] = strdup(hook->argv[i]);
		if (!n->argv[i])
			return -ENOMEM;
	}
	n->hook.argv = (const char *const *)n->argv;
	return n->argv ? 0 : -ENOMEM;
}

int dw_notifier_create(const struct dw_hook *hook, dw_notify_failed_fn *failed,
                       void *user, struct dw_notifier **ret, struct dw_error *err)
{
	struct dw_notifier *n;
	int r;

	if (dw_hook_check(hook, err) < 0)
		return -1;
	n = calloc(1, sizeof(*n));
	if (!n)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot create a notifier");
	n->failed = failed;
	n->user = user;
	n->last = &n->first;
	(void)pthread_mutex_init(&n->lock, NULL);
	(void)pthread_cond_init(&n->changed, NULL);
	r = copy_hook(n, hook);
	if (r == 0)
		r = -pthread_create(&n->thread, NULL, deliver, n);
	n->started = r == 0;
	if (r < 0) {
		dw_notifier_free(n);
		return dw_fail(err, DW_E_INTERNAL, -r, "cannot create a notifier");
	}
	*ret = n;
	return 0;
}

void dw_notifier_free(struct dw_notifier *n)
{
	struct message *message;

	if (!n)
		return;
	(void)pthread_mutex_lock(&n->lock);
	n->stopped = true;
	(void)pthread_cond_signal(&n->changed);
	(void)pthread_mutex_unlock(&n->lock);
	if (n->started)
		(void)pthread_join(n->thread, NULL);
	while ((message = n->first)) {
		n->first = message->next;
		free(message);
	}
	for (char **arg = n->argv; arg && *arg; arg++)
		free(*arg);
	free(n->argv);
	free(n->url);
	(void)pthread_cond_destroy(&n->changed);
	(void)pthread_mutex_destroy(&n->lock);
	free(n);
}

void dw_hook_notify(struct dw_notifier *n, const char *json, size_t len)
{
	struct message *message;
	bool fits;

	if (!n)
		return;
	message = malloc(sizeof(*message) + len);
	if (!message) {
		report(n, "cannot queue a notification: out of memory");
		return;
	}
	*message = (struct message){.len = len};
	memcpy(message->json, json, len);
	(void)pthread_mutex_lock(&n->lock);
	fits = n->waiting < DW_NOTIFY_QUEUE_MAX;
	if (fits) {
		*n->last = message;
		n->last = &message->next;
		n->waiting++;
		(void)pthread_cond_signal(&n->changed);
	}
	(void)pthread_mutex_unlock(&n->lock);
	if (!fits) {
		free(message);
		report(n, "dropped a notification: the queue is full");
	}
}
