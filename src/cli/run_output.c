/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/foreground.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

void dw_cli_output_init(struct dw_cli_output *sink, int fd, int broken_fd)
{
	*sink = (struct dw_cli_output){
		.fd = fd,
		.broken_fd = broken_fd,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.more = PTHREAD_COND_INITIALIZER,
	};
}

static void fail(struct dw_cli_output *sink, int eno)
{
	sink->error = eno;
	dw_fd_signal(sink->broken_fd);
}

/*
 * Write without blocking. Returns the number of bytes written; if a write fails, stores
 * the error in the sink.
 */
static size_t write_now(struct dw_cli_output *sink, const char *data, size_t len)
{
	struct pollfd pfd = {.fd = sink->fd, .events = POLLOUT};
	size_t done = 0;
	size_t part;
	ssize_t n;

	/*
	 * The descriptor is shared with the parent process, so we must not make it
	 * non-blocking. But a pipe that poll() reports as writable accepts PIPE_BUF bytes
	 * without blocking.
	 */
	while (done < len && poll(&pfd, 1, 0) == 1) {
		part = len - done < PIPE_BUF ? len - done : PIPE_BUF;
		n = write(sink->fd, data + done, part);
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0 && errno != EINTR) {
			fail(sink, errno);
			break;
		}
		if (n > 0)
			done += (size_t)n;
	}
	return done;
}

/* Returns 0 or an errno. */
static int write_blocking(int fd, const char *data, size_t len)
{
	struct pollfd pfd = {.fd = fd, .events = POLLOUT};
	ssize_t n;

	while (len > 0) {
		n = write(fd, data, len);
		if (n < 0 && errno == EAGAIN)
			(void)poll(&pfd, 1, -1);
		else if (n < 0 && errno != EINTR)
			return errno;
		if (n < 0)
			continue;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

static void *write_buffer(void *user)
{
	struct dw_cli_output *sink = user;
	char *data;
	size_t len;
	int eno;

	(void)pthread_mutex_lock(&sink->lock);
	while (sink->error == 0) {
		while (sink->len == 0 && !sink->ended)
			(void)pthread_cond_wait(&sink->more, &sink->lock);
		if (sink->len == 0)
			break;

		data = TAKE_PTR(sink->kept);
		len = sink->len;
		sink->len = 0;
		(void)pthread_mutex_unlock(&sink->lock);

		eno = write_blocking(sink->fd, data, len);
		free(data);

		(void)pthread_mutex_lock(&sink->lock);
		if (eno != 0)
			fail(sink, eno);
	}
	(void)pthread_mutex_unlock(&sink->lock);
	return NULL;
}

/*
 * Start the thread with all signals blocked: the thread that runs the cell handles them.
 */
static int start_thread(struct dw_cli_output *sink)
{
	sigset_t all, old;
	int r;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	r = pthread_create(&sink->thread, NULL, write_buffer, sink);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	sink->threaded = r == 0;
	return r;
}

static void append(struct dw_cli_output *sink, const char *data, size_t len)
{
	char *kept;
	int r;

	kept = realloc(sink->kept, sink->len + len);
	if (!kept) {
		fail(sink, ENOMEM);
		return;
	}
	memcpy(kept + sink->len, data, len);
	sink->kept = kept;
	sink->len += len;

	r = sink->threaded ? 0 : start_thread(sink);
	if (r != 0)
		fail(sink, r);
	(void)pthread_cond_signal(&sink->more);
}

void dw_cli_output_put(struct dw_cli_output *sink, const void *data, size_t len)
{
	size_t done = 0;

	if (len == 0)
		return;
	sink->last = ((const char *)data)[len - 1];

	/* Once the thread exists, it writes all data, to keep the order. */
	if (!sink->threaded && sink->error == 0)
		done = write_now(sink, data, len);
	if (done == len)
		return;

	(void)pthread_mutex_lock(&sink->lock);
	if (sink->error == 0)
		append(sink, (const char *)data + done, len - done);
	(void)pthread_mutex_unlock(&sink->lock);
}

int dw_cli_output_drain(struct dw_cli_output *sink)
{
	if (sink->threaded) {
		(void)pthread_mutex_lock(&sink->lock);
		sink->ended = true;
		(void)pthread_cond_signal(&sink->more);
		(void)pthread_mutex_unlock(&sink->lock);
		(void)pthread_join(sink->thread, NULL);
		sink->threaded = false;
	}
	free(sink->kept);
	sink->kept = NULL;
	return -sink->error;
}
