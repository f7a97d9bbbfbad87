/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "dewar/result.h"

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "dewar/request.h"

static void autoresult(struct dw_result **res)
{
	dw_result_free(*res);
}

#define autores __attribute__((cleanup(autoresult)))

static void set_out(struct dw_result *res, enum dw_stream stream, const char *data,
                    size_t len)
{
	free(res->out[stream]);
	res->out[stream] = malloc(len + 1);
	assert_non_null(res->out[stream]);
	memcpy(res->out[stream], data, len);
	res->out[stream][len] = '\0';
	res->out_len[stream] = len;
}

static void set_limit(struct dw_result *res, enum dw_limit limit, uint64_t value,
                      const char *by)
{
	res->proof.limits[limit] = (struct dw_limit_proof){.asked = value,
	                                                   .kernel = value,
	                                                   .enforced = true,
	                                                   .by = by};
}

/* The result of a successful run at level container, with all walls up. */
static struct dw_result *make_result(void)
{
	struct dw_result *res = calloc(1, sizeof(*res));

	assert_non_null(res);
	(void)strcpy(res->id, "7f3a");
	set_out(res, DW_STDOUT, "18446744073709551616\n", 21);
	set_out(res, DW_STDERR, "", 0);
	res->execution_time_ms = 18.2;
	res->cpu_time_ms = 1.2;
	res->memory_used_mb = 9.1;
	res->ok = true;
	res->warm = true;
	(void)strcpy(res->proof.requested, "microvm,container");
	(void)strcpy(res->proof.achieved, "container");
	res->proof.own_ns = (1U << DW_NS_COUNT) - 1;
	res->proof.walls = (struct dw_walls){
		.known = true,
		.uid = 1000,
		.gid = 1001,
		.no_new_privs = 1,
		.seccomp_mode = 2,
		.seccomp_filters = 1,
		.landlock_abi = 7,
		.root_read_only = 1,
	};
	set_limit(res, DW_LIMIT_TIMEOUT, 30000, "dewar");
	set_limit(res, DW_LIMIT_MEMORY, 268435456, "cgroup1");
	set_limit(res, DW_LIMIT_CPU, 50, "cgroup1");
	set_limit(res, DW_LIMIT_PIDS, 64, "cgroup1");
	set_limit(res, DW_LIMIT_FILES, 4096, "rlimit");
	set_limit(res, DW_LIMIT_TMP, 67108864, "tmpfs");
	set_limit(res, DW_LIMIT_OUTPUT, 1000000, "dewar");
	return res;
}

static json_t *parse(const struct dw_result *res)
{
	autofree char *text = dw_result_to_json(res);
	json_error_t why;
	json_t *root;

	assert_non_null(text);
	root = json_loads(text, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	if (!root)
		fail_msg("%s: %s", why.text, text);
	return root;
}

/* Returns the value at a path such as "proof.walls.uid". */
static json_t *get(json_t *root, const char *path)
{
	char name[64];
	size_t n;

	for (;; path++) {
		n = strcspn(path, ".");
		(void)snprintf(name, sizeof(name), "%.*s", (int)n, path);
		root = json_object_get(root, name);
		if (!root)
			fail_msg("no %s", name);
		path += n;
		if (*path == '\0')
			return root;
	}
}

static void the_json_of_a_known_result_is_constant(void **state)
{
	autores struct dw_result *res = make_result();
	autofree char *text = dw_result_to_json(res);

	(void)state;
	assert_string_equal(
		text,
		"{\"id\":\"7f3a\",\"status\":\"success\",\"reason\":\"exit\",\"hint\":null,"
		"\"exit_code\":0,\"signal\":null,\"stdout\":\"18446744073709551616\\n\","
		"\"stderr\":\"\",\"stdout_truncated\":false,\"stderr_truncated\":false,"
		"\"results\":[],\"files\":[],\"execution_time_ms\":18.2,\"cpu_time_ms\":1.2,"
		"\"memory_used_mb\":9.1,\"warnings\":[],\"findings\":[],\"proof\":{"
		"\"requested\":\"microvm,container\",\"achieved\":\"container\","
		"\"runtime\":null,\"walls\":{"
		"\"namespaces\":{\"user\":true,\"mount\":true,\"pid\":true,\"net\":true,"
		"\"ipc\":true,\"uts\":true,\"cgroup\":true},\"uid\":1000,\"gid\":1001,"
		"\"capabilities\":{\"effective\":\"0000000000000000\","
		"\"permitted\":\"0000000000000000\",\"inheritable\":\"0000000000000000\","
		"\"bounding\":\"0000000000000000\",\"ambient\":\"0000000000000000\"},"
		"\"no_new_privs\":true,\"seccomp\":{\"mode\":2,\"filters\":1},"
		"\"landlock\":{\"abi\":7},\"commands\":null,\"root_read_only\":true,"
		"\"network\":{\"interfaces\":0,\"routes\":0}},\"limits\":{"
		"\"timeout\":{\"asked\":30000,\"kernel\":30000,\"enforced\":true,"
		"\"by\":\"dewar\",\"note\":null},"
		"\"memory\":{\"asked\":268435456,\"kernel\":268435456,\"enforced\":true,"
		"\"by\":\"cgroup1\",\"note\":null},"
		"\"cpu\":{\"asked\":50,\"kernel\":50,\"enforced\":true,\"by\":\"cgroup1\","
		"\"note\":null},"
		"\"output\":{\"asked\":1000000,\"kernel\":1000000,\"enforced\":true,"
		"\"by\":\"dewar\",\"note\":null},"
		"\"tmp\":{\"asked\":67108864,\"kernel\":67108864,\"enforced\":true,"
		"\"by\":\"tmpfs\",\"note\":null},"
		"\"pids\":{\"asked\":64,\"kernel\":64,\"enforced\":true,\"by\":\"cgroup1\","
		"\"note\":null},"
		"\"files\":{\"asked\":4096,\"kernel\":4096,\"enforced\":true,\"by\":\"rlimit\","
		"\"note\":null}}},"
		"\"metadata\":{\"ok\":true,\"sandbox\":true,\"sandbox_level\":\"container\","
		"\"sandbox_image\":null,\"sandbox_network\":false,\"warm\":true}}");
}

static void the_proof_alone_equals_the_one_in_the_result(void **state)
{
	autores struct dw_result *res = make_result();
	autofree char *whole = dw_result_to_json(res);
	autofree char *proof = dw_proof_to_json(&res->proof);

	(void)state;
	assert_non_null(whole);
	assert_non_null(proof);
	assert_non_null(strstr(whole, proof));
}

static void an_unknown_value_is_null(void **state)
{
	autores struct dw_result *res = make_result();
	json_t *root;

	(void)state;
	res->status = DW_STATUS_ERROR;
	res->reason = DW_REASON_UNAVAILABLE;
	res->ok = false;
	res->exit_code = -1;
	res->execution_time_ms = -1;
	res->cpu_time_ms = -0.5;
	res->memory_used_mb = NAN;
	res->proof.achieved[0] = '\0';
	res->proof.walls.known = false;
	(void)strcpy(res->hint, "install qemu");
	free(res->out[DW_STDOUT]);
	res->out[DW_STDOUT] = NULL;
	res->out_len[DW_STDOUT] = 0;
	res->proof.limits[DW_LIMIT_CPU] =
		(struct dw_limit_proof){.asked = 50,
	                                .by = "none",
	                                .note = "no cpu controller"};

	root = parse(res);
	assert_string_equal(json_string_value(get(root, "status")), "error");
	assert_string_equal(json_string_value(get(root, "reason")), "unavailable");
	assert_true(json_is_null(get(root, "exit_code")));
	assert_true(json_is_null(get(root, "execution_time_ms")));
	assert_true(json_is_null(get(root, "cpu_time_ms")));
	assert_true(json_is_null(get(root, "memory_used_mb")));
	assert_true(json_is_null(get(root, "proof.achieved")));
	assert_true(json_is_null(get(root, "proof.walls")));
	assert_true(json_is_null(get(root, "metadata.sandbox_level")));
	assert_string_equal(json_string_value(get(root, "stdout")), "");
	assert_true(json_is_false(get(root, "metadata.ok")));
	assert_string_equal(json_string_value(get(root, "metadata.error")),
	                    "install qemu");
	assert_string_equal(json_string_value(get(root, "hint")), "install qemu");
	assert_true(json_is_null(get(root, "proof.limits.cpu.kernel")));
	assert_true(json_is_false(get(root, "proof.limits.cpu.enforced")));
	assert_string_equal(json_string_value(get(root, "proof.limits.cpu.note")),
	                    "no cpu controller");
	json_decref(root);
}

static void a_list_of_commands_is_in_the_proof(void **state)
{
	autores struct dw_result *res = make_result();
	autofree char *line = NULL;
	json_t *root;

	(void)state;
	res->proof.walls.commands = 3;
	res->proof.walls.others_refused = 1;
	root = parse(res);
	assert_int_equal(json_integer_value(get(root, "proof.walls.commands.programs")),
	                 3);
	assert_true(json_is_true(get(root, "proof.walls.commands.others_refused")));
	json_decref(root);
	line = dw_result_walls_line(res);
	assert_non_null(strstr(line, ", 3 programs allowed,"));

	res->proof.walls.others_refused = -1;
	root = parse(res);
	assert_true(json_is_null(get(root, "proof.walls.commands.others_refused")));
	json_decref(root);
}

static void a_value_that_the_kernel_does_not_report_is_null(void **state)
{
	autores struct dw_result *res = make_result();
	json_t *root;

	(void)state;
	res->proof.walls.no_new_privs = -1;
	res->proof.walls.seccomp_filters = -1;
	res->proof.walls.landlock_abi = 0;
	res->proof.walls.root_read_only = -1;
	res->proof.walls.interfaces = -1;
	res->proof.walls.routes = -1;
	res->proof.walls.caps[DW_CAP_BOUNDING] = 0x1ffffffffffULL;
	res->proof.own_ns = 1U << DW_NS_PID;
	res->proof.limits[DW_LIMIT_MEMORY].kernel = UINT64_MAX;
	root = parse(res);
	assert_true(json_is_null(get(root, "proof.walls.no_new_privs")));
	assert_true(json_is_null(get(root, "proof.walls.seccomp.filters")));
	assert_true(json_is_null(get(root, "proof.walls.landlock")));
	assert_true(json_is_null(get(root, "proof.walls.root_read_only")));
	assert_true(json_is_null(get(root, "proof.walls.network.interfaces")));
	assert_true(json_is_null(get(root, "proof.walls.network.routes")));
	assert_string_equal(json_string_value(
				    get(root, "proof.walls.capabilities.bounding")),
	                    "000001ffffffffff");
	assert_true(json_is_true(get(root, "proof.walls.namespaces.pid")));
	assert_true(json_is_false(get(root, "proof.walls.namespaces.user")));
	assert_true(json_is_null(get(root, "proof.limits.memory.kernel")));
	json_decref(root);
}

static void a_killed_program_has_its_signal(void **state)
{
	autores struct dw_result *res = make_result();
	json_t *root;

	(void)state;
	res->status = DW_STATUS_RESOURCE_EXCEEDED;
	res->reason = DW_REASON_OOM;
	res->exit_code = 137;
	res->signal = 9;
	(void)strcpy(res->hint, "give it more than 256 MB");
	root = parse(res);
	assert_string_equal(json_string_value(get(root, "status")), "resource_exceeded");
	assert_string_equal(json_string_value(get(root, "reason")), "oom");
	assert_int_equal(json_integer_value(get(root, "exit_code")), 137);
	assert_int_equal(json_integer_value(get(root, "signal")), 9);
	assert_null(json_object_get(get(root, "metadata"), "error"));
	json_decref(root);
}

static void the_metadata_reports_a_missing_sandbox(void **state)
{
	autores struct dw_result *res = make_result();
	json_t *root;

	(void)state;
	(void)strcpy(res->proof.achieved, "none");
	res->network = true;
	res->image = strdup("/srv/root");
	root = parse(res);
	assert_true(json_is_false(get(root, "metadata.sandbox")));
	assert_string_equal(json_string_value(get(root, "metadata.sandbox_level")),
	                    "none");
	assert_string_equal(json_string_value(get(root, "metadata.sandbox_image")),
	                    "/srv/root");
	assert_true(json_is_true(get(root, "metadata.sandbox_network")));
	json_decref(root);
}

static void hostile_output_becomes_valid_json(void **state)
{
	static const char bytes[] = "\0\xff\"\\\x1b\xe2\x82";
	autores struct dw_result *res = make_result();
	json_t *root;

	(void)state;
	set_out(res, DW_STDOUT, bytes, sizeof(bytes) - 1);
	set_out(res, DW_STDERR, "\xed\xa0\x80", 3);
	res->truncated[DW_STDERR] = true;
	(void)strcpy(res->hint, "cut in \xc3");
	root = parse(res);
	assert_int_equal(json_string_length(get(root, "stdout")), 10);
	assert_memory_equal(json_string_value(get(root, "stdout")),
	                    "\0\xef\xbf\xbd\"\\\x1b\xef\xbf\xbd", 10);
	assert_int_equal(json_string_length(get(root, "stderr")), 9);
	assert_true(json_is_false(get(root, "stdout_truncated")));
	assert_true(json_is_true(get(root, "stderr_truncated")));
	assert_string_equal(json_string_value(get(root, "hint")), "cut in \xef\xbf\xbd");
	json_decref(root);
}

static void measurements_are_rounded_to_three_digits(void **state)
{
	static const struct {
		double value;
		const char *text;
	} samples[] = {
		{1.9, "1.9"},
		{0.1 + 0.2, "0.3"},
		{1.23456, "1.235"},
		{0, "0.0"},
		{0.0004, "0.0"},
		{2, "2.0"},
		{123456789.1234, "123456789.123"},
		{86400000.55, "86400000.55"},
		{INFINITY, "null"},
		{DBL_MAX, "null"},
	};
	autores struct dw_result *res = make_result();
	char want[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		autofree char *text = NULL;

		res->execution_time_ms = samples[i].value;
		text = dw_result_to_json(res);
		(void)snprintf(want, sizeof(want),
		               "\"execution_time_ms\":%s,\"cpu_time_ms\"",
		               samples[i].text);
		if (!strstr(text, want))
			fail_msg("no %s in %s", want, text);
	}
}

static void files_and_warnings_are_listed(void **state)
{
	autores struct dw_result *res = make_result();
	autofree char *text = NULL;

	(void)state;
	res->files = calloc(2, sizeof(*res->files));
	res->n_files = 2;
	res->files[0] = (struct dw_file_out){strdup("out/\xff.bin"), malloc(3), 3};
	memcpy(res->files[0].data, "\0\xff\0", 3);
	res->files[1] = (struct dw_file_out){strdup("empty"), NULL, 0};
	res->warnings = calloc(1, sizeof(*res->warnings));
	res->warnings[0] = strdup("uses \"eval\"");
	res->n_warnings = 1;
	res->findings = calloc(1, sizeof(*res->findings));
	assert_non_null(res->findings);
	res->findings[0] = (struct dw_finding){.rule = "builtin:eval",
	                                       .message = "eval runs text as code",
	                                       .severity = DW_SEVERITY_ERROR,
	                                       .line = 3,
	                                       .column = 5};
	res->n_findings = 1;
	text = dw_result_to_json(res);
	assert_non_null(strstr(text,
	                       "\"files\":[{\"name\":\"out/\xef\xbf\xbd.bin\",\"size\":3,"
	                       "\"data\":\"AP8A\"},{\"name\":\"empty\",\"size\":0,"
	                       "\"data\":\"\"}]"));
	assert_non_null(strstr(text, "\"warnings\":[\"uses \\\"eval\\\"\"]"));
	assert_non_null(
		strstr(text,
	               "\"findings\":[{\"rule\":\"builtin:eval\",\"line\":3,\"column\":5,"
	               "\"severity\":\"error\",\"message\":\"eval runs text as code\"}]"));
}

static void every_enum_value_has_a_name(void **state)
{
	(void)state;
	for (unsigned i = 0; i < DW_STATUS_COUNT; i++)
		assert_non_null(dw_status_name(i));
	for (unsigned i = 0; i < DW_REASON_COUNT; i++)
		assert_non_null(dw_reason_name(i));
	for (unsigned i = 0; i < DW_NS_COUNT; i++)
		assert_non_null(dw_ns_name(i));
	for (unsigned i = 0; i < DW_LIMIT_COUNT; i++)
		assert_non_null(dw_limit_name(i));
	assert_string_equal(dw_status_name(DW_STATUS_TIMEOUT), "timeout");
	assert_string_equal(dw_reason_name(DW_REASON_TIMEOUT_WALL), "timeout_wall");
	assert_string_equal(dw_ns_name(DW_NS_PID), "pid");
	assert_string_equal(dw_limit_name(DW_LIMIT_MEMORY), "memory");
	assert_string_equal(dw_status_name(DW_STATUS_COUNT), "error");
	assert_string_equal(dw_reason_name(DW_REASON_COUNT), "internal");
}

static void an_incomplete_result_can_be_freed(void **state)
{
	struct dw_result *res = calloc(1, sizeof(*res));

	(void)state;
	assert_non_null(res);
	dw_result_free(NULL);
	res->n_files = 3; /* counted, but never allocated */
	res->n_warnings = 2;
	dw_result_free(res);
}

static void is_text(const struct dw_result *res, const char *want)
{
	autofree char *text = dw_result_to_text(res);

	assert_string_equal(text, want);
}

static void the_text_has_exit_code_output_and_hint(void **state)
{
	autores struct dw_result *res = make_result();

	(void)state;
	is_text(res, "exit_code: 0\nstdout:\n18446744073709551616\nstderr:\n");
	set_out(res, DW_STDOUT, "no newline", 10);
	set_out(res, DW_STDERR, "oops\n\n", 6);
	res->exit_code = 1;
	(void)strcpy(res->hint, "it failed");
	is_text(res,
	        "exit_code: 1\nstdout:\nno newline\nstderr:\noops\n\nhint: it failed\n");
}

static void the_text_says_which_stream_was_truncated(void **state)
{
	autores struct dw_result *res = make_result();

	(void)state;
	set_out(res, DW_STDOUT, "abc", 3);
	res->truncated[DW_STDOUT] = true;
	is_text(res, "exit_code: 0\nstdout:\nabc\n[stdout cut at 3 bytes]\nstderr:\n");
	res->truncated[DW_STDERR] = true;
	is_text(res, "exit_code: 0\nstdout:\nabc\n[stdout cut at 3 bytes]\n"
	             "stderr:\n[stderr cut at 0 bytes]\n");
}

static void a_nul_does_not_end_the_text(void **state)
{
	autores struct dw_result *res = make_result();

	(void)state;
	set_out(res, DW_STDOUT, "a\0b\0", 4);
	set_out(res, DW_STDERR, "\0\n\xff", 3);
	is_text(res, "exit_code: 0\nstdout:\na\xef\xbf\xbd"
	             "b\xef\xbf\xbd\nstderr:\n\xef\xbf\xbd\n\xef\xbf\xbd\n");
}

static void the_text_of_a_run_that_never_started(void **state)
{
	struct dw_result res = {.exit_code = -1, .hint = "no such level"};

	(void)state;
	is_text(&res, "exit_code: none (the program did not run)\nstdout:\nstderr:\n"
	              "hint: no such level\n");
}

static void is_line(const struct dw_result *res, const char *want)
{
	autofree char *line = dw_result_walls_line(res);

	assert_string_equal(line, want);
}

static void the_line_names_every_wall(void **state)
{
	autores struct dw_result *res = make_result();

	(void)state;
	is_line(res,
	        "container: 7 own namespaces, seccomp, Landlock 7, no capabilities, "
	        "read-only root, no network, memory 256 MB (cgroup1), cpu 50% (cgroup1), "
	        "64 processes (cgroup1); 18.2 ms, 9.1 MB");
}

static void the_line_names_only_walls_that_were_read_back(void **state)
{
	autores struct dw_result *res = make_result();
	struct dw_proof *proof = &res->proof;

	(void)state;
	proof->own_ns = 1U << DW_NS_NET | 1U << 31;
	proof->walls.seccomp_mode = 0;
	proof->walls.landlock_abi = 0;
	proof->walls.caps[DW_CAP_BOUNDING] = 1;
	proof->walls.root_read_only = -1;
	proof->walls.interfaces = -1;
	proof->limits[DW_LIMIT_CPU].enforced = false;
	set_limit(res, DW_LIMIT_MEMORY, 1572864, "sampling");
	proof->limits[DW_LIMIT_MEMORY].kernel = 0;
	set_limit(res, DW_LIMIT_PIDS, 1, NULL);
	res->memory_used_mb = -1;
	is_line(res,
	        "container: 1 own namespace, no new privileges, "
	        "memory 1.5 MB (sampling), cpu not limited here, 1 process (unknown); 18.2 ms");
}

static void the_line_has_the_kernels_limit_not_the_requested_one(void **state)
{
	autores struct dw_result *res = make_result();
	autofree char *line = NULL;

	(void)state;
	res->proof.limits[DW_LIMIT_PIDS].asked = 64;
	res->proof.limits[DW_LIMIT_PIDS].kernel = 66;
	line = dw_result_walls_line(res);
	assert_non_null(strstr(line, "66 processes"));
	assert_null(strstr(line, "64 processes"));
}

/* A host without a network card is no wall. */
static void a_shared_network_is_never_called_none(void **state)
{
	autores struct dw_result *res = make_result();

	(void)state;
	res->proof.own_ns &= ~(1U << DW_NS_NET);
	is_line(res, "container: 6 own namespaces, seccomp, Landlock 7, no capabilities, "
	             "read-only root, memory 256 MB (cgroup1), cpu 50% (cgroup1), "
	             "64 processes (cgroup1); 18.2 ms, 9.1 MB");
}

static void the_line_names_every_limit_that_is_not_enforced(void **state)
{
	autores struct dw_result *res = make_result();

	(void)state;
	for (size_t i = 0; i < DW_LIMIT_COUNT; i++)
		res->proof.limits[i].enforced = false;
	res->proof.walls.known = false;
	is_line(res,
	        "container: walls not read back, time not limited here, memory not limited "
	        "here, cpu not limited here, output not limited here, /tmp not limited here, "
	        "processes not limited here, files not limited here; 18.2 ms, 9.1 MB");
}

static void the_line_without_walls_and_without_a_run(void **state)
{
	struct dw_result res = {.execution_time_ms = 0.26, .memory_used_mb = 0};

	(void)state;
	(void)strcpy(res.proof.requested, "microvm");
	is_line(&res, "microvm: nothing ran");

	(void)strcpy(res.proof.achieved, "none");
	res.proof.walls.known = true;
	res.proof.walls.caps[DW_CAP_EFFECTIVE] = 1;
	is_line(&res, "none: no walls; 0.3 ms, 0.0 MB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_json_of_a_known_result_is_constant),
		cmocka_unit_test(the_proof_alone_equals_the_one_in_the_result),
		cmocka_unit_test(an_unknown_value_is_null),
		cmocka_unit_test(a_list_of_commands_is_in_the_proof),
		cmocka_unit_test(a_value_that_the_kernel_does_not_report_is_null),
		cmocka_unit_test(a_killed_program_has_its_signal),
		cmocka_unit_test(the_metadata_reports_a_missing_sandbox),
		cmocka_unit_test(hostile_output_becomes_valid_json),
		cmocka_unit_test(measurements_are_rounded_to_three_digits),
		cmocka_unit_test(files_and_warnings_are_listed),
		cmocka_unit_test(every_enum_value_has_a_name),
		cmocka_unit_test(an_incomplete_result_can_be_freed),
		cmocka_unit_test(the_text_has_exit_code_output_and_hint),
		cmocka_unit_test(the_text_says_which_stream_was_truncated),
		cmocka_unit_test(a_nul_does_not_end_the_text),
		cmocka_unit_test(the_text_of_a_run_that_never_started),
		cmocka_unit_test(the_line_names_every_wall),
		cmocka_unit_test(the_line_names_only_walls_that_were_read_back),
		cmocka_unit_test(the_line_has_the_kernels_limit_not_the_requested_one),
		cmocka_unit_test(a_shared_network_is_never_called_none),
		cmocka_unit_test(the_line_names_every_limit_that_is_not_enforced),
		cmocka_unit_test(the_line_without_walls_and_without_a_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
