/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/lock.h"
#include "mcp/mcp_own.h"

/*
 * The caller's thread reads, and another thread writes, since a call must not wait for a
 * client that does not read. The queue of messages to write is bounded: above NOTES_MAX
 * progress is dropped, above QUEUE_MAX we stop reading.
 */
#define LINE_MAX_BYTES (96U << 20) /* the largest request, in base64 */
#define READ_BYTES (64U << 10)
#define NOTES_MAX (1U << 20)
#define QUEUE_MAX (16U << 20)

/* A pipe that is ready accepts this much without blocking. */
#define WRITE_BYTES 4096U

/* How long a client may take to read the last answers. */
#define FLUSH_MS 5000

struct stdio {
	struct dw_mcp_peer *peer;
	int in_fd, out_fd, stop_fd;
	int gone_fd; /* an eventfd: the client stopped reading */
	int less_fd; /* an eventfd: the queue became shorter */

	struct dw_buf line;
	bool skipping; /* we skip the rest of a line that is too long */

	pthread_mutex_t lock;
	pthread_cond_t more;  /* the queue is not empty, or over is set */
	pthread_cond_t quiet; /* no sink is left */
	struct dw_buf queue;
	unsigned sinks;
	bool over;
	bool gone;
};

/* ---- writing ---- */

static int write_some(struct stdio *s, const char *data, size_t len, bool over)
{
	struct pollfd pfd = {.fd = s->out_fd, .events = POLLOUT};
	ssize_t n;
	int r;

	r = poll(&pfd, 1, over ? FLUSH_MS : 1000);
	if (r == 0)
		return over ? -1 : 0;
	if (r < 0)
		return errno == EINTR ? 0 : -1;
	n = write(s->out_fd, data, len < WRITE_BYTES ? len : WRITE_BYTES);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -1;
	return (int)n;
}

static bool is_over(struct stdio *s)
{
	HOLD_LOCK(&s->lock);
	return s->over;
}

static bool write_all(struct stdio *s, const char *data, size_t len)
{
	int n;

	for (size_t at = 0; at < len; at += (size_t)n) {
		n = write_some(s, data + at, len - at, is_over(s));
		if (n < 0)
			return false;
	}
	return true;
}

/* The caller holds the lock. The client stopped reading. */
static void give_up(struct stdio *s)
{
	s->gone = true;
	dw_buf_finish(&s->queue);
	dw_fd_signal(s->gone_fd);
}

static void *write_queue(void *user)
{
	struct stdio *s = user;
	bool fine = true;
	char *data;
	size_t len;

	(void)pthread_mutex_lock(&s->lock);
	while (fine) {
		while (s->queue.len == 0 && !s->over)
			(void)pthread_cond_wait(&s->more, &s->lock);
		if (s->queue.len == 0)
			break;
		data = dw_buf_take(&s->queue, &len);
		dw_fd_signal(s->less_fd);
		(void)pthread_mutex_unlock(&s->lock);
		fine = data && write_all(s, data, len);
		free(data);
		(void)pthread_mutex_lock(&s->lock);
	}
	if (!fine)
		give_up(s);
	(void)pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void on_send(void *user, struct dw_mcp_out *out)
{
	struct stdio *s = user;

	HOLD_LOCK(&s->lock);
	if (!s->gone && (out->answer || s->queue.len < NOTES_MAX)) {
		(void)dw_buf_add(&s->queue, out->text, out->len);
		(void)dw_buf_puts(&s->queue, "\n");
		/* A partial message would make the rest unreadable. */
		if (s->queue.failed)
			give_up(s);
		(void)pthread_cond_signal(&s->more);
	}
	free(out->text);
}

static void on_done(void *user)
{
	struct stdio *s = user;

	HOLD_LOCK(&s->lock);
	if (--s->sinks == 0)
		(void)pthread_cond_signal(&s->quiet);
}

/* ---- reading ---- */

static void take(struct stdio *s, const char *text, size_t len)
{
	struct dw_mcp_sink sink = {.send = on_send, .done = on_done, .user = s};
	struct dw_mcp_message *msg = NULL;
	char *error = NULL;

	if (strspn(text, " \t\r") >= len)
		return;
	if (dw_mcp_parse(text, len, &msg, &error) < 0) {
		dw_mcp_sink_send(&sink, error, true, 400);
		return;
	}
	(void)pthread_mutex_lock(&s->lock);
	s->sinks++;
	(void)pthread_mutex_unlock(&s->lock);
	dw_mcp_peer_take(s->peer, msg, &sink);
}

static void refuse_long(struct stdio *s)
{
	const struct dw_mcp_sink sink = {.send = on_send, .user = s};
	struct dw_mcp_problem why;

	(void)dw_mcp_refuse(&why, DW_MCP_REQUEST, 413, NULL,
	                    "a message must be %u MB or less", LINE_MAX_BYTES >> 20);
	dw_mcp_sink_send(&sink, dw_mcp_error(NULL, &why), true, why.status);
}

static void feed(struct stdio *s, const char *data, size_t len)
{
	const char *end;
	size_t n;

	for (; len > 0; data += n, len -= n) {
		end = memchr(data, '\n', len);
		n = end ? (size_t)(end - data) + 1 : len;
		if (!s->skipping && dw_buf_add(&s->line, data, end ? n - 1 : n) < 0) {
			s->skipping = true;
			refuse_long(s);
		}
		if (!end)
			continue;
		if (!s->skipping && s->line.data)
			take(s, s->line.data, s->line.len);
		s->skipping = false;
		dw_buf_finish(&s->line);
	}
}

static bool is_full(struct stdio *s)
{
	HOLD_LOCK(&s->lock);
	return s->queue.len > QUEUE_MAX;
}

/* Returns false when we must stop reading. */
static bool wait_for_input(struct stdio *s)
{
	struct pollfd pfd[] = {
		{.fd = s->gone_fd, .events = POLLIN},
		{.fd = s->stop_fd, .events = POLLIN},
		{.events = POLLIN},
	};
	uint64_t count;
	bool full;

	for (;;) {
		full = is_full(s);
		pfd[2].fd = full ? s->less_fd : s->in_fd;
		if (poll(pfd, ARRAY_SIZE(pfd), -1) < 0) {
			if (errno == EINTR)
				continue;
			return false;
		}
		if (pfd[0].revents || pfd[1].revents)
			return false;
		if (!full)
			return true;
		(void)!read(s->less_fd, &count, sizeof(count));
	}
}

static void read_lines(struct stdio *s)
{
	autofree char *data = malloc(READ_BYTES);
	ssize_t n;

	while (data && wait_for_input(s)) {
		n = read(s->in_fd, data, READ_BYTES);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			break;
		feed(s, data, (size_t)n);
	}
	/* The last line may lack a newline. */
	if (!s->skipping && s->line.len > 0)
		take(s, s->line.data, s->line.len);
}

/* ---- starting and stopping ---- */

static void finish(struct stdio *s, pthread_t writer)
{
	dw_mcp_peer_close(s->peer);
	(void)pthread_mutex_lock(&s->lock);
	while (s->sinks > 0)
		(void)pthread_cond_wait(&s->quiet, &s->lock);
	s->over = true;
	(void)pthread_cond_signal(&s->more);
	(void)pthread_mutex_unlock(&s->lock);
	(void)pthread_join(writer, NULL);
}

int dw_mcp_stdio(struct dw_mcp *mcp, const struct dw_caller *caller, int in_fd,
                 int out_fd, int stop_fd, struct dw_error *err)
{
	struct stdio s = {.in_fd = in_fd, .out_fd = out_fd, .stop_fd = stop_fd};
	autoclose int gone_fd = eventfd(0, EFD_CLOEXEC);
	autoclose int less_fd = eventfd(0, EFD_CLOEXEC);
	pthread_t writer;
	int r;

	if (gone_fd < 0 || less_fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot create an eventfd");
	s.gone_fd = gone_fd;
	s.less_fd = less_fd;
	s.peer = dw_mcp_peer_create(mcp, caller);
	if (!s.peer)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot serve MCP");
	(void)pthread_mutex_init(&s.lock, NULL);
	(void)pthread_cond_init(&s.more, NULL);
	(void)pthread_cond_init(&s.quiet, NULL);
	dw_buf_init(&s.line, LINE_MAX_BYTES);
	dw_buf_init(&s.queue, SIZE_MAX / 2);

	r = pthread_create(&writer, NULL, write_queue, &s);
	if (r == 0) {
		read_lines(&s);
		finish(&s, writer);
	} else {
		dw_mcp_peer_close(s.peer);
		r = dw_fail(err, DW_E_INTERNAL, r, "cannot start a thread");
	}

	dw_buf_finish(&s.line);
	dw_buf_finish(&s.queue);
	(void)pthread_cond_destroy(&s.quiet);
	(void)pthread_cond_destroy(&s.more);
	(void)pthread_mutex_destroy(&s.lock);
	return r;
}
