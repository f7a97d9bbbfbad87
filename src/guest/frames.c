/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "guest/guest_own.h"

static char chunk[DW_GUEST_PAYLOAD_MAX];

_Noreturn void dw_guest_end(void)
{
	if (getpid() == 1)
		(void)kill(-1, SIGKILL);
	_exit(0);
}

uint64_t dw_guest_give_up_ns = UINT64_MAX;

static void write_all(const char *data, size_t len)
{
	struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};
	ssize_t n;

	while (len > 0) {
		n = write(STDOUT_FILENO, data, len);
		if (n < 0 && errno == EAGAIN && dw_now_ns() < dw_guest_give_up_ns)
			(void)poll(&fd, 1, 1000);
		else if (n < 0 && errno != EINTR)
			dw_guest_end();
		if (n > 0) {
			data += n;
			len -= (size_t)n;
		}
	}
}

void dw_guest_send(enum dw_guest_kind kind, const void *data, size_t len)
{
	struct dw_guest_frame frame = {.kind = kind, .len = (uint32_t)len};

	write_all((const char *)&frame, sizeof(frame));
	write_all(data, len);
}

void dw_guest_read(void *data, size_t len)
{
	if (dw_fd_read_some(STDIN_FILENO, data, len) != (ssize_t)len)
		dw_guest_end();
}

void dw_guest_report(enum dw_guest_kind kind, const struct dw_report *report)
{
	dw_guest_send(kind, report, sizeof(*report));
}

/*
 * Until its exec the program's process shares our memory but not our stream, so it leaves
 * its error here.
 */
struct dw_error dw_guest_failure;

_Noreturn void dw_init_die(const struct dw_error *err)
{
	struct dw_report report = {.kind = DW_REPORT_ERROR, .error = *err};

	if (getpid() != 1) {
		dw_guest_failure = *err;
		_exit(125);
	}
	dw_guest_report(DW_GUEST_ERROR, &report);
	/* dewar-docker closes the stream once it has read the error. */
	while (read(STDIN_FILENO, chunk, sizeof(chunk)) > 0)
		;
	dw_guest_end();
}
