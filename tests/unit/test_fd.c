/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"

#define MANY 300000 /* more than a pipe holds */

static void write_all_goes_on_where_a_pipe_is_full(void **state)
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

static void errors_come_back_as_negative_errno(void **state)
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

static void nonblock_makes_reads_return(void **state)
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

static void read_attr_gives_the_text_without_newline(void **state)
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

static void close_forgets_the_descriptor(void **state)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), was = fd;

	(void)state;
	dw_fd_close(&fd);
	assert_int_equal(fd, -1);
	assert_int_equal(fcntl(was, F_GETFD), -1);
	dw_fd_close(&fd);
	assert_int_equal(fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write_all_goes_on_where_a_pipe_is_full),
		cmocka_unit_test(errors_come_back_as_negative_errno),
		cmocka_unit_test(read_some_stops_at_max),
		cmocka_unit_test(a_pipe_without_a_reader_sends_no_signal),
		cmocka_unit_test(nonblock_makes_reads_return),
		cmocka_unit_test(read_attr_gives_the_text_without_newline),
		cmocka_unit_test(read_attr_does_not_follow_a_link),
		cmocka_unit_test(close_forgets_the_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
