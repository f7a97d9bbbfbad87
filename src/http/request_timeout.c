/* SPDX-License-Identifier: Apache-2.0 */
#include <poll.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"
#include "base/lock.h"
#include "http/http_own.h"

#define CHECK_EVERY_S 1

struct dw_request_timeout {
	LIST_ENTRY(dw_request_timeout) link;
	int fd;
	uint64_t deadline_ms; /* 0: none */
	bool hung_up;         /* the client had hung up at the last check */
};

/* One list and one thread for all listeners. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t added = PTHREAD_COND_INITIALIZER;
static LIST_HEAD(timeouts, dw_request_timeout) all = LIST_HEAD_INITIALIZER(all);
static bool running;

/*
 * The caller holds the lock. A client that has hung up gets until the next check:
 * libmicrohttpd may not have read its last bytes yet.
 */
static void check(struct dw_request_timeout *t, uint64_t now)
{
	struct pollfd pfd = {.fd = t->fd, .events = POLLRDHUP};
	bool hung_up;

	if (t->deadline_ms == 0)
		return;
	hung_up = poll(&pfd, 1, 0) > 0 && pfd.revents != 0;
	if (now > t->deadline_ms || (hung_up && t->hung_up)) {
		(void)shutdown(t->fd, SHUT_RDWR);
		t->deadline_ms = 0;
	}
	t->hung_up = hung_up;
}

static void *check_all(void *user)
{
	const struct timespec pause = {.tv_sec = CHECK_EVERY_S};
	struct dw_request_timeout *t;

	(void)user;
	for (;;) {
		(void)pthread_mutex_lock(&lock);
		while (LIST_EMPTY(&all))
			(void)pthread_cond_wait(&added, &lock);
		for (t = LIST_FIRST(&all); t; t = LIST_NEXT(t, link))
			check(t, dw_now_ms());
		(void)pthread_mutex_unlock(&lock);
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

struct dw_request_timeout *dw_request_timeout_start(int fd, uint64_t deadline_ms)
{
	struct dw_request_timeout *t = calloc(1, sizeof(*t));
	pthread_t thread;

	if (!t)
		return NULL;
	*t = (struct dw_request_timeout){.fd = fd, .deadline_ms = deadline_ms};
	HOLD_LOCK(&lock);
	LIST_INSERT_HEAD(&all, t, link);
	if (!running && pthread_create(&thread, NULL, check_all, NULL) == 0) {
		(void)pthread_detach(thread);
		running = true;
	}
	(void)pthread_cond_signal(&added);
	return t;
}

void dw_request_timeout_set(struct dw_request_timeout *timeout, uint64_t deadline_ms)
{
	if (!timeout)
		return;
	HOLD_LOCK(&lock);
	timeout->deadline_ms = deadline_ms;
	timeout->hung_up = false;
}

void dw_request_timeout_stop(struct dw_request_timeout *timeout)
{
	if (!timeout)
		return;
	(void)pthread_mutex_lock(&lock);
	LIST_REMOVE(timeout, link);
	(void)pthread_mutex_unlock(&lock);
	free(timeout);
}

void dw_request_timeout_end_all(void)
{
	struct dw_request_timeout *t;

	HOLD_LOCK(&lock);
	for (t = LIST_FIRST(&all); t; t = LIST_NEXT(t, link))
		if (t->deadline_ms > 0)
			(void)shutdown(t->fd, SHUT_RDWR);
}
