/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"

#define MANY 300000 /* more than a pipe holds */

static void write_all_continues_after_a_full_pipe(void **state)
{
	static char data[MANY], back[MANY + 1];
	int ends[2], status;
	pid_t pid;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (char)(i * 7);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(dw_fd_write_all(ends[1], data, sizeof(data)) == 0 ? 0 : 1);
	dw_fd_close(&ends[1]);

	assert_int_equal(dw_fd_read_some(ends[0], back, sizeof(back)), MANY);
	assert_memory_equal(back, data, MANY);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	dw_fd_close(&ends[0]);
}

static void errors_are_returned_as_negative_errno(void **state)
{
	char data[4];

	(void)state;
	assert_int_equal(dw_fd_write_all(-1, "x", 1), -EBADF);
	assert_int_equal(dw_fd_read_some(-1, data, sizeof(data)), -EBADF);
	assert_int_equal(dw_fd_nonblock(-1), -EBADF);
	assert_int_equal(dw_fd_read_attr(AT_FDCWD, "/proc/no-such", data, sizeof(data)),
	                 -ENOENT);
}

static void read_some_stops_at_max(void **state)
{
	int ends[2];
	char data[3];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(dw_fd_write_all(ends[1], "abcdef", 6), 0);
	assert_int_equal(dw_fd_read_some(ends[0], data, 3), 3);
	assert_memory_equal(data, "abc", 3);
	dw_fd_close(&ends[0]);
	dw_fd_close(&ends[1]);
}

static void a_pipe_without_a_reader_sends_no_signal(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	dw_fd_close(&ends[0]);
	/* SIGPIPE has its default action here: it would end the test. */
	assert_int_equal(dw_fd_write_quietly(ends[1], "x", 1), -EPIPE);
	dw_fd_close(&ends[1]);
}

static void reads_of_a_nonblocking_descriptor_return(void **state)
{
	int ends[2];
	char c;

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(dw_fd_nonblock(ends[0]), 0);
	assert_int_equal(dw_fd_read_some(ends[0], &c, 1), -EAGAIN);
	dw_fd_close(&ends[0]);
	dw_fd_close(&ends[1]);
}

static void read_attr_returns_the_text_without_newline(void **state)
{
	char text[64], small[2];

	(void)state;
	assert_int_equal(dw_fd_read_attr(AT_FDCWD, "/proc/sys/kernel/ostype", text,
	                                 sizeof(text)),
	                 5);
	assert_string_equal(text, "Linux");
	assert_int_equal(dw_fd_read_attr(AT_FDCWD, "/proc/sys/kernel/ostype", small,
	                                 sizeof(small)),
	                 -E2BIG);
}

static void read_attr_does_not_follow_a_link(void **state)
{
	char text[64];

	(void)state;
	assert_int_equal(dw_fd_read_attr(AT_FDCWD, "/proc/mounts", text, sizeof(text)),
	                 -ELOOP);
}

static void close_sets_the_descriptor_to_minus_one(void **state)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), was = fd;

	(void)state;
	dw_fd_close(&fd);
	assert_int_equal(fd, -1);
	assert_int_equal(fcntl(was, F_GETFD), -1);
	dw_fd_close(&fd);
	assert_int_equal(fd, -1);
}

/* ---- many descriptors at once ---- */

#define FIRST 20
#define COUNT 300 /* more than one getdents() of /proc/self/fd returns */

/* Makes close_range() with these flags fail, as on a kernel that lacks it. */
static void take_away(int eno, uint32_t flags)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
	                 offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, flags, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)eno),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = {ARRAY_SIZE(insns), insns};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		_exit(10);
}

/* Returns 0 if F_GETFD is want from FIRST on, and the descriptor below is unchanged. */
static int look(int want)
{
	for (int fd = FIRST; fd < FIRST + COUNT; fd++)
		if (fcntl(fd, F_GETFD) != want)
			return 1;
	return fcntl(FIRST - 1, F_GETFD) == 0 ? 0 : 2;
}

static int in_child(int eno, uint32_t flags, int (*let_go)(int), int want)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		for (int fd = FIRST - 1; fd < FIRST + COUNT; fd++)
			if (dup2(0, fd) < 0)
				_exit(11);
		if (eno != 0)
			take_away(eno, flags);
		if (eno != 0 &&
		    (close_range(FIRST, ~0U, (int)flags) == 0 || errno != eno))
			_exit(12); /* close_range() still works: the test would prove nothing */
		_exit(let_go(FIRST) < 0 ? 13 : look(want));
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void all_are_closed_with_and_without_close_range(void **state)
{
	(void)state;
	assert_int_equal(in_child(0, 0, dw_fd_close_from, -1), 0);
	assert_int_equal(in_child(ENOSYS, 0, dw_fd_close_from, -1), 0);
}

static void all_are_cloexec_with_and_without_close_range(void **state)
{
	(void)state;
	assert_int_equal(in_child(0, 0, dw_fd_cloexec_from, FD_CLOEXEC), 0);
	assert_int_equal(in_child(ENOSYS, CLOSE_RANGE_CLOEXEC, dw_fd_cloexec_from,
	                          FD_CLOEXEC),
	                 0);
	assert_int_equal(in_child(EINVAL, CLOSE_RANGE_CLOEXEC, dw_fd_cloexec_from,
	                          FD_CLOEXEC),
	                 0);
}

static void another_error_of_close_range_is_returned(void **state)
{
	(void)state;
	/* EPERM does not mean that the call is missing, so there is no fallback. */
	assert_int_equal(in_child(EPERM, 0, dw_fd_close_from, -1), 13);
}

static void a_signalled_eventfd_is_readable_once(void **state)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	uint64_t n = 0;

	(void)state;
	assert_true(fd >= 0);
	errno = EDOM;
	dw_fd_signal(fd);
	dw_fd_signal(fd);
	dw_fd_signal(-1);
	assert_int_equal(errno, EDOM);
	assert_int_equal(read(fd, &n, sizeof(n)), sizeof(n));
	assert_int_equal(n, 2);
	assert_int_equal(read(fd, &n, sizeof(n)), -1);
	dw_fd_close(&fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write_all_continues_after_a_full_pipe),
		cmocka_unit_test(errors_are_returned_as_negative_errno),
		cmocka_unit_test(read_some_stops_at_max),
		cmocka_unit_test(a_pipe_without_a_reader_sends_no_signal),
		cmocka_unit_test(reads_of_a_nonblocking_descriptor_return),
		cmocka_unit_test(read_attr_returns_the_text_without_newline),
		cmocka_unit_test(read_attr_does_not_follow_a_link),
		cmocka_unit_test(close_sets_the_descriptor_to_minus_one),
		cmocka_unit_test(a_signalled_eventfd_is_readable_once),
		cmocka_unit_test(all_are_closed_with_and_without_close_range),
		cmocka_unit_test(all_are_cloexec_with_and_without_close_range),
		cmocka_unit_test(another_error_of_close_range_is_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
