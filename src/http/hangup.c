/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/queue.h>

#include "base/cleanup.h"
#include "base/lock.h"
#include "http/http_own.h"

/*
 * One epoll descriptor and one thread serve all listeners; the thread sleeps until the
 * kernel reports a hang-up.
 *
 * Between the kernel's report and the thread's reaction a watch may be stopped, and its
 * descriptor closed and reused. So an event carries the number of its watch, which is
 * never reused, instead of a pointer or a descriptor; the thread ignores a number that
 * is no longer in the list.
 */
struct dw_hangup {
	LIST_ENTRY(dw_hangup) link;
	uint64_t number;
	int fd;
	const struct dw_hangup_handler *handler;
	void *user;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(watches, dw_hangup) all = LIST_HEAD_INITIALIZER(all);
static uint64_t last_number;
static int epoll_fd = -1;
static bool running;
static bool busy; /* a handler is running */
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;

/*
 * Returns the watch's handler, stores a referenced object in *ret_user and sets busy;
 * NULL if the watch was stopped.
 */
static const struct dw_hangup_handler *find(uint64_t number, void **ret_user)
{
	struct dw_hangup *w;

	HOLD_LOCK(&lock);
	for (w = LIST_FIRST(&all); w && w->number != number; w = LIST_NEXT(w, link))
		;
	if (!w)
		return NULL;
	w->handler->ref(w->user);
	*ret_user = w->user;
	busy = true;
	return w->handler;
}

static void set_idle(void)
{
	HOLD_LOCK(&lock);
	busy = false;
	(void)pthread_cond_broadcast(&idle);
}

static void *report_hangups(void *user)
{
	const struct dw_hangup_handler *handler;
	struct epoll_event events[64];
	void *object;
	int n;

	(void)user;
	for (;;) {
		n = epoll_wait(epoll_fd, events, (int)ARRAY_SIZE(events), -1);
		for (int i = 0; i < n; i++) {
			/* Do not hold the lock: the handler takes other locks. */
			handler = find(events[i].data.u64, &object);
			if (!handler)
				continue;
			handler->on_hangup(object);
			handler->unref(object);
			set_idle();
		}
	}
	return NULL;
}

/* The caller holds the lock. After a failure the next watch tries again. */
static int start_thread(void)
{
	pthread_t thread;

	if (epoll_fd < 0)
		epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0)
		return -1;
	if (!running && pthread_create(&thread, NULL, report_hangups, NULL) == 0) {
		(void)pthread_detach(thread);
		running = true;
	}
	return running ? 0 : -1;
}

static int add(struct dw_hangup *w)
{
	/* Once only: a closed connection stays readable until its owner closes it. */
	struct epoll_event event = {.events = EPOLLRDHUP | EPOLLHUP | EPOLLERR |
	                                      EPOLLONESHOT};

	HOLD_LOCK(&lock);
	event.data.u64 = w->number = ++last_number;
	if (start_thread() < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, w->fd, &event) < 0)
		return -1;
	LIST_INSERT_HEAD(&all, w, link);
	return 0;
}

struct dw_hangup *dw_hangup_start(int fd, const struct dw_hangup_handler *handler,
                                  void *user)
{
	struct dw_hangup *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	*w = (struct dw_hangup){.fd = fd, .handler = handler, .user = user};
	handler->ref(user);
	if (add(w) == 0)
		return w;
	handler->unref(user);
	free(w);
	return NULL;
}

void dw_hangup_stop(struct dw_hangup *watch)
{
	if (!watch)
		return;
	(void)pthread_mutex_lock(&lock);
	LIST_REMOVE(watch, link);
	(void)epoll_ctl(epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
	(void)pthread_mutex_unlock(&lock);
	watch->handler->unref(watch->user);
	free(watch);
}

void dw_hangup_wait(void)
{
	HOLD_LOCK(&lock);
	while (busy)
		(void)pthread_cond_wait(&idle, &lock);
}
