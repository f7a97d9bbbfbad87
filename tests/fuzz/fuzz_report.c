/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input: the number of descriptors, then a packet of dewar-launch. An accepted packet is
 * safe to read, and no descriptor leaks.
 */
#undef NDEBUG
#include "wire/report.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"

static void send_packet(int sock, const void *data, size_t size, size_t n_fds)
{
	char control[CMSG_SPACE(sizeof(int) * 16)] __attribute__((aligned(8))) = {0};
	struct iovec iov = {(void *)data, size};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *cmsg;

	if (n_fds > 0) {
		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
		cmsg = CMSG_FIRSTHDR(&msg);
		*cmsg = (struct cmsghdr){CMSG_LEN(sizeof(int) * n_fds), SOL_SOCKET,
		                         SCM_RIGHTS};
		for (size_t i = 0; i < n_fds; i++)
			memcpy(CMSG_DATA(cmsg) + i * sizeof(int), &sock, sizeof(int));
	}
	assert(sendmsg(sock, &msg, 0) == (ssize_t)size);
}

static void check_report(const struct dw_report *report)
{
	uint8_t known;

	assert(report->kind >= DW_REPORT_HANDED && report->kind <= DW_REPORT_ERROR);
	if (report->kind == DW_REPORT_ERROR)
		fuzz_check_refusal(&report->error);
	memcpy(&known, &report->walls.known, 1);
	assert(report->kind != DW_REPORT_WALLS || known <= 1);
}

/* Returns the lowest free descriptor: a leaked one would change it. */
static int lowest_free(void)
{
	int fd = dup(STDERR_FILENO);

	assert(fd >= 0 && close(fd) == 0);
	return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	size_t n_fds = fuzz_byte(&in) % 12;
	int pair[2], fd = 42, before, r;
	struct dw_report report;

	if (in.size > 2 * sizeof(report))
		return 0;
	assert(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	before = lowest_free();
	send_packet(pair[0], in.data, in.size, n_fds);
	r = dw_report_receive(pair[1], &report, &fd);
	if (r == 1) {
		assert(in.size == sizeof(report) && n_fds <= 1 && (fd >= 0) == n_fds);
		check_report(&report);
	} else {
		assert(fd == -1 && r == (in.size == 0 ? 0 : -EPROTO));
	}
	if (fd >= 0)
		(void)close(fd);
	assert(lowest_free() == before);
	(void)close(pair[0]);
	(void)close(pair[1]);
	return 0;
}
