/* SPDX-License-Identifier: Apache-2.0 */
#include "server/watch.h"

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

#define LOOK_EVERY_MS 50U
#define LINGER 20 /* looks, once there is nobody: who comes then need not wake us */

struct dw_watch_hang_up {
	struct dw_watch_hang_up *next, *prev;
	int fd;
	const struct dw_watched *what;
	void *user;
};

/* Somebody to be told, held. */
struct gone {
	const struct dw_watched *what;
	void *user;
};

/* One list and one thread for all listeners. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static struct dw_watch_hang_up *first;
static bool running, sleeping;

/* Under the lock: those whose client is gone, each of them held. */
static size_t find_gone(struct gone *ret, size_t max)
{
	struct pollfd pfd;
	size_t n = 0;

	for (struct dw_watch_hang_up *w = first; w && n < max; w = w->next) {
		pfd = (struct pollfd){.fd = w->fd, .events = POLLRDHUP};
		if (poll(&pfd, 1, 0) <= 0 || pfd.revents == 0)
			continue;
		w->what->hold(w->user);
		ret[n++] = (struct gone){w->what, w->user};
	}
	return n;
}

static void *look(void *user)
{
	struct timespec pause = {.tv_nsec = LOOK_EVERY_MS * 1000000L};
	struct gone gone[64];
	int nobody = 0;
	size_t n;

	(void)user;
	for (;;) {
		(void)pthread_mutex_lock(&lock);
		nobody = first ? 0 : nobody + 1;
		while (!first && nobody > LINGER) {
			sleeping = true;
			(void)pthread_cond_wait(&some, &lock);
			sleeping = false;
		}
		n = find_gone(gone, sizeof(gone) / sizeof(gone[0]));
		(void)pthread_mutex_unlock(&lock);
		for (size_t i = 0; i < n; i++) {
			gone[i].what->gone(gone[i].user);
			gone[i].what->release(gone[i].user);
		}
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

struct dw_watch_hang_up *dw_watch_start(int fd, const struct dw_watched *what, void *user)
{
	struct dw_watch_hang_up *w = calloc(1, sizeof(*w));
	pthread_t thread;

	if (!w)
		return NULL;
	w->fd = fd;
	w->what = what;
	w->user = user;
	what->hold(user);
	(void)pthread_mutex_lock(&lock);
	w->next = first;
	if (first)
		first->prev = w;
	first = w;
	if (!running && pthread_create(&thread, NULL, look, NULL) == 0) {
		(void)pthread_detach(thread);
		running = true;
	}
	if (sleeping)
		(void)pthread_cond_signal(&some);
	(void)pthread_mutex_unlock(&lock);
	return w;
}

void dw_watch_stop(struct dw_watch_hang_up *watch)
{
	if (!watch)
		return;
	(void)pthread_mutex_lock(&lock);
	if (watch->prev)
		watch->prev->next = watch->next;
	else
		first = watch->next;
	if (watch->next)
		watch->next->prev = watch->prev;
	(void)pthread_mutex_unlock(&lock);
	watch->what->release(watch->user);
	free(watch);
}
