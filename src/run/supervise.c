/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event loop for every level.
 *
 * A cell is a few descriptors: its stdio, and those that its level watches. Each pass of
 * the loop polls them all, until the next time that is due: the deadline or, after the
 * first kill, the time of the forced kill, then the time to give up.
 *
 * A cell cannot block the loop: reads are bounded and do not block, output above the cap
 * ends the cell, and a cell that does not die within the grace period is abandoned and
 * reported as an internal error.
 */
#include "run/run_own.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

#define CHUNK 65536U
#define GRACE_MS 500U /* between the first kill and the forced one */
#define GIVE_UP_MS 6000U
#define DRAIN_ROUNDS 64 /* chunks: more than a pipe holds */

enum {
	SLOT_IN,
	SLOT_SOURCE,
	SLOT_OUT,
	SLOT_ERR,
	SLOT_CANCEL,
	SLOT_WATCH
};
#define SLOTS (SLOT_WATCH + DW_CELL_WATCHES)

struct loop {
	struct dw_cell *cell;
	const struct dw_request *req;
	struct dw_supervised *out;
	uint64_t deadline;
	uint64_t started;    /* when all walls were up; 0 before */
	uint64_t killed;     /* when the cell was first killed; 0 before */
	uint64_t waived;     /* the cell's waived_ms at that time */
	bool insisted;       /* the forced kill was done */
	int source;          /* the program's input is read from here, or -1 */
	const char *pending; /* input that the program has not read yet */
	size_t n_pending;
	char input[CHUNK];
};

static void end_cell(struct loop *l, enum dw_cause cause)
{
	if (l->killed != 0)
		return;
	l->out->cause = cause;
	l->killed = dw_now_ms();
	l->waived = l->cell->waived_ms;
	l->cell->level->kill(l->cell);
}

/* ---- input ---- */

static void close_input(struct loop *l)
{
	dw_fd_close(&l->cell->in);
	l->source = -1;
	l->n_pending = 0;
}

static void read_source(struct loop *l)
{
	ssize_t n = read(l->source, l->input, sizeof(l->input));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		close_input(l);
		return;
	}
	l->pending = l->input;
	l->n_pending = (size_t)n;
}

static void write_input(struct loop *l)
{
	ssize_t n = dw_fd_write_quietly(l->cell->in, l->pending, l->n_pending);

	if (n == -EINTR || n == -EAGAIN)
		return;
	if (n < 0) {
		close_input(l); /* the program reads no more input */
		return;
	}
	l->pending += n;
	l->n_pending -= (size_t)n;
	if (l->n_pending == 0 && l->source < 0)
		close_input(l);
}

/* ---- output ---- */

static void keep(struct loop *l, enum dw_stream stream, const char *data, size_t len)
{
	struct dw_buf *buf = &l->out->out[stream];
	long kept = dw_buf_add_upto(buf, data, len);

	if (kept > 0 && l->req->on_output)
		l->req->on_output(l->req->user, stream, data, (size_t)kept);
	if (kept < 0 || (size_t)kept < len) {
		l->out->truncated[stream] = true;
		end_cell(l, DW_CAUSE_OUTPUT);
	}
}

/* Returns false if there is nothing to read now. */
static bool read_output(struct loop *l, enum dw_stream stream)
{
	char chunk[CHUNK];
	int *fd = &l->cell->out[stream];
	ssize_t n = *fd < 0 ? 0 : read(*fd, chunk, sizeof(chunk));

	if (n > 0) {
		keep(l, stream, chunk, (size_t)n);
		return true;
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		dw_fd_close(fd);
	return false;
}

/* The cell has ended; its last output may still be in the pipes. */
static void drain(struct loop *l)
{
	for (int i = 0; i < DW_STREAM_COUNT; i++)
		for (int round = 0; round < DRAIN_ROUNDS && read_output(l, i); round++)
			;
}

/* ---- the loop ---- */

/* The time that was waived since the kill does not count (removal of a container). */
static uint64_t give_up_at(const struct loop *l)
{
	return l->killed + GIVE_UP_MS + (l->cell->waived_ms - l->waived);
}

static int next_due(const struct loop *l)
{
	if (l->killed != 0)
		return dw_ms_until(l->insisted ? give_up_at(l) : l->killed + GRACE_MS);
	return dw_ms_until(l->deadline + l->cell->waived_ms);
}

static void check_due(struct loop *l)
{
	uint64_t now = dw_now_ms();

	if (l->killed == 0 && now >= l->deadline + l->cell->waived_ms) {
		end_cell(l, DW_CAUSE_DEADLINE);
	} else if (l->killed != 0 && !l->insisted && now >= l->killed + GRACE_MS) {
		l->insisted = true;
		l->cell->level->kill(l->cell);
	} else if (l->killed != 0 && now >= give_up_at(l)) {
		l->out->cause = DW_CAUSE_STUCK;
		l->cell->state = DW_CELL_GONE;
	}
}

static void fill_slots(const struct loop *l, struct pollfd *fds)
{
	const struct dw_cell *cell = l->cell;
	bool wants = cell->in >= 0 && cell->state == DW_CELL_RUNNING;

	/* Read input only once the program runs and can receive it. */
	fds[SLOT_IN] = (struct pollfd){wants ? cell->in : -1,
	                               l->n_pending > 0 ? POLLOUT : 0, 0};
	fds[SLOT_SOURCE] = (struct pollfd){wants && l->n_pending == 0 ? l->source : -1,
	                                   POLLIN, 0};
	fds[SLOT_OUT] = (struct pollfd){cell->out[DW_STDOUT], POLLIN, 0};
	fds[SLOT_ERR] = (struct pollfd){cell->out[DW_STDERR], POLLIN, 0};
	fds[SLOT_CANCEL] = (struct pollfd){l->killed ? -1 : l->req->cancel_fd, POLLIN, 0};
	for (size_t i = 0; i < DW_CELL_WATCHES; i++)
		fds[SLOT_WATCH + i] = (struct pollfd){cell->watch[i].fd,
		                                      cell->watch[i].events, 0};
}

/* Called before the loop, too: some cells run already, and send no report for long. */
static void note_start(struct loop *l)
{
	if (l->started == 0 &&
	    (l->cell->state == DW_CELL_RUNNING || l->cell->outcome.walls.known))
		l->started = dw_now_ms();
}

static void serve(struct loop *l, const struct pollfd *fds)
{
	struct dw_cell *cell = l->cell;

	if (fds[SLOT_CANCEL].revents)
		end_cell(l, DW_CAUSE_CANCELLED);
	if (fds[SLOT_SOURCE].revents)
		read_source(l);
	if (fds[SLOT_IN].revents & (POLLERR | POLLHUP))
		close_input(l);
	else if (fds[SLOT_IN].revents & POLLOUT)
		write_input(l);
	if (fds[SLOT_OUT].revents)
		(void)read_output(l, DW_STDOUT);
	if (fds[SLOT_ERR].revents)
		(void)read_output(l, DW_STDERR);
	for (size_t i = 0; i < DW_CELL_WATCHES; i++)
		if (fds[SLOT_WATCH + i].revents && cell->watch[i].fd >= 0)
			cell->level->on_event(cell, i);
	note_start(l);
}

static void start_input(struct loop *l)
{
	l->source = l->req->stdin_fd;
	l->pending = l->req->stdin_data.data;
	l->n_pending = l->source < 0 ? l->req->stdin_data.len : 0;
	if (l->source < 0 && l->n_pending == 0)
		close_input(l);
}

void dw_supervise(struct dw_cell *cell, const struct dw_spec *spec,
                  struct dw_supervised *ret)
{
	struct loop l = {.cell = cell,
	                 .req = spec->req,
	                 .out = ret,
	                 .deadline = spec->deadline_ms};
	struct pollfd fds[SLOTS];

	ret->cause = DW_CAUSE_NONE;
	for (int i = 0; i < DW_STREAM_COUNT; i++) {
		dw_buf_init(&ret->out[i], spec->limits.output_bytes);
		ret->truncated[i] = false;
	}
	start_input(&l);
	note_start(&l);

	while (cell->state != DW_CELL_GONE) {
		fill_slots(&l, fds);
		if (poll(fds, SLOTS, next_due(&l)) > 0)
			serve(&l, fds);
		if (cell->state != DW_CELL_GONE)
			check_due(&l);
	}
	drain(&l);
	ret->run_ms = l.started == 0 ? -1 : (double)(dw_now_ms() - l.started);
}

void dw_supervised_finish(struct dw_supervised *s)
{
	for (int i = 0; i < DW_STREAM_COUNT; i++)
		dw_buf_finish(&s->out[i]);
}
