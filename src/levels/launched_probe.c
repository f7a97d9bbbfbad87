/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <signal.h>

#include "base/id.h"
#include "levels/launched.h"

/*
 * A caller that only probes installs no signal handlers. Block the signals that would end
 * us until the cell is destroyed; otherwise its folder could remain.
 */
static void block_signals(sigset_t *ret_before)
{
	sigset_t ends;

	(void)sigemptyset(&ends);
	(void)sigaddset(&ends, SIGINT);
	(void)sigaddset(&ends, SIGTERM);
	(void)sigaddset(&ends, SIGHUP);
	(void)pthread_sigmask(SIG_BLOCK, &ends, ret_before);
}

static int probe(const struct dw_level *level, struct dw_error *err)
{
	static const struct dw_runtime nothing = {
		.name = "nothing",
		.file = "nothing",
		.executable = true,
		.package = "",
	};
	struct dw_request req;
	struct dw_spec spec = {.req = &req, .runtime = &nothing, .probe = true};
	struct dw_cell *cell = NULL;
	struct pollfd fds[2];
	int r;

	dw_request_init(&req);
	if (dw_id_make(spec.id, err) < 0)
		return -1;
	dw_limits_defaults(&spec.limits, level);
	if (level->create(&spec, &cell, err) < 0)
		return -1;
	r = level->start(cell, err);
	while (r == 0 && cell->state != DW_CELL_GONE) {
		for (size_t i = 0; i < 2; i++)
			fds[i] = (struct pollfd){cell->watch[i].fd, cell->watch[i].events,
			                         0};
		r = poll(fds, 2, 5000);
		if (r <= 0) {
			r = dw_fail(err, DW_E_UNSUPPORTED, r == 0 ? ETIMEDOUT : errno,
			            "cannot build a test cell");
			level->kill(cell);
			break;
		}
		for (size_t i = 0; i < 2; i++)
			if (fds[i].revents)
				level->on_event(cell, i);
		r = 0;
	}
	if (r == 0 && cell->outcome.error.code != DW_OK) {
		*err = cell->outcome.error;
		r = -1;
	}
	level->destroy(cell);
	return r;
}

int dw_launched_probe(const struct dw_level *level, struct dw_error *err)
{
	sigset_t before;
	int r;

	block_signals(&before);
	r = probe(level, err);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r;
}
