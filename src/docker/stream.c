/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream to the guest, pumped by one loop: what the guest says goes to dewar, what
 * dewar says goes to the guest. Nothing here waits for an engine.
 */
#include "docker/stream.h"

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

#define LOOK_MS 50       /* at what the kernel counts, while the program runs */
#define KILL_MS 400U     /* for the guest to end everything by itself */
#define INPUT_MAX 32768U /* a piece */
#define CHUNK 65536U

void dw_docker_tell(const struct dw_docker_report *report)
{
	(void)dw_report_send_data(DW_DOCKER_FD, report, sizeof(*report), NULL, 0);
}

/* ---- what the guest says ---- */

static void on_text(void *user, const char *data, size_t len)
{
	struct dw_stream *s = user;
	size_t at = strlen(s->said);

	for (size_t i = 0; i < len && at + 1 < sizeof(s->said); i++)
		s->said[at++] = (unsigned char)data[i] < 0x20 || data[i] == 0x7f
		                        ? ' '
		                        : data[i];
	s->said[at] = '\0';
}

/* Dewar finds nobody at the other end; the number is not free for others. */
static void close_input(struct dw_stream *s)
{
	autoclose int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	s->input_over = true;
	if (null >= 0)
		(void)dup2(null, STDIN_FILENO);
}

static int take_walls(struct dw_stream *s, const struct dw_report *report)
{
	struct dw_docker_report walls = {.kind = DW_DOCKER_WALLS, .walls = report->walls};

	if (s->stage != DW_STAGE_READY || report->kind != DW_REPORT_WALLS)
		return -EPROTO;
	s->stage = DW_STAGE_RUNS;
	/*
	 * A runtime with a kernel of its own has numbers of its own inside, and may not
	 * have all of them. What it lacks is that of the sandbox around it.
	 */
	dw_held_namespaces(s->pid, walls.walls.ns);
	dw_docker_tell(&walls);
	return 0;
}

static int take_end(struct dw_stream *s, const struct dw_report *report)
{
	if (s->stage != DW_STAGE_RUNS || report->kind != DW_REPORT_END)
		return -EPROTO;
	s->stage = DW_STAGE_ENDED;
	s->end.end = report->end;
	return 0;
}

static int take_error(struct dw_stream *s, const struct dw_report *report)
{
	if (s->stage >= DW_STAGE_RUNS || report->kind != DW_REPORT_ERROR)
		return -EPROTO;
	s->stage = DW_STAGE_DONE;
	s->error = report->error;
	return 0;
}

static int take_report(struct dw_stream *s, uint32_t kind, const char *payload,
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
	struct dw_stream *s = user;

	switch (f->kind) {
	case DW_GUEST_HELLO:
		if (s->stage != DW_STAGE_START || f->len != sizeof(s->hello))
			return -EPROTO;
		memcpy(&s->hello, payload, sizeof(s->hello));
		s->stage = DW_STAGE_READY;
		return 0;
	case DW_GUEST_WALLS:
	case DW_GUEST_END:
	case DW_GUEST_ERROR:
		return take_report(s, f->kind, payload, f->len);
	case DW_GUEST_OUT:
	case DW_GUEST_ERR:
		if (s->stage != DW_STAGE_RUNS)
			return -EPROTO;
		/* Dewar reads it all, to the end; if it does not, it is gone. */
		(void)dw_fd_write_all(f->kind == DW_GUEST_OUT ? STDOUT_FILENO
		                                              : STDERR_FILENO,
		                      payload, f->len);
		return 0;
	case DW_GUEST_WANT:
		s->wants = true;
		return 0;
	case DW_GUEST_DEAF:
		close_input(s);
		return 0;
	case DW_GUEST_FILE:
		return s->stage != DW_STAGE_ENDED
		               ? -EPROTO
		               : dw_collected_file(&s->collected, payload, f->len);
	case DW_GUEST_DATA:
		return s->stage != DW_STAGE_ENDED
		               ? -EPROTO
		               : dw_collected_data(&s->collected, payload, f->len);
	case DW_GUEST_DONE:
		if (s->stage != DW_STAGE_ENDED)
			return -EPROTO;
		s->stage = DW_STAGE_DONE;
		return 0;
	default:
		return -EPROTO;
	}
}

/* ---- what we say ---- */

void dw_stream_queue(struct dw_stream *s, enum dw_guest_kind kind, const void *data,
                     size_t len)
{
	struct dw_guest_frame frame = {.kind = kind, .len = (uint32_t)len};

	(void)dw_buf_add(&s->out, &frame, sizeof(frame));
	(void)dw_buf_add(&s->out, data, len);
}

static void flush(struct dw_stream *s)
{
	ssize_t n = send(s->fd, s->out.data + s->out_at, s->out.len - s->out_at,
	                 MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n > 0)
		s->out_at += (size_t)n;
	if (s->out_at == s->out.len)
		s->out.len = s->out_at = 0;
}

static void take_input(struct dw_stream *s)
{
	char chunk[INPUT_MAX];
	ssize_t n = read(STDIN_FILENO, chunk, sizeof(chunk));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	s->wants = false;
	s->input_over = n <= 0;
	if (n > 0)
		dw_stream_queue(s, DW_GUEST_INPUT, chunk, (size_t)n);
	else
		dw_stream_queue(s, DW_GUEST_CLOSE, "", 0);
}

/* ---- the loop ---- */

static void listen_to_dewar(struct dw_stream *s)
{
	char word;
	ssize_t n = recv(DW_DOCKER_FD, &word, 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	s->dewar_gone = n <= 0;
	s->kills++;
	if (s->killed_ms == 0)
		s->killed_ms = dw_now_ms();
	if (n > 0 && s->kills == 1 && s->stage == DW_STAGE_RUNS)
		dw_stream_queue(s, DW_GUEST_KILL, "", 0);
}

/* Is there no use in going on? */
static bool is_given_up(const struct dw_stream *s)
{
	if (s->dewar_gone || s->kills > 1)
		return true;
	if (s->kills > 0 && s->stage < DW_STAGE_RUNS)
		return true;
	return s->killed_ms != 0 && dw_now_ms() > s->killed_ms + KILL_MS &&
	       s->stage < DW_STAGE_ENDED;
}

/* -1: the stream is over, or what came is not the guest's. */
int dw_stream_take(struct dw_stream *s, struct dw_error *err)
{
	char chunk[CHUNK];
	ssize_t n = recv(s->fd, chunk, sizeof(chunk), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the container ended by itself%s%s",
		               s->said[0] != '\0' ? ": " : "", s->said);
	if (dw_demux_feed(&s->demux, chunk, (size_t)n) < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "what comes out of the container is not our guest's");
	return 0;
}

/* The kernel holds the limits; that one was run against ends the cell, as anywhere. */
static void look(struct dw_stream *s)
{
	if (s->stage != DW_STAGE_RUNS || s->killed_ms != 0)
		return;
	dw_held_events(&s->held, &s->end);
	if (!s->end.oom && !s->end.pids)
		return;
	s->killed_ms = dw_now_ms();
	dw_stream_queue(s, DW_GUEST_KILL, "", 0);
}

/*
 * Until the stage is reached. -1 if that will not be: with an error, or, where we were
 * told to stop, with DW_E_BUSY.
 */
int dw_stream_pump(struct dw_stream *s, enum dw_stage until, uint64_t deadline_ms,
                   struct dw_error *err)
{
	while (s->stage < until) {
		bool input = s->wants && !s->input_over && s->stage == DW_STAGE_RUNS;
		bool unsent = s->out.len > s->out_at;
		struct pollfd fds[] = {
			{.fd = s->fd, .events = (short)(POLLIN | (unsent ? POLLOUT : 0))},
			{.fd = DW_DOCKER_FD, .events = POLLIN},
			{.fd = input ? STDIN_FILENO : -1, .events = POLLIN},
		};
		int left = dw_ms_until(deadline_ms);

		if (s->out.failed)
			return dw_fail(err, DW_E_INTERNAL, ENOMEM,
			               "talk to the container");
		if (left == 0)
			return dw_fail(err, DW_E_UNSUPPORTED, 0,
			               "the container was not ready in time; raise "
			               "--timeout if the engine is only slow");
		(void)poll(fds, ARRAY_SIZE(fds), left > LOOK_MS ? LOOK_MS : left);
		if (fds[1].revents)
			listen_to_dewar(s);
		if (is_given_up(s))
			return dw_fail(err, DW_E_BUSY, 0, "the run was called off");
		if (fds[2].revents)
			take_input(s);
		if (fds[0].revents & POLLOUT)
			flush(s);
		if ((fds[0].revents & (POLLIN | POLLHUP | POLLERR)) &&
		    dw_stream_take(s, err) < 0)
			return -1;
		look(s);
	}
	return 0;
}

void dw_stream_init(struct dw_stream *s)
{
	s->fd = -1;
	s->demux.on_frame = on_frame;
	s->demux.on_text = on_text;
	s->demux.user = s;
	dw_buf_init(&s->out, DW_PLAN_SIZE_MAX);
}

void dw_stream_finish(struct dw_stream *s)
{
	dw_fd_close(&s->fd);
	dw_collected_close(&s->collected);
	dw_buf_finish(&s->out);
}
