/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream to the guest, pumped by one loop that relays between the guest and dewar.
 * Nothing here waits for an engine.
 */
#include "docker/docker_own.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"

#define EVENTS_MS 50     /* between checks of the cgroup's events */
#define KILL_MS 400U     /* how long the guest may take to end the program */
#define INPUT_MAX 32768U /* in one frame */
#define CHUNK 65536U

void dw_docker_report(const struct dw_docker_report *report)
{
	(void)dw_report_send_data(DW_DOCKER_FD, report, sizeof(*report), NULL, 0);
}

/* ---- from the guest ---- */

static void on_text(void *user, const char *data, size_t len)
{
	struct dw_guest_link *s = user;
	size_t at = strlen(s->runtime_error);

	(void)snprintf(s->runtime_error + at, sizeof(s->runtime_error) - at, "%.*s",
	               (int)len, data);
	dw_engine_flatten(s->runtime_error + at);
}

/*
 * From now on dewar's writes to the program's stdin fail. /dev/null keeps the descriptor
 * number in use, so that no other file gets it.
 */
static void close_input(struct dw_guest_link *s)
{
	autoclose int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	s->input_over = true;
	if (null >= 0)
		(void)dup2(null, STDIN_FILENO);
}

static int take_walls(struct dw_guest_link *s, const struct dw_report *report)
{
	struct dw_docker_report walls = {.kind = DW_DOCKER_WALLS, .walls = report->walls};

	if (s->state != DW_LINK_READY || report->kind != DW_REPORT_WALLS)
		return -EPROTO;
	s->state = DW_LINK_RUNNING;
	/*
	 * A runtime with its own kernel, such as gVisor, numbers its namespaces itself
	 * and may lack some. In place of a missing one we report the namespace of the
	 * runtime's process on the host.
	 */
	dw_container_namespaces(s->pid, walls.walls.ns);
	dw_docker_report(&walls);
	return 0;
}

static int take_end(struct dw_guest_link *s, const struct dw_report *report)
{
	if (s->state != DW_LINK_RUNNING || report->kind != DW_REPORT_END)
		return -EPROTO;
	s->state = DW_LINK_ENDED;
	s->end.end = report->end;
	return 0;
}

static int take_error(struct dw_guest_link *s, const struct dw_report *report)
{
	if (s->state >= DW_LINK_RUNNING || report->kind != DW_REPORT_ERROR)
		return -EPROTO;
	s->state = DW_LINK_DONE;
	s->error = report->error;
	return 0;
}

static int take_report(struct dw_guest_link *s, uint32_t kind, const char *payload,
                       size_t len)
{
	struct dw_report report;

	if (len != sizeof(report))
		return -EPROTO;
	memcpy(&report, payload, sizeof(report));
	if (!dw_report_is_sound(&report))
		return -EPROTO;
	if (kind == DW_GUEST_WALLS)
		return take_walls(s, &report);
	return kind == DW_GUEST_END ? take_end(s, &report) : take_error(s, &report);
}

static int on_frame(void *user, const struct dw_guest_frame *f, const char *payload)
{
	struct dw_guest_link *s = user;

	switch (f->kind) {
	case DW_GUEST_HELLO:
		if (s->state != DW_LINK_STARTING || f->len != sizeof(s->hello))
			return -EPROTO;
		memcpy(&s->hello, payload, sizeof(s->hello));
		s->state = DW_LINK_READY;
		return 0;
	case DW_GUEST_WALLS:
	case DW_GUEST_END:
	case DW_GUEST_ERROR:
		return take_report(s, f->kind, payload, f->len);
	case DW_GUEST_OUT:
	case DW_GUEST_ERR:
		if (s->state != DW_LINK_RUNNING)
			return -EPROTO;
		/* Dewar reads everything; if a write fails, dewar is gone. */
		(void)dw_fd_write_all(f->kind == DW_GUEST_OUT ? STDOUT_FILENO
		                                              : STDERR_FILENO,
		                      payload, f->len);
		return 0;
	case DW_GUEST_WANT:
		s->wants_input = true;
		return 0;
	case DW_GUEST_DEAF:
		close_input(s);
		return 0;
	case DW_GUEST_FILE:
		return s->state != DW_LINK_ENDED
		               ? -EPROTO
		               : dw_collected_file(&s->collected, payload, f->len);
	case DW_GUEST_DATA:
		return s->state != DW_LINK_ENDED
		               ? -EPROTO
		               : dw_collected_data(&s->collected, payload, f->len);
	case DW_GUEST_DONE:
		if (s->state != DW_LINK_ENDED)
			return -EPROTO;
		s->state = DW_LINK_DONE;
		return 0;
	default:
		return -EPROTO;
	}
}

/* ---- to the guest ---- */

void dw_link_queue(struct dw_guest_link *s, enum dw_guest_kind kind, const void *data,
                   size_t len)
{
	struct dw_guest_frame frame = {.kind = kind, .len = (uint32_t)len};

	(void)dw_buf_add(&s->out, &frame, sizeof(frame));
	(void)dw_buf_add(&s->out, data, len);
}

static void flush(struct dw_guest_link *s)
{
	ssize_t n = send(s->fd, s->out.data + s->out_at, s->out.len - s->out_at,
	                 MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n > 0)
		s->out_at += (size_t)n;
	if (s->out_at == s->out.len)
		s->out.len = s->out_at = 0;
}

static void take_input(struct dw_guest_link *s)
{
	char chunk[INPUT_MAX];
	ssize_t n = read(STDIN_FILENO, chunk, sizeof(chunk));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	s->wants_input = false;
	s->input_over = n <= 0;
	if (n > 0)
		dw_link_queue(s, DW_GUEST_INPUT, chunk, (size_t)n);
	else
		dw_link_queue(s, DW_GUEST_CLOSE, "", 0);
}

/* ---- the loop ---- */

static void read_from_dewar(struct dw_guest_link *s)
{
	char message;
	ssize_t n = recv(DW_DOCKER_FD, &message, 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	s->dewar_gone = n <= 0;
	s->kills++;
	if (s->killed_ms == 0)
		s->killed_ms = dw_now_ms();
	if (n > 0 && s->kills == 1 && s->state == DW_LINK_RUNNING)
		dw_link_queue(s, DW_GUEST_KILL, "", 0);
}

/* Returns true if the run is to be abandoned. */
static bool is_abandoned(const struct dw_guest_link *s)
{
	if (s->dewar_gone || s->kills > 1)
		return true;
	if (s->kills > 0 && s->state < DW_LINK_RUNNING)
		return true;
	return s->killed_ms != 0 && dw_now_ms() > s->killed_ms + KILL_MS &&
	       s->state < DW_LINK_ENDED;
}

int dw_link_receive(struct dw_guest_link *s, struct dw_error *err)
{
	char chunk[CHUNK];
	ssize_t n = recv(s->fd, chunk, sizeof(chunk), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the container ended unexpectedly%s%s",
		               s->runtime_error[0] != '\0' ? ": " : "", s->runtime_error);
	if (dw_demux_feed(&s->demux, chunk, (size_t)n) < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the container sent data that is not from dewar-guest");
	return 0;
}

/* A run that hits a limit ends, as at every level. */
static void check_events(struct dw_guest_link *s)
{
	if (s->state != DW_LINK_RUNNING || s->killed_ms != 0)
		return;
	dw_container_cgroup_events(&s->cgroup, &s->end);
	if (!s->end.oom && !s->end.pids)
		return;
	s->killed_ms = dw_now_ms();
	dw_link_queue(s, DW_GUEST_KILL, "", 0);
}

int dw_link_pump(struct dw_guest_link *s, enum dw_link_state until, uint64_t deadline_ms,
                 struct dw_error *err)
{
	while (s->state < until) {
		bool input = s->wants_input && !s->input_over &&
		             s->state == DW_LINK_RUNNING;
		bool unsent = s->out.len > s->out_at;
		struct pollfd fds[] = {
			{.fd = s->fd, .events = (short)(POLLIN | (unsent ? POLLOUT : 0))},
			{.fd = DW_DOCKER_FD, .events = POLLIN},
			{.fd = input ? STDIN_FILENO : -1, .events = POLLIN},
		};
		int left = dw_ms_until(deadline_ms);

		if (s->out.failed)
			return dw_fail(err, DW_E_INTERNAL, ENOMEM,
			               "cannot write to the container");
		if (left == 0)
			return dw_fail(err, DW_E_UNSUPPORTED, 0,
			               "the container was not ready in time; if the engine "
			               "is slow, raise --timeout");
		(void)poll(fds, ARRAY_SIZE(fds), left > EVENTS_MS ? EVENTS_MS : left);
		if (fds[1].revents)
			read_from_dewar(s);
		if (is_abandoned(s))
			return dw_fail(err, DW_E_BUSY, 0, "the run was cancelled");
		if (fds[2].revents)
			take_input(s);
		if (fds[0].revents & POLLOUT)
			flush(s);
		if ((fds[0].revents & (POLLIN | POLLHUP | POLLERR)) &&
		    dw_link_receive(s, err) < 0)
			return -1;
		check_events(s);
	}
	return 0;
}

void dw_link_init(struct dw_guest_link *s)
{
	s->fd = -1;
	s->demux.on_frame = on_frame;
	s->demux.on_text = on_text;
	s->demux.user = s;
	dw_buf_init(&s->out, DW_PLAN_SIZE_MAX);
}

void dw_link_finish(struct dw_guest_link *s)
{
	dw_fd_close(&s->fd);
	dw_collected_close(&s->collected);
	dw_buf_finish(&s->out);
}
