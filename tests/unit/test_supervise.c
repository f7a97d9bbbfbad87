/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "run/run_own.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "fakes/fake_level.h"

#define CAP 10000U
#define SOON 8000U /* ms: the limit for "at once", on a busy machine */

/* A run in a fake cell: its request, and what the supervisor saw. */
struct run {
	struct fake_script script;
	struct dw_request req;
	struct dw_spec spec;
	uint64_t timeout_ms;
	int bell; /* an eventfd that tell() writes to, or 0 */

	struct dw_supervised seen;
	struct dw_outcome outcome;
	uint64_t took_ms;
	int kills;
	struct dw_buf told[DW_STREAM_COUNT]; /* what on_output received */
};

static void tell(void *user, enum dw_stream stream, const void *data, size_t len)
{
	struct run *r = user;

	assert_true(len > 0);
	assert_int_equal(dw_buf_add(&r->told[stream], data, len), 0);
	if (r->bell > 0)
		assert_int_equal(eventfd_write(r->bell, 1), 0);
}

static int setup(void **state)
{
	struct run *r = calloc(1, sizeof(*r));

	if (!r)
		return -1;
	dw_request_init(&r->req);
	r->req.on_output = tell;
	r->req.user = r;
	r->spec.req = &r->req;
	r->spec.limits.output_bytes = CAP;
	r->timeout_ms = 20000;
	for (int i = 0; i < DW_STREAM_COUNT; i++)
		dw_buf_init(&r->told[i], 1U << 24);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct run *r = *state;

	dw_supervised_finish(&r->seen);
	for (int i = 0; i < DW_STREAM_COUNT; i++)
		dw_buf_finish(&r->told[i]);
	free(r);
	return 0;
}

static void run(struct run *r, int (*program)(const void *))
{
	struct dw_cell *cell = NULL;
	struct dw_error err = {0};
	uint64_t start;

	r->script.program = program;
	fake_script = &r->script;
	assert_int_equal(fake_level.create(&r->spec, &cell, &err), 0);
	assert_int_equal(fake_level.start(cell, &err), 0);
	start = dw_now_ms();
	r->spec.deadline_ms = start + r->timeout_ms;
	dw_supervise(cell, &r->spec, &r->seen);
	r->took_ms = dw_now_ms() - start;
	r->outcome = cell->outcome;
	r->kills = fake_kills(cell);
	assert_int_equal(cell->state, DW_CELL_GONE);
	fake_level.destroy(cell);

	/* on_output received exactly the output that was kept. */
	for (int i = 0; r->req.on_output && i < DW_STREAM_COUNT; i++) {
		assert_int_equal(r->told[i].len, r->seen.out[i].len);
		if (r->told[i].len > 0)
			assert_memory_equal(r->told[i].data, r->seen.out[i].data,
			                    r->told[i].len);
		assert_true(r->seen.out[i].len <= r->spec.limits.output_bytes);
	}
}

static void ended_by_itself(const struct run *r, int exit_code)
{
	assert_int_equal(r->seen.cause, DW_CAUSE_NONE);
	assert_int_equal(r->kills, 0);
	assert_true(r->outcome.ended);
	assert_int_equal(r->outcome.wait_status, W_EXITCODE(exit_code, 0));
	assert_true(r->took_ms < SOON);
	assert_false(r->seen.truncated[DW_STDOUT]);
	assert_false(r->seen.truncated[DW_STDERR]);
}

static void output_is(const struct run *r, enum dw_stream stream, const char *text)
{
	const struct dw_buf *buf = &r->seen.out[stream];

	assert_int_equal(buf->len, strlen(text));
	if (buf->len > 0)
		assert_memory_equal(buf->data, text, buf->len);
}

/* ---- programs ---- */

/* Returns the byte at a position of a stream; it differs from its neighbours. */
static char nth(size_t i)
{
	return (char)(i * 7 + i / 251);
}

static void put(int fd, size_t from, size_t len)
{
	char chunk[4096];

	for (size_t done = 0; done < len;) {
		size_t n = len - done < sizeof(chunk) ? len - done : sizeof(chunk);

		for (size_t i = 0; i < n; i++)
			chunk[i] = nth(from + done + i);
		if (dw_fd_write_all(fd, chunk, n) < 0)
			_exit(121);
		done += n;
	}
}

static void is_nth(const struct dw_buf *buf, size_t len)
{
	assert_int_equal(buf->len, len);
	for (size_t i = 0; i < len; i++)
		if (buf->data[i] != nth(i))
			fail_msg("byte %zu differs", i);
}

static int says_both(const void *user)
{
	(void)user;
	(void)!write(1, "out", 3);
	(void)!write(2, "err", 3);
	(void)!write(1, "put", 3);
	return 3;
}

static int says_nothing(const void *user)
{
	(void)user;
	return 0;
}

struct amount {
	size_t out, err;
};

static int writes_amount(const void *user)
{
	const struct amount *a = user;

	put(1, 0, a->out);
	put(2, 0, a->err);
	return 0;
}

static int floods(const void *user)
{
	(void)user;
	(void)signal(SIGPIPE, SIG_IGN);
	while (write(1, "flood and flood", 15) >= -1)
		(void)!write(2, "flood", 5);
	return 1;
}

static int sleeps(const void *user)
{
	(void)user;
	while (pause() == -1)
		;
	return 1;
}

static int says_something_and_sleeps(const void *user)
{
	(void)!write(1, "before", 6);
	return sleeps(user);
}

static int closes_stdio_and_works_on(const void *user)
{
	(void)user;
	(void)!write(1, "bye", 3);
	for (int i = 0; i < 3; i++)
		(void)close(i);
	(void)usleep(1500000);
	return 5;
}

/* Reads all input, and prints its length; exits with 9 if a byte is wrong. */
static int reads_slowly(const void *user)
{
	char chunk[5000];
	size_t at = 0;
	ssize_t n;

	(void)user;
	while ((n = read(0, chunk, sizeof(chunk))) > 0) {
		for (ssize_t i = 0; i < n; i++)
			if (chunk[i] != nth(at++))
				return 9;
		(void)usleep(500);
	}
	(void)dprintf(1, "%zu", at);
	return 0;
}

static int reads_a_little_and_closes(const void *user)
{
	char chunk[10];

	(void)user;
	(void)!read(0, chunk, sizeof(chunk));
	(void)close(0);
	(void)usleep(100000);
	(void)dprintf(1, "closed");
	return 0;
}

static int echoes(const void *user)
{
	char chunk[4096];
	ssize_t n;

	(void)user;
	while ((n = read(0, chunk, sizeof(chunk))) > 0)
		if (dw_fd_write_all(1, chunk, (size_t)n) < 0)
			return 1;
	return 0;
}

/* ---- output ---- */

static void output_is_collected_by_stream(void **state)
{
	struct run *r = *state;

	run(r, says_both);
	ended_by_itself(r, 3);
	output_is(r, DW_STDOUT, "output");
	output_is(r, DW_STDERR, "err");
}

/* The program has ended before the supervisor first looks. */
static void a_run_that_ends_at_once_has_its_output_and_time(void **state)
{
	struct run *r = *state;

	r->script.at_once = true;
	run(r, says_both);
	ended_by_itself(r, 3);
	output_is(r, DW_STDOUT, "output");
	output_is(r, DW_STDERR, "err");
	assert_true(r->seen.run_ms >= 0);
}

static void without_output_both_streams_are_empty(void **state)
{
	struct run *r = *state;

	run(r, says_nothing);
	ended_by_itself(r, 0);
	output_is(r, DW_STDOUT, "");
	output_is(r, DW_STDERR, "");
}

static void a_request_without_on_output_keeps_its_output(void **state)
{
	struct run *r = *state;

	r->req.on_output = NULL;
	run(r, says_both);
	ended_by_itself(r, 3);
	output_is(r, DW_STDOUT, "output");
}

/* All output is in the pipes when the program has ended. */
static void output_written_before_the_end_is_not_lost(void **state)
{
	struct run *r = *state;

	r->spec.limits.output_bytes = 1U << 20;
	for (int i = 0; i < 20; i++) {
		dw_supervised_finish(&r->seen);
		r->told[0].len = r->told[1].len = 0;
		r->script.user = &(struct amount){60000, 60000};
		run(r, writes_amount);
		ended_by_itself(r, 0);
		is_nth(&r->seen.out[DW_STDOUT], 60000);
		is_nth(&r->seen.out[DW_STDERR], 60000);
	}
}

static void exactly_the_output_limit_is_accepted(void **state)
{
	struct run *r = *state;

	r->script.user = &(struct amount){CAP, CAP};
	run(r, writes_amount);
	ended_by_itself(r, 0);
	is_nth(&r->seen.out[DW_STDOUT], CAP);
	is_nth(&r->seen.out[DW_STDERR], CAP);
}

static void one_byte_above_the_output_limit_ends_the_run(void **state)
{
	struct run *r = *state;

	r->script.user = &(struct amount){CAP + 1, 0};
	run(r, writes_amount);
	assert_int_equal(r->seen.cause, DW_CAUSE_OUTPUT);
	assert_true(r->seen.truncated[DW_STDOUT]);
	assert_false(r->seen.truncated[DW_STDERR]);
	is_nth(&r->seen.out[DW_STDOUT], CAP);
}

static void the_output_limit_is_per_stream(void **state)
{
	struct run *r = *state;

	r->script.user = &(struct amount){CAP, CAP + 1};
	run(r, writes_amount);
	assert_int_equal(r->seen.cause, DW_CAUSE_OUTPUT);
	assert_false(r->seen.truncated[DW_STDOUT]);
	assert_true(r->seen.truncated[DW_STDERR]);
	is_nth(&r->seen.out[DW_STDOUT], CAP);
	is_nth(&r->seen.out[DW_STDERR], CAP);
}

static void an_output_limit_above_the_size_of_a_pipe_holds(void **state)
{
	struct run *r = *state;

	r->spec.limits.output_bytes = 3000001;
	r->script.user = &(struct amount){5000000, 0};
	run(r, writes_amount);
	assert_int_equal(r->seen.cause, DW_CAUSE_OUTPUT);
	is_nth(&r->seen.out[DW_STDOUT], 3000001);
}

static void endless_output_is_ended_at_the_limit(void **state)
{
	struct run *r = *state;

	run(r, floods);
	assert_int_equal(r->seen.cause, DW_CAUSE_OUTPUT);
	assert_true(r->seen.truncated[DW_STDOUT] || r->seen.truncated[DW_STDERR]);
	assert_true(r->took_ms < SOON);
	assert_int_equal(r->kills, 1);
}

static void endless_output_of_a_cell_that_dies_late_does_not_block(void **state)
{
	struct run *r = *state;

	r->script.deaf = 1;
	run(r, floods);
	assert_int_equal(r->seen.cause, DW_CAUSE_OUTPUT);
	assert_int_equal(r->seen.out[DW_STDOUT].len, CAP);
	assert_int_equal(r->seen.out[DW_STDERR].len, CAP);
	assert_int_equal(r->kills, 2);
	assert_true(r->took_ms < SOON + 500);
}

static void a_pipe_that_outlives_the_cell_is_not_waited_for(void **state)
{
	struct run *r = *state;

	r->script.hold = true;
	run(r, says_both);
	ended_by_itself(r, 3);
	output_is(r, DW_STDOUT, "output");
	output_is(r, DW_STDERR, "err");
}

static int leaves_a_flooding_child(const void *user)
{
	(void)!write(2, "parent", 6);
	if (fork() == 0) {
		(void)alarm(2 * SOON / 1000);
		return floods(user);
	}
	(void)usleep(1000);
	return 0;
}

static void endless_output_that_outlives_the_cell_is_not_waited_for(void **state)
{
	struct run *r = *state;

	run(r, leaves_a_flooding_child);
	assert_true(r->took_ms < SOON);
	assert_true(r->seen.out[DW_STDOUT].len <= CAP);
}

static void closed_stdio_neither_ends_the_run_nor_causes_a_busy_loop(void **state)
{
	struct run *r = *state;
	struct rusage before, after;
	long ms;

	(void)getrusage(RUSAGE_SELF, &before);
	run(r, closes_stdio_and_works_on);
	(void)getrusage(RUSAGE_SELF, &after);
	ended_by_itself(r, 5);
	assert_true(r->took_ms >= 1500);
	output_is(r, DW_STDOUT, "bye");
	ms = (after.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_utime.tv_sec -
	      before.ru_stime.tv_sec) *
	             1000 +
	     (after.ru_utime.tv_usec + after.ru_stime.tv_usec - before.ru_utime.tv_usec -
	      before.ru_stime.tv_usec) /
	             1000;
	/* A busy loop takes 1500 ms; starting the program takes some on a busy host. */
	assert_true(ms < 750);
}

/* ---- input ---- */

static char *input(size_t len)
{
	char *data = malloc(len);

	assert_non_null(data);
	for (size_t i = 0; i < len; i++)
		data[i] = nth(i);
	return data;
}

static void without_input_the_program_reads_end_of_file(void **state)
{
	struct run *r = *state;

	run(r, reads_slowly);
	ended_by_itself(r, 0);
	output_is(r, DW_STDOUT, "0");
}

static void a_slow_reader_gets_all_input(void **state)
{
	struct run *r = *state;
	autofree char *data = input(1000003);

	r->req.stdin_data = (struct dw_bytes){data, 1000003};
	run(r, reads_slowly);
	ended_by_itself(r, 0);
	output_is(r, DW_STDOUT, "1000003");
}

static void input_and_output_flow_at_the_same_time(void **state)
{
	struct run *r = *state;
	autofree char *data = input(700000);

	r->spec.limits.output_bytes = 700000;
	r->req.stdin_data = (struct dw_bytes){data, 700000};
	run(r, echoes);
	ended_by_itself(r, 0);
	is_nth(&r->seen.out[DW_STDOUT], 700000);
}

static void input_after_the_program_closed_stdin_is_dropped(void **state)
{
	struct run *r = *state;
	autofree char *data = input(1000000);
	struct rusage before, after;

	r->req.stdin_data = (struct dw_bytes){data, 1000000};
	(void)getrusage(RUSAGE_SELF, &before);
	run(r, reads_a_little_and_closes);
	(void)getrusage(RUSAGE_SELF, &after);
	ended_by_itself(r, 0);
	output_is(r, DW_STDOUT, "closed");
	assert_true(after.ru_utime.tv_sec + after.ru_stime.tv_sec -
	                    before.ru_utime.tv_sec - before.ru_stime.tv_sec <=
	            1);
}

static void a_program_that_never_reads_its_input_ends_normally(void **state)
{
	struct run *r = *state;
	autofree char *data = input(1000000);

	r->req.stdin_data = (struct dw_bytes){data, 1000000};
	run(r, says_both);
	ended_by_itself(r, 3);
	output_is(r, DW_STDOUT, "output");
}

static void a_descriptor_is_forwarded_to_its_end(void **state)
{
	struct run *r = *state;
	autofree char *data = input(300000);
	autoclose int fd = memfd_create("input", MFD_CLOEXEC);

	assert_int_equal(dw_fd_write_all(fd, data, 300000), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	r->req.stdin_fd = fd;
	r->req.stdin_data = (struct dw_bytes){"not this", 8};
	run(r, reads_slowly);
	ended_by_itself(r, 0);
	output_is(r, DW_STDOUT, "300000");
	assert_int_not_equal(fcntl(fd, F_GETFD), -1); /* it still belongs to the caller */
}

static void a_descriptor_is_forwarded_as_its_bytes_arrive(void **state)
{
	struct run *r = *state;
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)close(ends[0]);
		for (size_t at = 0; at < 200000; at += 40000) {
			put(ends[1], at, 40000);
			(void)usleep(20000);
		}
		_exit(0);
	}
	(void)close(ends[1]);
	r->req.stdin_fd = ends[0];
	run(r, reads_slowly);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	(void)close(ends[0]);
	ended_by_itself(r, 0);
	output_is(r, DW_STDOUT, "200000");
}

static void a_descriptor_that_never_ends_is_not_waited_for(void **state)
{
	struct run *r = *state;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	r->req.stdin_fd = ends[0];
	run(r, says_both);
	ended_by_itself(r, 3);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

static void an_invalid_descriptor_is_the_end_of_input(void **state)
{
	struct run *r = *state;

	r->req.stdin_fd = 12345;
	run(r, reads_slowly);
	ended_by_itself(r, 0);
	output_is(r, DW_STDOUT, "0");
}

static void input_is_not_read_before_the_walls_are_up(void **state)
{
	struct run *r = *state;
	int ends[2];
	char back[8];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	assert_int_equal(write(ends[1], "mine", 4), 4);
	r->req.stdin_fd = ends[0];
	r->script.never_built = true;
	r->timeout_ms = 100;
	run(r, sleeps);
	assert_int_equal(read(ends[0], back, sizeof(back)), 4);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

/*
 * The reader dies between poll() and write(): a library must not let SIGPIPE kill its
 * caller.
 */
static void no_signal_reaches_the_caller(void **state)
{
	struct run *r = *state;
	autofree char *data = input(1000000);
	autoclose int cancel = eventfd(1, EFD_CLOEXEC);
	int status;
	pid_t pid;

	r->req.stdin_data = (struct dw_bytes){data, 1000000};
	r->req.cancel_fd = cancel;
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)signal(SIGPIPE, SIG_DFL);
		run(r, sleeps);
		_exit(r->seen.cause == DW_CAUSE_CANCELLED ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* ---- ending the run ---- */

static void the_deadline_kills_the_program(void **state)
{
	struct run *r = *state;

	r->timeout_ms = 2000;
	run(r, says_something_and_sleeps);
	assert_int_equal(r->seen.cause, DW_CAUSE_DEADLINE);
	assert_int_equal(r->kills, 1);
	assert_true(r->took_ms >= 2000 && r->took_ms < 2000 + SOON);
	output_is(r, DW_STDOUT, "before");
	assert_true(r->seen.run_ms >= 1000 && r->seen.run_ms <= (double)r->took_ms + 1);
}

static void a_deadline_in_the_past_ends_the_run_at_once(void **state)
{
	struct run *r = *state;

	r->timeout_ms = 0;
	run(r, sleeps);
	assert_int_equal(r->seen.cause, DW_CAUSE_DEADLINE);
	assert_true(r->took_ms < SOON);
}

/* The supervisor sees the end after the deadline, but the program ended before it. */
static void a_program_that_ended_before_the_deadline_is_no_timeout(void **state)
{
	struct run *r = *state;

	r->script.at_once = true;
	r->timeout_ms = 0;
	run(r, says_both);
	ended_by_itself(r, 3);
}

static void the_deadline_holds_while_walls_are_built(void **state)
{
	struct run *r = *state;

	r->script.never_built = true;
	r->timeout_ms = 100;
	run(r, sleeps);
	assert_int_equal(r->seen.cause, DW_CAUSE_DEADLINE);
	assert_true(r->seen.run_ms < 0);
	assert_true(r->took_ms < SOON);
}

static void continuous_output_does_not_delay_the_deadline(void **state)
{
	struct run *r = *state;

	r->spec.limits.output_bytes = 1U << 30;
	r->req.on_output = NULL;
	r->timeout_ms = 150;
	run(r, floods);
	assert_int_equal(r->seen.cause, DW_CAUSE_DEADLINE);
	assert_true(r->took_ms < SOON);
}

static void the_caller_can_cancel_the_run(void **state)
{
	struct run *r = *state;
	autoclose int bell = eventfd(0, EFD_CLOEXEC);

	r->req.cancel_fd = bell;
	r->bell = bell;
	run(r, says_something_and_sleeps);
	assert_int_equal(r->seen.cause, DW_CAUSE_CANCELLED);
	assert_int_equal(r->kills, 1);
	assert_true(r->took_ms < SOON);
	output_is(r, DW_STDOUT, "before");
}

static void a_cancel_descriptor_that_is_never_signalled_has_no_effect(void **state)
{
	struct run *r = *state;
	autoclose int never = eventfd(0, EFD_CLOEXEC);

	r->req.cancel_fd = never;
	run(r, says_both);
	ended_by_itself(r, 3);
}

static void the_first_cause_is_reported(void **state)
{
	struct run *r = *state;
	autoclose int bell = eventfd(0, EFD_CLOEXEC);

	/* The deadline passes, then the caller cancels while the cell is still dying. */
	r->req.cancel_fd = bell;
	r->script.bell = &bell;
	r->timeout_ms = 100;
	r->script.deaf = 1;
	run(r, sleeps);
	assert_int_equal(r->seen.cause, DW_CAUSE_DEADLINE);
	assert_int_equal(r->kills, 2);
}

static void a_cell_that_does_not_die_is_killed_again(void **state)
{
	struct run *r = *state;

	r->script.deaf = 1;
	r->timeout_ms = 100;
	run(r, sleeps);
	assert_int_equal(r->seen.cause, DW_CAUSE_DEADLINE);
	assert_int_equal(r->kills, 2);
	assert_true(r->took_ms >= 500 && r->took_ms < 600 + SOON);
}

/* Takes six seconds. */
static void a_cell_that_never_dies_is_abandoned(void **state)
{
	struct run *r = *state;

	r->script.deaf = 1000;
	r->timeout_ms = 50;
	run(r, says_something_and_sleeps);
	assert_int_equal(r->seen.cause, DW_CAUSE_STUCK);
	assert_int_equal(r->kills, 2);
	assert_true(r->took_ms >= 5000 && r->took_ms < 6050 + SOON);
	assert_false(r->outcome.ended);
	output_is(r, DW_STDOUT, "before");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(output_is_collected_by_stream),
		TEST(a_run_that_ends_at_once_has_its_output_and_time),
		TEST(without_output_both_streams_are_empty),
		TEST(a_request_without_on_output_keeps_its_output),
		TEST(output_written_before_the_end_is_not_lost),
		TEST(exactly_the_output_limit_is_accepted),
		TEST(one_byte_above_the_output_limit_ends_the_run),
		TEST(the_output_limit_is_per_stream),
		TEST(an_output_limit_above_the_size_of_a_pipe_holds),
		TEST(endless_output_is_ended_at_the_limit),
		TEST(endless_output_of_a_cell_that_dies_late_does_not_block),
		TEST(a_pipe_that_outlives_the_cell_is_not_waited_for),
		TEST(endless_output_that_outlives_the_cell_is_not_waited_for),
		TEST(closed_stdio_neither_ends_the_run_nor_causes_a_busy_loop),
		TEST(without_input_the_program_reads_end_of_file),
		TEST(a_slow_reader_gets_all_input),
		TEST(input_and_output_flow_at_the_same_time),
		TEST(input_after_the_program_closed_stdin_is_dropped),
		TEST(a_program_that_never_reads_its_input_ends_normally),
		TEST(a_descriptor_is_forwarded_to_its_end),
		TEST(a_descriptor_is_forwarded_as_its_bytes_arrive),
		TEST(a_descriptor_that_never_ends_is_not_waited_for),
		TEST(an_invalid_descriptor_is_the_end_of_input),
		TEST(input_is_not_read_before_the_walls_are_up),
		TEST(no_signal_reaches_the_caller),
		TEST(the_deadline_kills_the_program),
		TEST(a_deadline_in_the_past_ends_the_run_at_once),
		TEST(a_program_that_ended_before_the_deadline_is_no_timeout),
		TEST(the_deadline_holds_while_walls_are_built),
		TEST(continuous_output_does_not_delay_the_deadline),
		TEST(the_caller_can_cancel_the_run),
		TEST(a_cancel_descriptor_that_is_never_signalled_has_no_effect),
		TEST(the_first_cause_is_reported),
		TEST(a_cell_that_does_not_die_is_killed_again),
		TEST(a_cell_that_never_dies_is_abandoned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
