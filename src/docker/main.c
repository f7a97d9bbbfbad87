/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar-docker: the Engine API client, one process for each container.
 *
 * Theory of operation
 *
 *	dewar ── spawns ──> dewar-docker ── HTTP over a unix socket ──> the engine
 *	  │ pipes, a socket     │ one stream                              │ makes
 *	  └─────────────────────┴──────────────> dewar-guest, pid 1 ──> the program
 *
 * It is a separate program for three reasons. Dewar is linked statically, so that it
 * starts fast, but libcurl needs two dozen libraries that Debian has only as shared
 * ones. An engine that hangs or sends malformed replies cannot harm a daemon that serves
 * others. And if dewar is killed, this process sees the socket close and removes the
 * container.
 *
 * It gets an order (wire/docker.h); for a standby container, it gets a second one later.
 * It exits when the container is gone.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "docker/docker_own.h"

static int serve(struct dw_docker_order *o, struct dw_error *err)
{
	struct dw_docker_report found = {.kind = DW_DOCKER_FOUND};
	struct dw_engine e = {.deadline_ms = o->deadline_ms};
	int r = dw_engine_find(&e, o->sockets, DW_DOCKER_FD, err);

	if (r == 0) {
		(void)snprintf(found.text, sizeof(found.text), "%s, API %s, at %s",
		               e.name, e.prefix + 2, e.socket);
		dw_docker_report(&found);
	}
	if (r == 0 && !o->probe) {
		dw_sweep(&e);
		r = dw_docker_run(&e, o, err);
	}
	dw_engine_close(&e);
	return r;
}

int main(void)
{
	struct dw_docker_report report = {.kind = DW_DOCKER_ERROR};
	int fds[DW_REPORT_FDS_MAX] = {-1, -1}, n;
	struct dw_docker_order order = {0};
	struct dw_error err = {0};

	(void)signal(SIGPIPE, SIG_IGN);
	/* Our own session: a signal to dewar's process group must not end the clean-up. */
	(void)setsid();
	n = dw_report_receive_fds(DW_DOCKER_FD, fds);
	if (n <= 0)
		return 125;
	if (dw_docker_order_read(&order, fds[0], fds[1], &err) < 0 ||
	    serve(&order, &err) < 0) {
		/* If an error was reported before, dewar keeps the first. */
		report.error = err;
		dw_docker_report(&report);
	}
	json_decref(order.root);
	return 0;
}
