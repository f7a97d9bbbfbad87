/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "wire/report.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/fd.h"

/* Each test has both ends of a socket, and must leave no descriptor open. */
struct fixture {
	int ours, theirs;
	int before;
};

static int count_fds(void)
{
	autodir DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir) != NULL)
		n++;
	return n;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int pair[2];

	if (!f)
		return -1;
	f->before = count_fds();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	f->ours = pair[0];
	f->theirs = pair[1];
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	int left;

	dw_fd_close(&f->ours);
	dw_fd_close(&f->theirs);
	left = count_fds() - f->before;
	free(f);
	if (left != 0)
		print_error("%d descriptors were left open\n", left);
	return left == 0 ? 0 : -1;
}

static bool same_file(int a, int b)
{
	struct stat sa, sb;

	return fstat(a, &sa) == 0 && fstat(b, &sb) == 0 && sa.st_ino == sb.st_ino &&
	       sa.st_dev == sb.st_dev;
}

/* Sends any bytes and descriptors, also those that dw_report_send() never sends. */
static void send_raw(int sock, const void *data, size_t len, const int *fds, size_t n_fds)
{
	char control[CMSG_SPACE(sizeof(int) * 32)] __attribute__((aligned(8))) = {0};
	struct iovec iov = {.iov_base = (void *)data, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (n_fds > 0) {
		struct cmsghdr *cmsg;

		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(cmsg), fds, sizeof(int) * n_fds);
	}
	assert_int_equal(sendmsg(sock, &msg, MSG_NOSIGNAL), (int)len);
}

static void a_report_arrives_as_it_was_sent(void **state)
{
	const struct fixture *f = *state;
	struct dw_report sent = {.kind = DW_REPORT_END, .pid = -7}, got;
	int fd = 99;

	sent.end = (struct dw_report_end){
		.wait_status = 0x89,
		.hit = DW_REASON_OOM,
		.run_ns = UINT64_MAX,
		.peak_memory = 1ULL << 40,
		.tmp_full = 1,
	};
	assert_int_equal(dw_report_send(f->theirs, &sent, -1), 0);
	memset(&got, 0xaa, sizeof(got));
	assert_int_equal(dw_report_receive(f->ours, &got, &fd), 1);
	assert_memory_equal(&got, &sent, sizeof(got));
	assert_int_equal(fd, -1);
}

static void a_received_descriptor_is_close_on_exec(void **state)
{
	const struct fixture *f = *state;
	autoclose int file = -1, got_fd = -1;
	struct dw_report sent = {.kind = DW_REPORT_TMP}, got;

	file = open("/tmp", O_RDONLY | O_DIRECTORY); /* on purpose not close-on-exec */
	assert_true(file >= 0);
	assert_int_equal(dw_report_send(f->theirs, &sent, file), 0);
	assert_int_equal(dw_report_receive(f->ours, &got, &got_fd), 1);
	assert_int_equal(got.kind, DW_REPORT_TMP);
	assert_true(got_fd >= 0 && got_fd != file);
	assert_true(same_file(file, got_fd));
	assert_int_equal(fcntl(got_fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

static void descriptor_zero_can_be_sent(void **state)
{
	const struct fixture *f = *state;
	autoclose int got_fd = -1;
	struct dw_report sent = {.kind = DW_REPORT_TMP}, got;

	assert_int_equal(dw_report_send(f->theirs, &sent, 0), 0);
	assert_int_equal(dw_report_receive(f->ours, &got, &got_fd), 1);
	assert_true(got_fd > 0);
	assert_true(same_file(0, got_fd));
}

static void reports_arrive_in_order_with_their_descriptors(void **state)
{
	const struct fixture *f = *state;
	autoclose int a = open("/", O_RDONLY | O_CLOEXEC);
	autoclose int b = open("/proc", O_RDONLY | O_CLOEXEC);
	const int with[] = {a, -1, b, -1};
	struct dw_report r;

	for (uint32_t i = 0; i < 4; i++) {
		r = (struct dw_report){.kind = DW_REPORT_HELLO + i, .pid = (int32_t)i};
		assert_int_equal(dw_report_send(f->theirs, &r, with[i]), 0);
	}
	for (uint32_t i = 0; i < 4; i++) {
		autoclose int fd = -1;

		assert_int_equal(dw_report_receive(f->ours, &r, &fd), 1);
		assert_int_equal(r.kind, DW_REPORT_HELLO + i);
		assert_int_equal(r.pid, i);
		assert_true(with[i] < 0 ? fd == -1 : same_file(fd, with[i]));
	}
}

static void receiving_does_not_block(void **state)
{
	const struct fixture *f = *state;
	struct dw_report r;
	int fd = 99;

	assert_int_equal(dw_report_receive(f->ours, &r, &fd), -EAGAIN);
	assert_int_equal(fd, -1);
}

static void end_of_file_follows_the_reports_sent_before(void **state)
{
	struct fixture *f = *state;
	struct dw_report r = {.kind = DW_REPORT_END};
	int fd;

	assert_int_equal(dw_report_send(f->theirs, &r, -1), 0);
	dw_fd_close(&f->theirs);
	assert_int_equal(dw_report_receive(f->ours, &r, &fd), 1);
	fd = 99;
	assert_int_equal(dw_report_receive(f->ours, &r, &fd), 0);
	assert_int_equal(fd, -1);
	assert_int_equal(dw_report_receive(f->ours, &r, &fd), 0);
}

static void sending_to_a_closed_socket_is_an_error_without_a_signal(void **state)
{
	struct fixture *f = *state;
	struct dw_report r = {.kind = DW_REPORT_END};
	int zero = 0;

	dw_fd_close(&f->ours);
	assert_int_equal(dw_report_send(f->theirs, &r, -1), -EPIPE);
	assert_int_equal(dw_report_send_fds(f->theirs, &zero, 1), -EPIPE);
}

static void sending_an_invalid_descriptor_is_an_error(void **state)
{
	const struct fixture *f = *state;
	struct dw_report r = {.kind = DW_REPORT_END};
	int fd;

	assert_int_equal(dw_report_send(f->theirs, &r, 12345), -EBADF);
	assert_int_equal(dw_report_receive(f->ours, &r, &fd), -EAGAIN);
}

/* Packets that are shorter than a report. */
static void a_short_packet_is_refused(void **state)
{
	const struct fixture *f = *state;
	static const size_t lens[] = {1, 4, 8, sizeof(struct dw_report) - 1};
	struct dw_report r = {.kind = DW_REPORT_HELLO}, got;
	int fd;

	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		send_raw(f->theirs, &r, lens[i], NULL, 0);
		fd = 99;
		assert_int_equal(dw_report_receive(f->ours, &got, &fd), -EPROTO);
		assert_int_equal(fd, -1);
	}
	/* The next report is received as usual. */
	assert_int_equal(dw_report_send(f->theirs, &r, -1), 0);
	assert_int_equal(dw_report_receive(f->ours, &got, &fd), 1);
}

static void a_long_packet_is_refused(void **state)
{
	const struct fixture *f = *state;
	char data[sizeof(struct dw_report) + 1] = {DW_REPORT_HELLO};
	struct dw_report got;
	int fd = 99;

	send_raw(f->theirs, data, sizeof(data), NULL, 0);
	assert_int_equal(dw_report_receive(f->ours, &got, &fd), -EPROTO);
	assert_int_equal(fd, -1);
}

static void an_invalid_packet_leaks_no_descriptor(void **state)
{
	const struct fixture *f = *state;
	static const int many[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
	struct dw_report r = {.kind = DW_REPORT_HELLO}, got;
	int before = count_fds(), fd;

	send_raw(f->theirs, &r, 1, many, 1);
	assert_int_equal(dw_report_receive(f->ours, &got, &fd), -EPROTO);
	assert_int_equal(count_fds(), before);

	send_raw(f->theirs, &r, 5, many, DW_REPORT_FDS_MAX);
	assert_int_equal(dw_report_receive(f->ours, &got, &fd), -EPROTO);
	assert_int_equal(count_fds(), before);

	/* A whole report, but with more than one descriptor. */
	for (size_t n = 2; n <= ARRAY_SIZE(many); n++) {
		send_raw(f->theirs, &r, sizeof(r), many, n);
		fd = 99;
		assert_int_equal(dw_report_receive(f->ours, &got, &fd), -EPROTO);
		assert_int_equal(fd, -1);
		assert_int_equal(count_fds(), before);
	}

	/* An empty packet with a descriptor looks like end of file. */
	send_raw(f->theirs, "", 0, many, 1);
	assert_int_equal(dw_report_receive(f->ours, &got, &fd), 0);
	assert_int_equal(count_fds(), before);
}

/* The receiver uses the code as an index, the flag as a bool and the text as a string. */
static void invalid_values_in_a_whole_packet_are_refused(void **state)
{
	const struct fixture *f = *state;
	struct dw_report good = {.kind = DW_REPORT_ERROR}, bad[7], got;
	int fd;

	(void)dw_fail(&good.error, DW_E_BUSY, 0, "too many cells");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		bad[i] = good;
	bad[0].kind = 0;
	bad[1].kind = DW_REPORT_ERROR + 1;
	bad[2].error.code = DW_OK;
	bad[3].error.code = DW_E_COUNT;
	memset(bad[4].error.text, 'x', sizeof(bad[4].error.text));
	bad[5].error.text[3] = '\n';
	bad[6].kind = DW_REPORT_WALLS;
	memset(&bad[6].walls.known, 2, 1);

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		send_raw(f->theirs, &bad[i], sizeof(bad[i]), &f->ours, 1);
		assert_int_equal(dw_report_receive(f->ours, &got, &fd), -EPROTO);
		assert_int_equal(fd, -1);
	}
	assert_int_equal(dw_report_send(f->theirs, &good, -1), 0);
	assert_int_equal(dw_report_receive(f->ours, &got, &fd), 1);
}

static void closing_the_socket_closes_the_descriptors_of_unread_reports(void **state)
{
	struct fixture *f = *state;
	struct dw_report r = {.kind = DW_REPORT_HELLO};
	int before = count_fds();

	for (int i = 0; i < 5; i++)
		assert_int_equal(dw_report_send(f->theirs, &r, 0), 0);
	assert_int_equal(count_fds(), before);
}

/* ---- descriptors alone ---- */

static void many_descriptors_are_received_in_order(void **state)
{
	const struct fixture *f = *state;
	static const char *const files[DW_REPORT_FDS_MAX] = {
		"/",    "/proc", "/dev",      "/tmp",      "/usr",
		"/etc", "/sys",  "/dev/null", "/dev/zero", "/dev/full",
	};
	int fds[DW_REPORT_FDS_MAX], got[DW_REPORT_FDS_MAX];

	for (int i = 0; i < DW_REPORT_FDS_MAX; i++) {
		fds[i] = open(files[i], O_RDONLY | O_CLOEXEC);
		assert_true(fds[i] >= 0);
	}
	for (int n = 1; n <= DW_REPORT_FDS_MAX; n++) {
		assert_int_equal(dw_report_send_fds(f->ours, fds, n), 0);
		assert_int_equal(dw_report_receive_fds(f->theirs, got), n);
		for (int i = 0; i < n; i++) {
			assert_true(same_file(fds[i], got[i]));
			assert_int_equal(fcntl(got[i], F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
			(void)close(got[i]);
		}
	}
	for (int i = 0; i < DW_REPORT_FDS_MAX; i++)
		(void)close(fds[i]);
}

static void descriptors_above_the_maximum_are_dropped_and_not_leaked(void **state)
{
	const struct fixture *f = *state;
	static const int many[DW_REPORT_FDS_MAX + 4] = {0};
	int got[DW_REPORT_FDS_MAX], before = count_fds(), n;

	send_raw(f->ours, "p", 1, many, ARRAY_SIZE(many));
	n = dw_report_receive_fds(f->theirs, got);
	assert_true(n <= DW_REPORT_FDS_MAX);
	for (int i = 0; i < n; i++)
		(void)close(got[i]);
	assert_int_equal(count_fds(), before);
}

static void no_descriptors_and_end_of_file_both_return_zero(void **state)
{
	struct fixture *f = *state;
	int got[DW_REPORT_FDS_MAX];

	assert_int_equal(dw_report_send_fds(f->ours, NULL, 0), 0);
	assert_int_equal(dw_report_receive_fds(f->theirs, got), 0);
	dw_fd_close(&f->ours);
	assert_int_equal(dw_report_receive_fds(f->theirs, got), 0);
	assert_int_equal(dw_report_receive_fds(-1, got), -EBADF);
}

/* ---- payloads in memfds ---- */

static void a_sealed_payload_cannot_change(void **state)
{
	const struct iovec parts[] = {{(void *)"one ", 4}, {(void *)"two", 3}};
	struct dw_error err = {0};
	autoclose int fd = dw_report_seal("test", parts, ARRAY_SIZE(parts), &err);
	size_t len = 0;
	char *map;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GET_SEALS), DW_REPORT_SEALS);
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	assert_int_equal(errno, EPERM);
	assert_int_equal(ftruncate(fd, 1), -1);
	assert_int_equal(ftruncate(fd, 100), -1);
	map = dw_report_map(fd, &len);
	assert_non_null(map);
	assert_int_equal(len, 7);
	assert_memory_equal(map, "one two", 7);
	(void)munmap(map, len);
}

static void a_payload_without_every_seal_is_not_mapped(void **state)
{
	static const int missing[] = {DW_REPORT_SEALS, F_SEAL_SEAL, F_SEAL_SHRINK,
	                              F_SEAL_GROW, F_SEAL_WRITE};
	size_t len;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(missing); i++) {
		autoclose int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

		assert_int_equal(write(fd, "x", 1), 1);
		assert_int_equal(fcntl(fd, F_ADD_SEALS, DW_REPORT_SEALS & ~missing[i]),
		                 0);
		assert_null(dw_report_map(fd, &len));
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_report_arrives_as_it_was_sent),
		TEST(a_received_descriptor_is_close_on_exec),
		TEST(descriptor_zero_can_be_sent),
		TEST(reports_arrive_in_order_with_their_descriptors),
		TEST(receiving_does_not_block),
		TEST(end_of_file_follows_the_reports_sent_before),
		TEST(sending_to_a_closed_socket_is_an_error_without_a_signal),
		TEST(sending_an_invalid_descriptor_is_an_error),
		TEST(a_short_packet_is_refused),
		TEST(a_long_packet_is_refused),
		TEST(an_invalid_packet_leaks_no_descriptor),
		TEST(invalid_values_in_a_whole_packet_are_refused),
		TEST(closing_the_socket_closes_the_descriptors_of_unread_reports),
		TEST(many_descriptors_are_received_in_order),
		TEST(descriptors_above_the_maximum_are_dropped_and_not_leaked),
		TEST(no_descriptors_and_end_of_file_both_return_zero),
		TEST(a_sealed_payload_cannot_change),
		TEST(a_payload_without_every_seal_is_not_mapped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
