/* SPDX-License-Identifier: Apache-2.0 */
#include "approvals/notify.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "approvals/hook_run.h"
#include "base/cleanup.h"

struct letter {
	struct letter *next;
	size_t len;
	char json[];
};

struct dw_notifier {
	struct dw_hook hook;
	char **argv; /* what the hook points to */
	char *url;
	dw_notify_failed_fn *failed;
	void *user;
	pthread_t thread;
	bool started;

	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	struct letter *first, **last;
	unsigned waiting;
	bool over;
};

static void tell(const struct dw_notifier *n, const char *text)
{
	if (n->failed)
		n->failed(n->user, text);
}

/* The next one, or NULL when it is over. */
static struct letter *next(struct dw_notifier *n)
{
	struct letter *letter = NULL;

	(void)pthread_mutex_lock(&n->lock);
	while (!n->over && !n->first)
		(void)pthread_cond_wait(&n->changed, &n->lock);
	if (!n->over) {
		letter = n->first;
		n->first = letter->next;
		if (!n->first)
			n->last = &n->first;
		n->waiting--;
	}
	(void)pthread_mutex_unlock(&n->lock);
	return letter;
}

static void *deliver(void *user)
{
	struct dw_notifier *n = user;
	char detail[DW_HOOK_REASON_MAX], text[DW_ERROR_TEXT_MAX + DW_HOOK_REASON_MAX + 8];
	struct letter *letter;

	while ((letter = next(n))) {
		struct dw_error err = {0};
		autobuf struct dw_buf out;

		dw_buf_init(&out, DW_HOOK_ANSWER_MAX);
		if (dw_hook_run(&n->hook, letter->json, letter->len, &out, detail, &err) <
		    0) {
			(void)snprintf(text, sizeof(text), "%s%s%s", err.text,
			               detail[0] != '\0' ? ": " : "", detail);
			tell(n, text);
		}
		free(letter);
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
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "make a notifier");
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
		return dw_fail(err, DW_E_INTERNAL, -r, "make a notifier");
	}
	*ret = n;
	return 0;
}

void dw_notifier_free(struct dw_notifier *n)
{
	struct letter *letter;

	if (!n)
		return;
	(void)pthread_mutex_lock(&n->lock);
	n->over = true;
	(void)pthread_cond_signal(&n->changed);
	(void)pthread_mutex_unlock(&n->lock);
	if (n->started)
		(void)pthread_join(n->thread, NULL);
	while ((letter = n->first)) {
		n->first = letter->next;
		free(letter);
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
	struct letter *letter;
	bool fits;

	if (!n)
		return;
	letter = malloc(sizeof(*letter) + len);
	if (!letter) {
		tell(n, "there is no memory for it");
		return;
	}
	*letter = (struct letter){.len = len};
	memcpy(letter->json, json, len);
	(void)pthread_mutex_lock(&n->lock);
	fits = n->waiting < DW_NOTIFY_QUEUE_MAX;
	if (fits) {
		*n->last = letter;
		n->last = &letter->next;
		n->waiting++;
		(void)pthread_cond_signal(&n->changed);
	}
	(void)pthread_mutex_unlock(&n->lock);
	if (!fits) {
		free(letter);
		tell(n, "too many wait to be sent already: it is dropped");
	}
}
