/* SPDX-License-Identifier: Apache-2.0 */
#include "http/hangup.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/queue.h>

#include "base/cleanup.h"

/*
 * One epoll descriptor and one thread for all listeners; the thread sleeps until the
 * kernel reports a hang-up.
 *
 * A watch can be stopped, and its descriptor closed and used again, between the
 * kernel's report and our look at it. So an event carries the number of its watch,
 * which is never used twice, and not a pointer or a descriptor; a number that is no
 * longer in the list is ignored.
 */
struct dw_hangup {
	LIST_ENTRY(dw_hangup) link;
	uint64_t number;
	int fd;
	const struct dw_watched *what;
	void *user;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(watches, dw_hangup) all = LIST_HEAD_INITIALIZER(all);
static uint64_t last_number;
static int epoll_fd = -1;
static bool running;

/* The watch's object is held on return, for the caller to release. */
static bool find(uint64_t number, const struct dw_watched **ret_what, void **ret_user)
{
	struct dw_hangup *w;

	(void)pthread_mutex_lock(&lock);
	for (w = LIST_FIRST(&all); w; w = LIST_NEXT(w, link))
		if (w->number == number) {
			w->what->hold(w->user);
			*ret_what = w->what;
			*ret_user = w->user;
			break;
		}
	(void)pthread_mutex_unlock(&lock);
	return w != NULL;
}

static void *report_hangups(void *user)
{
	struct epoll_event events[64];
	const struct dw_watched *what;
	int n;

	(void)user;
	for (;;) {
		n = epoll_wait(epoll_fd, events, (int)ARRAY_SIZE(events), -1);
		for (int i = 0; i < n; i++) {
			void *object;

			/* Outside the lock: gone() may stop watches and take other locks. */
			if (!find(events[i].data.u64, &what, &object))
				continue;
			what->gone(object);
			what->release(object);
		}
	}
	return NULL;
}

/* Under the lock. Tried again for the next connection if it fails. */
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

/* Under the lock. */
static int add(struct dw_hangup *w)
{
	/* Once: a closed connection stays readable until its owner closes it. */
	struct epoll_event event = {
		.events = EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLONESHOT,
		.data.u64 = w->number,
	};

	if (start_thread() < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, w->fd, &event) < 0)
		return -1;
	LIST_INSERT_HEAD(&all, w, link);
	return 0;
}

struct dw_hangup *dw_hangup_start(int fd, const struct dw_watched *what, void *user)
{
	struct dw_hangup *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return NULL;
	w->fd = fd;
	w->what = what;
	w->user = user;
	what->hold(user);
	(void)pthread_mutex_lock(&lock);
	w->number = ++last_number;
	r = add(w);
	(void)pthread_mutex_unlock(&lock);
	if (r == 0)
		return w;
	what->release(user);
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
	watch->what->release(watch->user);
	free(watch);
}
