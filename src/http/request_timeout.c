/* SPDX-License-Identifier: Apache-2.0 */
#include "http/request_timeout.h"

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"

#define LOOK_EVERY_S 1

struct dw_request_timeout {
	LIST_ENTRY(dw_request_timeout) link;
	int fd;
	uint64_t until_ms; /* 0: for ever */
	bool gone;         /* it had hung up when we looked last */
};

/* One list and one thread for all listeners. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static LIST_HEAD(patients, dw_request_timeout) all = LIST_HEAD_INITIALIZER(all);
static bool running;

static bool has_hung_up(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLRDHUP};

	return poll(&pfd, 1, 0) > 0 && pfd.revents != 0;
}

/*
 * Under the lock. One that has hung up is given until the next look: what it said
 * before that may be on its way to us still.
 */
static void look_at(struct dw_request_timeout *p, uint64_t now)
{
	bool gone;

	if (p->until_ms == 0)
		return;
	gone = has_hung_up(p->fd);
	if (now > p->until_ms || (gone && p->gone)) {
		(void)shutdown(p->fd, SHUT_RDWR);
		p->until_ms = 0;
	}
	p->gone = gone;
}

static void *look(void *user)
{
	const struct timespec pause = {.tv_sec = LOOK_EVERY_S};
	struct dw_request_timeout *p;

	(void)user;
	for (;;) {
		(void)pthread_mutex_lock(&lock);
		while (LIST_EMPTY(&all))
			(void)pthread_cond_wait(&some, &lock);
		for (p = LIST_FIRST(&all); p; p = LIST_NEXT(p, link))
			look_at(p, dw_now_ms());
		(void)pthread_mutex_unlock(&lock);
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

struct dw_request_timeout *dw_request_timeout_start(int fd, uint64_t until_ms)
{
	struct dw_request_timeout *p = calloc(1, sizeof(*p));
	pthread_t thread;

	if (!p)
		return NULL;
	p->fd = fd;
	p->until_ms = until_ms;
	(void)pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&all, p, link);
	if (!running && pthread_create(&thread, NULL, look, NULL) == 0) {
		(void)pthread_detach(thread);
		running = true;
	}
	(void)pthread_cond_signal(&some);
	(void)pthread_mutex_unlock(&lock);
	return p;
}

void dw_request_timeout_until(struct dw_request_timeout *patience, uint64_t until_ms)
{
	if (!patience)
		return;
	(void)pthread_mutex_lock(&lock);
	patience->until_ms = until_ms;
	patience->gone = false;
	(void)pthread_mutex_unlock(&lock);
}

void dw_request_timeout_stop(struct dw_request_timeout *patience)
{
	if (!patience)
		return;
	(void)pthread_mutex_lock(&lock);
	LIST_REMOVE(patience, link);
	(void)pthread_mutex_unlock(&lock);
	free(patience);
}

void dw_request_timeout_end(void)
{
	struct dw_request_timeout *p;

	(void)pthread_mutex_lock(&lock);
	for (p = LIST_FIRST(&all); p; p = LIST_NEXT(p, link))
		if (p->until_ms > 0)
			(void)shutdown(p->fd, SHUT_RDWR);
	(void)pthread_mutex_unlock(&lock);
}
