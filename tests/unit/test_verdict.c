/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "run/run_own.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/cleanup.h"

#define EXITED(code) W_EXITCODE(code, 0)
#define KILLED(sig) W_EXITCODE(0, sig)

static const struct dw_spec spec = {
	.limits =
		{
			.timeout_ms = 1500,
			.memory_bytes = 256 << 20,
			.cpu_percent = 75,
			.output_bytes = 1234,
			.tmp_bytes = 48 << 20,
			.pids = 33,
			.files = 99,
		},
};

/* The outcome of a program that ran, with all measurements. */
static struct dw_outcome outcome(int wait_status)
{
	return (struct dw_outcome){
		.wait_status = wait_status,
		.ended = true,
		.run_ms = 5,
		.cpu_ms = 3,
		.memory_mb = 12.5,
		.walls.known = true,
	};
}

static struct dw_result judge(const struct dw_outcome *o, enum dw_cause cause)
{
	struct dw_result res = {0};

	dw_verdict_run(&res, o, cause, &spec);
	return res;
}

static void expect(const struct dw_result *res, enum dw_status status,
                   enum dw_reason reason, int exit_code, int sig, const char *hint)
{
	assert_string_equal(dw_status_name(res->status), dw_status_name(status));
	assert_string_equal(dw_reason_name(res->reason), dw_reason_name(reason));
	assert_int_equal(res->exit_code, exit_code);
	assert_int_equal(res->signal, sig);
	if (status == DW_STATUS_SUCCESS)
		assert_string_equal(res->hint, "");
	else
		assert_true(res->hint[0] != '\0');
	if (hint && !strstr(res->hint, hint))
		fail_msg("the hint \"%s\" does not say \"%s\"", res->hint, hint);
}

static void each_end_of_a_program_has_its_reason(void **state)
{
	static const struct {
		int wait_status;
		enum dw_status status;
		enum dw_reason reason;
		int exit_code, sig;
		const char *hint;
	} ends[] = {
		{EXITED(0), DW_STATUS_SUCCESS, DW_REASON_EXIT, 0, 0, NULL},
		{EXITED(1), DW_STATUS_ERROR, DW_REASON_EXIT, 1, 0, "exit code 1"},
		{EXITED(255), DW_STATUS_ERROR, DW_REASON_EXIT, 255, 0, "exit code 255"},
		/* An exit code of 128 + 9 is no signal. */
		{EXITED(137), DW_STATUS_ERROR, DW_REASON_EXIT, 137, 0, "exit code 137"},
		{KILLED(SIGSEGV), DW_STATUS_ERROR, DW_REASON_SIGNAL, 139, 11,
	         "SIGSEGV (11)"},
		{KILLED(SIGKILL), DW_STATUS_ERROR, DW_REASON_SIGNAL, 137, 9,
	         "SIGKILL (9)"},
		{KILLED(SIGABRT) | 0x80, DW_STATUS_ERROR, DW_REASON_SIGNAL, 134, 6,
	         "SIGABRT"},
		{KILLED(40), DW_STATUS_ERROR, DW_REASON_SIGNAL, 168, 40, "(40)"},
		{KILLED(SIGSYS), DW_STATUS_ERROR, DW_REASON_SECCOMP, 159, SIGSYS,
	         "system call"},
		/* These signals alone do not show that one of Dewar's limits was the cause. */
		{KILLED(SIGXCPU), DW_STATUS_ERROR, DW_REASON_SIGNAL, 152, SIGXCPU,
	         "SIGXCPU"},
		{KILLED(SIGXFSZ), DW_STATUS_ERROR, DW_REASON_SIGNAL, 153, SIGXFSZ,
	         "SIGXFSZ"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		struct dw_outcome o = outcome(ends[i].wait_status);
		struct dw_result res = judge(&o, DW_CAUSE_NONE);

		expect(&res, ends[i].status, ends[i].reason, ends[i].exit_code,
		       ends[i].sig, ends[i].hint);
		assert_true(res.ok);
	}
}

static void the_hint_names_the_limit_that_was_hit_and_its_size(void **state)
{
	static const struct {
		enum dw_reason hit;
		enum dw_status status;
		const char *hints[3];
	} hits[] = {
		{DW_REASON_OOM,
	         DW_STATUS_RESOURCE_EXCEEDED,
	         {"limits.memory_mb", "256 MB", "12.5 MB"}},
		{DW_REASON_PIDS,
	         DW_STATUS_RESOURCE_EXCEEDED,
	         {"limits.pids", "33", "--pids"}},
		{DW_REASON_DISK,
	         DW_STATUS_RESOURCE_EXCEEDED,
	         {"limits.tmp_mb", "48 MB", "--tmp"}},
		{DW_REASON_TIMEOUT_CPU,
	         DW_STATUS_TIMEOUT,
	         {"limits.cpu_percent", "75 %", "1.5 s"}},
		{DW_REASON_TIMEOUT_WALL,
	         DW_STATUS_TIMEOUT,
	         {"limits.timeout_s", "1.5 s", "killed"}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(hits); i++) {
		struct dw_outcome o = outcome(KILLED(SIGKILL));
		struct dw_result res;

		o.hit = hits[i].hit;
		res = judge(&o, DW_CAUSE_NONE);
		for (size_t j = 0; j < 3; j++)
			expect(&res, hits[i].status, hits[i].hit, 137, SIGKILL,
			       hits[i].hints[j]);

		/* The limit is the reason, however the program ended afterwards. */
		o.wait_status = EXITED(1);
		res = judge(&o, DW_CAUSE_NONE);
		expect(&res, hits[i].status, hits[i].hit, 1, 0, hits[i].hints[0]);
	}
}

static void each_cause_of_the_supervisor_has_its_reason(void **state)
{
	static const struct {
		enum dw_cause cause;
		enum dw_status status;
		enum dw_reason reason;
		const char *hint;
	} causes[] = {
		{DW_CAUSE_DEADLINE, DW_STATUS_TIMEOUT, DW_REASON_TIMEOUT_WALL,
	         "limits.timeout_s"},
		{DW_CAUSE_OUTPUT, DW_STATUS_RESOURCE_EXCEEDED, DW_REASON_OUTPUT,
	         "limits.output_bytes"},
		{DW_CAUSE_CANCELLED, DW_STATUS_ERROR, DW_REASON_CANCELLED,
	         "caller cancelled"},
		{DW_CAUSE_STUCK, DW_STATUS_ERROR, DW_REASON_INTERNAL, "bug in Dewar"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(causes); i++) {
		struct dw_outcome o = outcome(KILLED(SIGKILL));
		struct dw_result res = judge(&o, causes[i].cause);

		expect(&res, causes[i].status, causes[i].reason, 137, SIGKILL,
		       causes[i].hint);
		/* Without a report of its end, the program counts as killed. */
		o.ended = false;
		o.wait_status = 0;
		res = judge(&o, causes[i].cause);
		expect(&res, causes[i].status, causes[i].reason, 137, SIGKILL,
		       causes[i].hint);
	}
}

/* The supervisor's cause has precedence over a limit, and a limit over the exit status. */
static void a_cause_precedes_a_limit_and_a_limit_the_exit_status(void **state)
{
	static const enum dw_cause causes[] = {DW_CAUSE_DEADLINE, DW_CAUSE_OUTPUT,
	                                       DW_CAUSE_CANCELLED, DW_CAUSE_STUCK};
	static const enum dw_reason reasons[] = {DW_REASON_TIMEOUT_WALL, DW_REASON_OUTPUT,
	                                         DW_REASON_CANCELLED, DW_REASON_INTERNAL};
	static const enum dw_reason hits[] = {DW_REASON_OOM, DW_REASON_PIDS,
	                                      DW_REASON_DISK, DW_REASON_TIMEOUT_CPU};
	static const int ends[] = {EXITED(0),      EXITED(3),       KILLED(SIGKILL),
	                           KILLED(SIGSYS), KILLED(SIGXCPU), KILLED(SIGXFSZ),
	                           KILLED(SIGSEGV)};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		for (size_t j = 0; j < ARRAY_SIZE(hits); j++)
			for (int full = 0; full < 2; full++) {
				struct dw_outcome o = outcome(ends[i]);
				struct dw_result res;

				o.hit = hits[j];
				o.tmp_full = full != 0;
				for (size_t k = 0; k < ARRAY_SIZE(causes); k++) {
					res = judge(&o, causes[k]);
					assert_int_equal(res.reason, reasons[k]);
				}
				res = judge(&o, DW_CAUSE_NONE);
				assert_int_equal(res.reason, hits[j]);
				assert_int_not_equal(res.status, DW_STATUS_SUCCESS);
			}
}

static void a_full_tmp_explains_a_failure_but_not_a_success(void **state)
{
	struct dw_outcome o = outcome(EXITED(0));
	struct dw_result res;

	(void)state;
	o.tmp_full = true;
	res = judge(&o, DW_CAUSE_NONE);
	expect(&res, DW_STATUS_SUCCESS, DW_REASON_EXIT, 0, 0, NULL);
	o.wait_status = EXITED(1);
	res = judge(&o, DW_CAUSE_NONE);
	expect(&res, DW_STATUS_RESOURCE_EXCEEDED, DW_REASON_DISK, 1, 0, "48 MB");
	o.wait_status = KILLED(SIGBUS);
	res = judge(&o, DW_CAUSE_NONE);
	expect(&res, DW_STATUS_RESOURCE_EXCEEDED, DW_REASON_DISK, 135, SIGBUS,
	       "limits.tmp_mb");
	o.wait_status = KILLED(SIGSYS);
	res = judge(&o, DW_CAUSE_NONE);
	expect(&res, DW_STATUS_ERROR, DW_REASON_SECCOMP, 159, SIGSYS, NULL);

	/* The hint of a timeout mentions the full /tmp as well. */
	res = judge(&o, DW_CAUSE_DEADLINE);
	expect(&res, DW_STATUS_TIMEOUT, DW_REASON_TIMEOUT_WALL, 159, SIGSYS,
	       "/tmp was full");
	o.tmp_full = false;
	res = judge(&o, DW_CAUSE_DEADLINE);
	assert_null(strstr(res.hint, "full"));
}

static void a_failure_with_enospc_in_stderr_has_the_reason_disk(void **state)
{
	static char said[] = "write: No space left on device";
	struct dw_outcome o = outcome(EXITED(2));
	struct dw_result res = {.out = {NULL, said}, .out_len = {0, sizeof(said) - 1}};

	(void)state;
	dw_verdict_run(&res, &o, DW_CAUSE_NONE, &spec);
	expect(&res, DW_STATUS_RESOURCE_EXCEEDED, DW_REASON_DISK, 2, 0, "limits.tmp_mb");
	o = outcome(EXITED(0));
	res = (struct dw_result){.out = {NULL, said}, .out_len = {0, sizeof(said) - 1}};
	dw_verdict_run(&res, &o, DW_CAUSE_NONE, &spec);
	expect(&res, DW_STATUS_SUCCESS, DW_REASON_EXIT, 0, 0, NULL);
}

static void a_file_above_its_size_limit_counts_as_a_full_disk(void **state)
{
	struct dw_outcome o = outcome(KILLED(SIGXFSZ));
	struct dw_result res;

	(void)state;
	o.limits[DW_LIMIT_TMP].by = "tmpfs";
	res = judge(&o, DW_CAUSE_NONE);
	expect(&res, DW_STATUS_ERROR, DW_REASON_SIGNAL, 153, SIGXFSZ, "SIGXFSZ");
	o.limits[DW_LIMIT_TMP].by = "rlimit";
	res = judge(&o, DW_CAUSE_NONE);
	expect(&res, DW_STATUS_RESOURCE_EXCEEDED, DW_REASON_DISK, 153, SIGXFSZ,
	       "limits.tmp_mb");
}

static void a_program_without_a_reported_end_counts_as_killed(void **state)
{
	struct dw_outcome o = outcome(EXITED(0));
	struct dw_result res;

	(void)state;
	o.ended = false;
	res = judge(&o, DW_CAUSE_NONE);
	expect(&res, DW_STATUS_ERROR, DW_REASON_SIGNAL, 137, SIGKILL, "SIGKILL");
	o.hit = DW_REASON_OOM;
	res = judge(&o, DW_CAUSE_NONE);
	expect(&res, DW_STATUS_RESOURCE_EXCEEDED, DW_REASON_OOM, 137, SIGKILL, "256 MB");
}

static void the_hint_on_output_names_the_stream(void **state)
{
	struct dw_outcome o = outcome(KILLED(SIGKILL));
	struct dw_result res = {.truncated = {true, false}};

	(void)state;
	dw_verdict_run(&res, &o, DW_CAUSE_OUTPUT, &spec);
	assert_non_null(strstr(res.hint, "more than 1234 bytes to stdout"));
	res = (struct dw_result){.truncated = {false, true}};
	dw_verdict_run(&res, &o, DW_CAUSE_OUTPUT, &spec);
	assert_non_null(strstr(res.hint, "more than 1234 bytes to stderr"));
}

/* The hint must not print -1, which means: not measured. */
static void missing_measurements_are_not_printed(void **state)
{
	static const enum dw_reason hits[] = {DW_REASON_OOM, DW_REASON_TIMEOUT_CPU,
	                                      DW_REASON_PIDS, DW_REASON_DISK};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(hits); i++) {
		struct dw_outcome o = outcome(KILLED(SIGKILL));
		struct dw_result res;

		o.hit = hits[i];
		o.run_ms = o.cpu_ms = o.memory_mb = -1;
		res = judge(&o, DW_CAUSE_NONE);
		if (strstr(res.hint, "-1"))
			fail_msg("\"%s\"", res.hint);
	}
}

static void the_hint_explains_errors_that_a_wall_caused(void **state)
{
	static const struct {
		const char *text, *hint;
	} complaints[] = {
		{"OSError: [Errno 24] Too many open files: 'x'", "limits.files"},
		{"touch: cannot touch '/x': Read-only file system\n", "Only /tmp"},
		{"connect: Network is unreachable", "no network"},
		{"Temporary failure in name resolution", "no network"},
		{"fork: Cannot allocate memory", "limits.memory_mb"},
	};
	static char plain[] = "ValueError";
	struct dw_outcome o = outcome(EXITED(1));
	struct dw_result res;
	char text[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(complaints); i++) {
		(void)snprintf(text, sizeof(text), "%s", complaints[i].text);
		res = (struct dw_result){.out = {NULL, text},
		                         .out_len = {0, strlen(text)}};
		dw_verdict_run(&res, &o, DW_CAUSE_NONE, &spec);
		expect(&res, DW_STATUS_ERROR, DW_REASON_EXIT, 1, 0, complaints[i].hint);
		assert_non_null(strstr(res.hint, "stderr says why"));
	}
	res = (struct dw_result){.out = {NULL, plain}, .out_len = {0, strlen(plain)}};
	dw_verdict_run(&res, &o, DW_CAUSE_NONE, &spec);
	assert_string_equal(res.hint,
	                    "The program ended with exit code 1; stderr says why.");
	res = judge(&o, DW_CAUSE_NONE);
	assert_string_equal(res.hint, "The program ended with exit code 1.");

	/* The hint does not name a limit twice. */
	(void)snprintf(text, sizeof(text), "Too many open files");
	res = (struct dw_result){.out = {NULL, text}, .out_len = {0, strlen(text)}};
	dw_verdict_run(&res, &o, DW_CAUSE_NONE, &spec);
	assert_non_null(strstr(res.hint, "99"));
	assert_null(strstr(strstr(res.hint, "limits.files") + 1, "limits.files"));

	/* A success stays a success, whatever stderr says. */
	o = outcome(EXITED(0));
	res = (struct dw_result){.out = {NULL, text}, .out_len = {0, strlen(text)}};
	dw_verdict_run(&res, &o, DW_CAUSE_NONE, &spec);
	expect(&res, DW_STATUS_SUCCESS, DW_REASON_EXIT, 0, 0, NULL);
}

static void a_run_is_ok_only_if_its_walls_are_known(void **state)
{
	struct dw_outcome o = outcome(EXITED(0));
	struct dw_result res;

	(void)state;
	res = judge(&o, DW_CAUSE_NONE);
	assert_true(res.ok);
	o.walls.known = false;
	o.ended = false;
	res = judge(&o, DW_CAUSE_DEADLINE);
	assert_false(res.ok);
	assert_int_equal(res.reason, DW_REASON_TIMEOUT_WALL);
}

static void a_run_that_never_started_has_no_exit_code(void **state)
{
	static const struct {
		enum dw_code code;
		enum dw_reason reason;
	} codes[] = {
		{DW_E_UNSUPPORTED, DW_REASON_UNAVAILABLE},
		{DW_E_NOT_FOUND, DW_REASON_UNAVAILABLE},
		{DW_E_INTERNAL, DW_REASON_INTERNAL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
		struct dw_result res = {.ok = true, .exit_code = 7, .signal = 9};
		struct dw_error err = {0};

		(void)dw_fail(&err, codes[i].code, 0, "install user namespaces");
		dw_verdict_not_run(&res, &err);
		assert_false(res.ok);
		expect(&res, DW_STATUS_ERROR, codes[i].reason, -1, 0,
		       "install user namespaces");
	}
}

static void the_longest_error_fits_the_hint(void **state)
{
	struct dw_result res = {0};
	struct dw_error err = {.code = DW_E_UNSUPPORTED};

	(void)state;
	memset(err.text, 'x', sizeof(err.text) - 1);
	dw_verdict_not_run(&res, &err);
	assert_string_equal(res.hint, err.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_end_of_a_program_has_its_reason),
		cmocka_unit_test(the_hint_names_the_limit_that_was_hit_and_its_size),
		cmocka_unit_test(each_cause_of_the_supervisor_has_its_reason),
		cmocka_unit_test(a_cause_precedes_a_limit_and_a_limit_the_exit_status),
		cmocka_unit_test(a_full_tmp_explains_a_failure_but_not_a_success),
		cmocka_unit_test(a_failure_with_enospc_in_stderr_has_the_reason_disk),
		cmocka_unit_test(a_file_above_its_size_limit_counts_as_a_full_disk),
		cmocka_unit_test(a_program_without_a_reported_end_counts_as_killed),
		cmocka_unit_test(the_hint_on_output_names_the_stream),
		cmocka_unit_test(missing_measurements_are_not_printed),
		cmocka_unit_test(the_hint_explains_errors_that_a_wall_caused),
		cmocka_unit_test(a_run_is_ok_only_if_its_walls_are_known),
		cmocka_unit_test(a_run_that_never_started_has_no_exit_code),
		cmocka_unit_test(the_longest_error_fits_the_hint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
