/* SPDX-License-Identifier: Apache-2.0 */
#include "warm/warm_own.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "wire/enter.h"
#include "wire/report.h"

#define BUILD_MS 10000U
#define START_MS 30000U

static struct dw_launched *launched(struct dw_cell *cell)
{
	return (struct dw_launched *)cell;
}

/* Process pending events once. Returns true if fd, which may be -1, is readable. */
static bool serve(struct dw_cell *cell, int fd, int timeout_ms)
{
	struct pollfd fds[DW_CELL_WATCHES + 1];

	for (size_t i = 0; i < DW_CELL_WATCHES; i++)
		fds[i] = (struct pollfd){cell->watch[i].fd, cell->watch[i].events, 0};
	fds[DW_CELL_WATCHES] = (struct pollfd){fd, POLLIN, 0};
	if (poll(fds, DW_CELL_WATCHES + 1, timeout_ms) <= 0)
		return false;
	for (size_t i = 0; i < DW_CELL_WATCHES; i++)
		if (fds[i].revents && cell->watch[i].fd >= 0)
			cell->level->on_event(cell, i);
	return fds[DW_CELL_WATCHES].revents != 0;
}

void dw_warm_serve(struct dw_cell *cell)
{
	(void)serve(cell, -1, 0);
}

int dw_warm_wait(struct dw_cell *cell, int fd, uint64_t deadline_ms)
{
	while (cell->state != DW_CELL_GONE) {
		if (serve(cell, fd, dw_ms_until(deadline_ms)))
			return 0;
		if (dw_now_ms() >= deadline_ms)
			break;
	}
	return -ETIMEDOUT;
}

static int explain(struct dw_cell *cell, const char *what, struct dw_error *err)
{
	if (cell->outcome.error.code != DW_OK) {
		*err = cell->outcome.error;
		return -1;
	}
	return dw_fail(err, DW_E_INTERNAL, 0, "%s: %s", what,
	               cell->state == DW_CELL_GONE ? "the cell has ended" : "timed out");
}

/* Wait until a report sets *flag. */
static int wait_for(struct dw_cell *cell, const bool *flag, const char *what,
                    struct dw_error *err)
{
	uint64_t deadline = dw_now_ms() + BUILD_MS;

	while (!*flag) {
		if (cell->state == DW_CELL_GONE || dw_now_ms() >= deadline)
			return explain(cell, what, err);
		(void)serve(cell, -1, dw_ms_until(deadline));
	}
	return 0;
}

/* Wait for the program's READY, or its failure. */
static int wait_ready(struct dw_launched *l, uint64_t ms, int *ret_pid,
                      struct dw_error *err)
{
	struct dw_ready ready = {0};

	if (dw_warm_wait(&l->cell, l->job[0], dw_now_ms() + ms) < 0)
		return explain(&l->cell, "cannot start the program", err);
	if (recv(l->job[0], &ready, sizeof(ready), MSG_DONTWAIT) != sizeof(ready) ||
	    ready.magic != DW_ENTER_MAGIC)
		return dw_fail(err, DW_E_INTERNAL, 0,
		               "the program in a warm cell ended before it was ready");
	ready.failed[sizeof(ready.failed) - 1] = '\0';
	if (ready.failed[0])
		return dw_fail(err, DW_E_INTERNAL, ready.eno, "cannot %s in a warm cell",
		               ready.failed);
	*ret_pid = ready.pid;
	return 0;
}

static int tell_init(struct dw_launched *l, const struct dw_init_message *m,
                     struct dw_error *err)
{
	if (send(l->report, m, sizeof(*m), MSG_NOSIGNAL) != sizeof(*m))
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot write to the cell's init");
	return 0;
}

static int create(const struct dw_spec *spec, struct dw_cell **ret, struct dw_error *err)
{
	const struct dw_level *level = dw_warm_level();

	if (level->create(spec, ret, err) < 0)
		return -1;
	launched(*ret)->early = true;
	if (level->start(*ret, err) < 0) {
		level->destroy(*ret);
		return -1;
	}
	return 0;
}

int dw_warm_build(const struct dw_spec *spec, struct dw_cell **ret, struct dw_error *err)
{
	struct dw_cell *cell = NULL;

	if (create(spec, &cell, err) < 0)
		return -1;
	if (wait_for(cell, &launched(cell)->empty, "cannot build an empty cell", err) <
	            0 ||
	    wait_for(cell, &launched(cell)->greeted, "cannot build an empty cell", err) <
	            0) {
		cell->level->destroy(cell);
		return -1;
	}
	*ret = cell;
	return 0;
}

int dw_warm_enter(struct dw_cell *cell, struct dw_error *err)
{
	struct dw_init_message m = {.kind = DW_INIT_READY};
	struct dw_launched *l = launched(cell);

	/* The program has its own copies of these descriptors. */
	for (int i = 0; i < 3; i++)
		dw_fd_close(&l->child[i]);
	dw_fd_close(&l->job[1]);
	dw_fd_close(&l->ruleset);
	if (wait_ready(l, BUILD_MS, &m.pid, err) < 0 || tell_init(l, &m, err) < 0)
		return -1;
	return wait_for(cell, &cell->outcome.walls.known, "cannot read back the walls",
	                err);
}

int dw_warm_start(const struct dw_spec *spec, struct dw_cell **ret, struct dw_error *err)
{
	const struct dw_init_message m = {.kind = DW_INIT_READY};
	struct dw_cell *cell = NULL;
	int pid;

	if (create(spec, &cell, err) < 0)
		return -1;
	if (wait_for(cell, &cell->outcome.walls.known, "cannot read back the walls",
	             err) < 0 ||
	    wait_ready(launched(cell), START_MS, &pid, err) < 0 ||
	    tell_init(launched(cell), &m, err) < 0) {
		cell->level->destroy(cell);
		return -1;
	}
	*ret = cell;
	return 0;
}

int dw_warm_go(struct dw_cell *cell, const struct dw_spec *spec, struct dw_error *err)
{
	struct dw_launched *l = launched(cell);
	struct dw_init_message m = {
		.kind = DW_INIT_GO,
		.at_ns = dw_now_ns(),
		.deadline_ms = dw_limits_deadline(&spec->limits),
	};

	l->spec = spec;
	dw_limits_adopt(l);
	dw_limits_begin(l);
	cell->outcome.started = true;
	/* The program gets its job first, since the run waits for it and not for init. */
	if (dw_job_send(l->job[0], spec, err) < 0)
		return -1;
	return tell_init(l, &m, err);
}

void dw_warm_forget(struct dw_cell *cell)
{
	launched(cell)->spec = NULL;
}
