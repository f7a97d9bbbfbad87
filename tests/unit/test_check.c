/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "run/request_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"

/* Returns a valid request, for a test to change. */
static struct dw_request good(void)
{
	struct dw_request req;

	dw_request_init(&req);
	req.language = "python";
	req.code = (struct dw_bytes){"1", 1};
	return req;
}

static void taken(const struct dw_request *req)
{
	struct dw_error err = {0};

	if (dw_request_check(req, &err) < 0)
		fail_msg("refused: %s", err.text);
	assert_int_equal(err.code, DW_OK);
}

static void refused(const struct dw_request *req, const char *why)
{
	struct dw_error err = {0};

	if (dw_request_check(req, &err) == 0)
		fail_msg("accepted, but expected the error \"%s\"", why);
	assert_int_equal(err.code, DW_E_INVALID);
	if (!strstr(err.text, why))
		fail_msg("\"%s\" does not say \"%s\"", err.text, why);
	assert_int_equal(dw_request_check(req, NULL), -1);
}

static void exactly_one_of_code_command_and_program_is_required(void **state)
{
	static const char why[] = "a language and code, or a command, or a program";
	struct dw_request req;

	(void)state;
	for (unsigned set = 0; set < 8; set++) {
		dw_request_init(&req);
		if (set & 1) {
			req.language = "sh";
			req.code = (struct dw_bytes){"", 0};
		}
		if (set & 2)
			req.command = "ls";
		if (set & 4)
			req.program = "/bin/ls";
		if (__builtin_popcount(set) == 1)
			taken(&req);
		else
			refused(&req, why);
	}
}

static void an_id_is_32_hex_digits(void **state)
{
	struct dw_request req = good();

	(void)state;
	req.id = "0123456789abcdef0123456789abcdef";
	taken(&req);
	req.id = "";
	refused(&req, "32 hex digits");
	req.id = "0123456789abcdef0123456789abcde";
	refused(&req, "32 hex digits");
	req.id = "0123456789abcdef0123456789abcdef0";
	refused(&req, "32 hex digits");
	req.id = "../../../../../../../../../../aa";
	refused(&req, "32 hex digits");
}

static void code_without_a_language_is_refused(void **state)
{
	struct dw_request req = good();

	(void)state;
	req.language = NULL;
	refused(&req, "a language and code");
	req.command = "ls";
	refused(&req, "a language and code");
	req.command = NULL;
	req.program = "/bin/ls";
	refused(&req, "a language and code");
}

static void code_has_a_ceiling(void **state)
{
	struct dw_request req = good();

	(void)state;
	req.code.len = DW_CODE_MAX;
	taken(&req);
	req.code.len++;
	refused(&req, "the code is larger than 64 MB");
}

static void an_unknown_network_is_refused(void **state)
{
	struct dw_request req = good();

	(void)state;
	for (int i = 0; i < DW_NETWORK_COUNT; i++) {
		req.network = (enum dw_network)i;
		taken(&req);
	}
	req.network = DW_NETWORK_COUNT;
	refused(&req, "network must be none or full");
	req.network = (enum dw_network)1000;
	refused(&req, "network must be none or full");
}

static void arguments_and_variables_have_a_ceiling(void **state)
{
	static const char *args[DW_ARGS_MAX + 1];
	static struct dw_env env[DW_ARGS_MAX + 1];
	struct dw_request req = good();

	(void)state;
	for (size_t i = 0; i <= DW_ARGS_MAX; i++) {
		args[i] = "";
		env[i] = (struct dw_env){"A", ""};
	}
	req.args = args;
	req.env = env;
	req.n_args = req.n_env = DW_ARGS_MAX;
	taken(&req);
	req.n_args++;
	refused(&req, "too many arguments or environment variables; at most 4096");
	req.n_args--;
	req.n_env++;
	refused(&req, "too many arguments or environment variables; at most 4096");
}

static void names_of_variables_follow_the_shells_rules(void **state)
{
	static const char *const fine[] = {"A", "_", "a1", "PATH", "_9", "LC_ALL"};
	static const char *const bad[] = {"",    "1",   "9A",  "A=B",      "A B",
	                                  "A-B", "A.B", "A\n", "\xc3\xa4", " A",
	                                  "=",   "A=",  "A\t"};
	struct dw_env env[] = {{"OK", ""}, {NULL, "value"}};
	struct dw_request req = good();
	char why[96];

	(void)state;
	req.env = env;
	req.n_env = 2;
	for (size_t i = 0; i < ARRAY_SIZE(fine); i++) {
		env[1].name = fine[i];
		taken(&req);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		env[1].name = bad[i];
		(void)snprintf(why, sizeof(why),
		               "\"%s\" is not a valid name of an environment variable",
		               bad[i]);
		/* An error shows a control character as a blank. */
		refused(&req,
		        strpbrk(bad[i], "\n\t") ? "\"A \" is not a valid name" : why);
	}
}

static void patterns_to_collect_must_lie_below_tmp(void **state)
{
	static const char *const fine[] = {"a",        "a/b", "*.png", "/tmp/a",
	                                   "/tmp/*/x", ".*",  "..a",   "/tmp/tmp"};
	static const char *const bad[] =
		{"",        "/",          "/tmp",   "/tmp/",  "/etc/passwd",
	         "..",      "../a",       "a/../b", "a/..",   "/tmp/../etc",
	         "/tmp//a", "//tmp/a",    "a//b",   "a/",     "./a",
	         "a/./b",   "/tmp/./etc", "/var/a", "/tmpx/a"};
	const char *collect[] = {"fine", NULL};
	struct dw_request req = good();

	(void)state;
	req.collect = collect;
	req.n_collect = 2;
	for (size_t i = 0; i < ARRAY_SIZE(fine); i++) {
		collect[1] = fine[i];
		taken(&req);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		collect[1] = bad[i];
		refused(&req, "cannot collect");
	}
}

static void names_of_files_must_be_plain(void **state)
{
	static const char *const fine[] = {"a", "a/b/c", ".hidden", "..a", "a b", "*"};
	static const char *const bad[] = {"",   "/a",     "a/",  "a//b",   ".",
	                                  "..", "a/../b", "./a", "/tmp/a", "a/."};
	struct dw_file_in files[] = {{"first", {"", 0}}, {NULL, {"x", 1}}};
	struct dw_request req = good();

	(void)state;
	req.files = files;
	req.n_files = 2;
	for (size_t i = 0; i < ARRAY_SIZE(fine); i++) {
		files[1].name = fine[i];
		taken(&req);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		files[1].name = bad[i];
		refused(&req, "is not a plain name below /tmp");
	}
}

static void a_file_given_twice_is_refused(void **state)
{
	struct dw_file_in files[] = {{"a", {"", 0}}, {"b", {"", 0}}, {"a", {"x", 1}}};
	struct dw_request req = good();

	(void)state;
	req.files = files;
	req.n_files = 3;
	refused(&req, "the file a is given twice");
	req.n_files = 2;
	taken(&req);
}

static void number_and_size_of_files_have_ceilings(void **state)
{
	static struct dw_file_in files[DW_FILES_MAX + 1];
	static char names[DW_FILES_MAX + 1][16];
	struct dw_request req = good();

	(void)state;
	for (size_t i = 0; i <= DW_FILES_MAX; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "f%zu", i);
		files[i] = (struct dw_file_in){names[i], {"", 0}};
	}
	req.files = files;
	req.n_files = DW_FILES_MAX;
	taken(&req);
	req.n_files++;
	refused(&req, "257 files are too many; the limit is 256");

	req.n_files = 2;
	files[0].content.len = DW_FILES_BYTES_MAX - 1;
	files[1].content.len = 1;
	taken(&req);
	files[1].content.len = 2;
	refused(&req, "larger than 256 MB together");
}

static void each_limit_has_a_floor_and_a_ceiling(void **state)
{
	static const struct {
		const char *name;
		size_t offset;
		uint64_t min, max;
	} limits[] = {
#define LIMIT(name, field, min, max) {name, offsetof(struct dw_limits, field), min, max}
		LIMIT("timeout_s", timeout_ms, 1, 7ULL * 24 * 3600 * 1000),
		LIMIT("memory_mb", memory_bytes, 1 << 20, 1ULL << 50),
		LIMIT("cpu_percent", cpu_percent, 1, 100000),
		LIMIT("output_bytes", output_bytes, 1, 1 << 30),
		LIMIT("tmp_mb", tmp_bytes, 1 << 16, 1ULL << 40),
		LIMIT("pids", pids, 1, 1 << 22),
		LIMIT("files", files, 8, 1 << 20),
		LIMIT("io_mbps", io_bytes, 1 << 16, 1ULL << 40),
#undef LIMIT
	};
	char why[96];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		struct dw_request req = good();
		uint64_t *value = (uint64_t *)((char *)&req.limits + limits[i].offset);

		*value = 0; /* the default */
		taken(&req);
		*value = limits[i].min;
		taken(&req);
		*value = limits[i].max;
		taken(&req);
		(void)snprintf(why, sizeof(why), "limits.%s must be at most",
		               limits[i].name);
		*value = limits[i].max + 1;
		refused(&req, why);
		*value = UINT64_MAX;
		refused(&req, why);
		if (limits[i].min == 1)
			continue;
		(void)snprintf(why, sizeof(why), "limits.%s must be at least",
		               limits[i].name);
		*value = limits[i].min - 1;
		refused(&req, why);
		*value = 1;
		refused(&req, why);
	}
}

static void names_of_commands_and_modules_must_be_plain(void **state)
{
	static const char *const bad_commands[] = {"",   "/bin/ls", "a/b",   ".",
	                                           "..", "a\nb",    "a\x7f", "/"};
	static const char *const good_commands[] = {"ls",         "[",     "g++",
	                                            "python3.11", "ls -l", "\xc3\xa4"};
	static const char *const bad_modules[] = {"",    ".a",   "a.",   "a..b",
	                                          "a,b", "/etc", "a b",  "a/",
	                                          "a;b", "a\nb", "../x", "a\"b"};
	static const char *const good_modules[] = {"os",          "os.path",
	                                           "node:fs",     "_x",
	                                           "lodash",      "@scope/pkg",
	                                           "fs/promises", "\xc3\xa4",
	                                           "a-b"};
	const char *names[2] = {NULL};
	struct dw_request req = good();

	(void)state;
	req.allowed_commands = names;
	taken(&req); /* an empty list is valid: it allows nothing */
	for (size_t i = 0; i < ARRAY_SIZE(good_commands); i++) {
		names[0] = good_commands[i];
		taken(&req);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad_commands); i++) {
		names[0] = bad_commands[i];
		refused(&req, "allowed_commands: ");
	}
	req.allowed_commands = NULL;
	req.allowed_modules = names;
	for (size_t i = 0; i < ARRAY_SIZE(good_modules); i++) {
		names[0] = good_modules[i];
		taken(&req);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad_modules); i++) {
		names[0] = bad_modules[i];
		refused(&req, "allowed_modules: ");
	}
}

static void allow_lists_have_ceilings(void **state)
{
	const char *names[DW_MODULES_MAX + 2] = {NULL};
	char name[DW_ALLOWED_NAME_MAX + 2] = "";
	struct dw_request req = good();

	(void)state;
	for (size_t i = 0; i < DW_COMMANDS_MAX; i++)
		names[i] = "ls";
	req.allowed_commands = names;
	taken(&req);
	names[DW_COMMANDS_MAX] = "ls";
	refused(&req, "allowed_commands must have at most 64 names");
	req.allowed_commands = NULL;
	for (size_t i = 0; i < DW_MODULES_MAX; i++)
		names[i] = "os";
	req.allowed_modules = names;
	taken(&req);
	names[DW_MODULES_MAX] = "os";
	refused(&req, "allowed_modules must have at most 256 names");
	memset(name, 'a', DW_ALLOWED_NAME_MAX);
	names[0] = name;
	names[1] = NULL;
	taken(&req);
	name[DW_ALLOWED_NAME_MAX] = 'a';
	refused(&req, "is not the name of a module");
}

static void nothing_may_be_loaded_before_the_import_hook(void **state)
{
	static const char *const names[] = {"os", NULL};
	struct dw_file_in file = {.name = ".dewar/hook.py"};
	struct dw_env env = {"NODE_OPTIONS", "--require /tmp/first.js"};
	struct dw_request req = good();

	(void)state;
	req.files = &file;
	req.n_files = 1;
	taken(&req);
	req.allowed_modules = names;
	refused(&req, "the folder .dewar is reserved");
	req.n_files = 0;
	req.env = &env;
	req.n_env = 1;
	refused(&req, "cannot set the variable NODE_OPTIONS with allowed_modules");
	env.name = "LD_PRELOAD";
	refused(&req, "cannot set the variable LD_PRELOAD with allowed_modules");
	env.name = "NODE_ENV";
	taken(&req);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exactly_one_of_code_command_and_program_is_required),
		cmocka_unit_test(an_id_is_32_hex_digits),
		cmocka_unit_test(code_without_a_language_is_refused),
		cmocka_unit_test(code_has_a_ceiling),
		cmocka_unit_test(an_unknown_network_is_refused),
		cmocka_unit_test(arguments_and_variables_have_a_ceiling),
		cmocka_unit_test(names_of_variables_follow_the_shells_rules),
		cmocka_unit_test(patterns_to_collect_must_lie_below_tmp),
		cmocka_unit_test(names_of_files_must_be_plain),
		cmocka_unit_test(a_file_given_twice_is_refused),
		cmocka_unit_test(number_and_size_of_files_have_ceilings),
		cmocka_unit_test(each_limit_has_a_floor_and_a_ceiling),
		cmocka_unit_test(names_of_commands_and_modules_must_be_plain),
		cmocka_unit_test(allow_lists_have_ceilings),
		cmocka_unit_test(nothing_may_be_loaded_before_the_import_hook),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
