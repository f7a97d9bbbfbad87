/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "dewar/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"

static void autofinish(struct dw_request *req)
{
	dw_request_finish(req);
}

#define autoreq __attribute__((cleanup(autofinish)))

static void read_ok(struct dw_request *req, const char *text)
{
	struct dw_error err = {0};

	dw_request_init(req);
	if (dw_request_from_json(req, text, strlen(text), &err) < 0)
		fail_msg("%s: %s", text, err.text);
}

/* Checks that the text is refused with this error, and that the request is unchanged. */
static void refused(const char *text, size_t len, enum dw_code code, const char *why)
{
	struct dw_request req, before;
	struct dw_error err = {0};

	memset(&req, 0, sizeof(req));
	memset(&before, 0, sizeof(before));
	dw_request_init(&req);
	dw_request_init(&before);
	if (dw_request_from_json(&req, text, len, &err) == 0)
		fail_msg("%s was accepted", text);
	if (!strstr(err.text, why))
		fail_msg("%s: \"%s\" does not say \"%s\"", text, err.text, why);
	assert_int_equal(err.code, code);
	assert_null(req.owned);
	assert_null(req.code.data);
	assert_null(req.language);
	assert_null(req.env);
	assert_null(req.files);
	assert_int_equal(req.stdin_fd, before.stdin_fd);
	assert_memory_equal(&req.limits, &before.limits, sizeof(req.limits));
}

#define INVALID(text, why) refused(text, strlen(text), DW_E_INVALID, why)
#define UNSUPPORTED(text, why) refused(text, strlen(text), DW_E_UNSUPPORTED, why)

/* A valid request, but for what is added to it. */
#define WITH(more) "{\"language\": \"python\", \"code\": \"1\", " more "}"
#define LIMIT(more) WITH("\"limits\": {" more "}")

static void an_empty_request_has_no_descriptors(void **state)
{
	struct dw_request req;

	(void)state;
	dw_request_init(&req);
	assert_int_equal(req.stdin_fd, -1);
	assert_int_equal(req.cancel_fd, -1);
	assert_null(req.language);
	assert_null(req.owned);
	assert_int_equal(req.limits.memory_bytes, 0);
	dw_request_finish(&req);
	dw_request_finish(&req);
}

static void every_key_is_read(void **state)
{
	autoreq struct dw_request req;

	(void)state;
	read_ok(&req,
	        "{\"language\": \"python\", \"code\": \"print(1)\", \"level\": \"container\","
	        " \"image\": \"/srv/root\", \"stdin\": \"in\","
	        " \"env\": {\"LANG\": \"C\", \"_x1\": \"\"}, \"args\": [\"-v\", \"\"],"
	        " \"files\": {\"in.csv\": \"YSxi\", \"d/empty\": \"\"},"
	        " \"collect\": [\"out/*.png\"], \"workspace\": \"/home/me\","
	        " \"writable_paths\": [\"/var/x\"], \"allowed_commands\": null,"
	        " \"network\": \"full\", \"session\": null, \"strict\": true,"
	        " \"limits\": {\"timeout_s\": 2.5, \"memory_mb\": 256, \"cpu_percent\": 50,"
	        " \"output_bytes\": 1000, \"tmp_mb\": 64, \"pids\": 32, \"files\": 100,"
	        " \"io_mbps\": null}}");
	assert_string_equal(req.language, "python");
	assert_int_equal(req.code.len, 8);
	assert_memory_equal(req.code.data, "print(1)", 8);
	assert_null(req.command);
	assert_string_equal(req.level, "container");
	assert_string_equal(req.image, "/srv/root");
	assert_int_equal(req.stdin_data.len, 2);
	assert_memory_equal(req.stdin_data.data, "in", 2);
	assert_int_equal(req.n_env, 2);
	assert_string_equal(req.env[0].name, "LANG");
	assert_string_equal(req.env[0].value, "C");
	assert_string_equal(req.env[1].name, "_x1");
	assert_string_equal(req.env[1].value, "");
	assert_int_equal(req.n_args, 2);
	assert_string_equal(req.args[0], "-v");
	assert_string_equal(req.args[1], "");
	assert_int_equal(req.n_files, 2);
	assert_string_equal(req.files[0].name, "in.csv");
	assert_int_equal(req.files[0].content.len, 3);
	assert_memory_equal(req.files[0].content.data, "a,b", 3);
	assert_int_equal(req.files[1].content.len, 0);
	assert_int_equal(req.n_collect, 1);
	assert_string_equal(req.collect[0], "out/*.png");
	assert_string_equal(req.workspace, "/home/me");
	assert_int_equal(req.n_writable, 1);
	assert_string_equal(req.writable[0], "/var/x");
	assert_int_equal(req.network, DW_NETWORK_FULL);
	assert_true(req.strict);
	assert_int_equal(req.limits.timeout_ms, 2500);
	assert_int_equal(req.limits.memory_bytes, 268435456);
	assert_int_equal(req.limits.cpu_percent, 50);
	assert_int_equal(req.limits.output_bytes, 1000);
	assert_int_equal(req.limits.tmp_bytes, 67108864);
	assert_int_equal(req.limits.pids, 32);
	assert_int_equal(req.limits.files, 100);
}

static void null_always_means_the_default(void **state)
{
	static const char *const keys[] = {
		"level",   "image",   "stdin",   "env",       "args",
		"files",   "limits",  "collect", "workspace", "writable_paths",
		"network", "session", "strict",  "command",   "allowed_commands",
	};
	autoreq struct dw_request req;
	char text[128];

	(void)state;
	dw_request_init(&req);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		(void)snprintf(text, sizeof(text), WITH("\"%s\": null"), keys[i]);
		read_ok(&req, text);
		assert_null(req.level);
		assert_null(req.stdin_data.data);
		assert_int_equal(req.n_env + req.n_args + req.n_files + req.n_collect, 0);
		dw_request_finish(&req);
	}
	read_ok(&req, LIMIT("\"pids\": null, \"timeout_s\": null, \"io_mbps\": null"));
	assert_int_equal(req.limits.pids, 0);
	dw_request_finish(&req);
	read_ok(&req, "{\"command\": \"ls\", \"code\": null, \"language\": null}");
	assert_string_equal(req.command, "ls");
}

static void level_is_a_string_or_a_list(void **state)
{
	autoreq struct dw_request req;

	(void)state;
	dw_request_init(&req);
	read_ok(&req, WITH("\"level\": [\"microvm\", \"container\", \"process\"]"));
	assert_string_equal(req.level, "microvm,container,process");
	dw_request_finish(&req);
	read_ok(&req, WITH("\"level\": [\"docker\"]"));
	assert_string_equal(req.level, "docker");
	dw_request_finish(&req);
	read_ok(&req, WITH("\"level\": []"));
	assert_null(req.level);

	INVALID(WITH("\"level\": 3"), "level must be a string or a list of strings");
	INVALID(WITH("\"level\": \"\""), "level must not be empty");
	INVALID(WITH("\"level\": [\"\"]"), "each level must be one name");
	INVALID(WITH("\"level\": [\"a,b\"]"), "each level must be one name, not \"a,b\"");
	INVALID(WITH("\"level\": [null]"), "each level must be a string");
	INVALID(WITH("\"level\": [\"a\\u0000b\"]"), "each level must not contain a NUL");
}

static void code_and_stdin_may_hold_nul(void **state)
{
	autoreq struct dw_request req;

	(void)state;
	read_ok(&req,
	        "{\"language\": \"sh\", \"code\": \"a\\u0000b\", \"stdin\": \"\\u0000\"}");
	assert_int_equal(req.code.len, 3);
	assert_memory_equal(req.code.data, "a\0b", 3);
	assert_int_equal(req.stdin_data.len, 1);
}

static void no_other_string_may_hold_nul(void **state)
{
	(void)state;
	INVALID("{\"command\": \"ls\\u0000\"}", "command must not contain a NUL");
	INVALID("{\"code\": \"\", \"language\": \"a\\u0000\"}",
	        "language must not contain a NUL");
	INVALID(WITH("\"image\": \"\\u0000\""), "image must not contain a NUL");
	INVALID(WITH("\"workspace\": \"/a\\u0000b\""),
	        "workspace must not contain a NUL");
	INVALID(WITH("\"args\": [\"a\", \"b\\u0000\"]"),
	        "args[1] must not contain a NUL");
	INVALID(WITH("\"collect\": [\"\\u0000\"]"), "collect[0] must not contain a NUL");
	INVALID(WITH("\"writable_paths\": [\"/\\u0000\"]"),
	        "writable_paths[0] must not contain");
	INVALID(WITH("\"env\": {\"A\": \"\\u0000\"}"), "env.A must not contain a NUL");
	INVALID(WITH("\"env\": {\"A\\u0000B\": \"\"}"), "NUL byte in object key");
	INVALID(WITH("\"network\": \"none\\u0000\""), "network must not contain a NUL");
}

static void empty_code_is_valid(void **state)
{
	autoreq struct dw_request req;

	(void)state;
	read_ok(&req, "{\"language\": \"python\", \"code\": \"\"}");
	assert_non_null(req.code.data);
	assert_int_equal(req.code.len, 0);
}

static void either_code_or_a_command_is_required(void **state)
{
	(void)state;
	INVALID("{}", "no code or command given");
	INVALID("{\"language\": \"python\"}", "no code or command given");
	INVALID("{\"code\": \"1\"}", "code requires a language");
	INVALID("{\"command\": \"ls\", \"language\": \"sh\"}", "language requires code");
	INVALID(WITH("\"command\": \"ls\""), "code and command cannot be combined");
}

static void the_error_of_an_unknown_key_suggests_a_similar_one(void **state)
{
	char text[4096], key[2000];

	(void)state;
	INVALID(WITH("\"limit\": {}"),
	        "unknown key \"limit\" in the request (did you mean limits?)");
	INVALID(WITH("\"lnaguage\": 1"), "did you mean language?");
	INVALID(WITH("\"Code\": 1"), "did you mean code?");
	INVALID(WITH("\"writable\": 1"), "did you mean writable_paths?");
	INVALID(WITH("\"timeout\": 1"), "did you mean limits.timeout_s?");
	INVALID(WITH("\"memory_mb\": 1"), "did you mean limits.memory_mb?");
	INVALID(LIMIT("\"memory\": 1"),
	        "unknown key \"memory\" in limits (did you mean memory_mb?)");
	INVALID(LIMIT("\"pid\": 1"),
	        "unknown key \"pid\" in limits (did you mean pids?)");
	INVALID(WITH("\"network\": {\"allows\": []}"),
	        "unknown key \"allows\" in network (did you mean allow?)");
	INVALID(WITH("\"\": 1"), "unknown key \"\" in the request");

	/* Not similar to any key: better no guess than a wrong one. */
	refused(WITH("\"colour\": 1"), strlen(WITH("\"colour\": 1")), DW_E_INVALID,
	        "unknown key \"colour\" in the request");
	memset(key, 'k', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	(void)snprintf(text, sizeof(text), WITH("\"%s\": null"), key);
	INVALID(text, "unknown key \"kkkk");
}

static void a_key_like_no_other_has_no_suggestion(void **state)
{
	static const char *const keys[] = {"colour", "foo", "x", "limitations",
	                                   "zzzzzzzz"};
	struct dw_request req;
	struct dw_error err;
	char text[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		dw_request_init(&req);
		(void)snprintf(text, sizeof(text), WITH("\"%s\": 1"), keys[i]);
		assert_int_equal(dw_request_from_json(&req, text, strlen(text), &err),
		                 -1);
		assert_null(strstr(err.text, "did you mean"));
	}
}

/* An unknown key with null is refused as well: a typing error could disable a wall. */
static void null_does_not_excuse_an_unknown_key(void **state)
{
	(void)state;
	INVALID(WITH("\"limit\": null"), "unknown key \"limit\"");
	INVALID(LIMIT("\"foo\": null"), "unknown key \"foo\" in limits");
}

static void wrong_types_name_the_key(void **state)
{
	(void)state;
	INVALID("{\"code\": 1, \"language\": \"a\"}", "code must be a string");
	INVALID("{\"code\": \"1\", \"language\": [\"a\"]}", "language must be a string");
	INVALID("{\"command\": [\"ls\"]}", "command must be a string");
	INVALID(WITH("\"stdin\": 0"), "stdin must be a string");
	INVALID(WITH("\"image\": false"), "image must be a string");
	INVALID(WITH("\"env\": []"), "env must be an object of strings");
	INVALID(WITH("\"env\": {\"A\": 1}"), "env.A must be a string");
	INVALID(WITH("\"args\": \"-v\""), "args must be a list of strings");
	INVALID(WITH("\"args\": [\"a\", 1]"), "args[1] must be a string");
	INVALID(WITH("\"files\": []"), "files must be an object");
	INVALID(WITH("\"files\": {\"a\": null}"),
	        "\"a\" in files must be a string of base64");
	INVALID(WITH("\"collect\": {}"), "collect must be a list of strings");
	INVALID(WITH("\"collect\": [\"a\", \"\"]"), "collect[1] must not be empty");
	INVALID(WITH("\"writable_paths\": [\"\"]"),
	        "writable_paths[0] must not be empty");
	INVALID(WITH("\"strict\": 1"), "strict must be true or false");
	INVALID(WITH("\"limits\": 1"), "limits must be an object");
	INVALID(WITH("\"network\": true"), "network must be a string");
	INVALID(WITH("\"network\": \"all\""),
	        "network must be none or full, not \"all\"");
	INVALID(WITH("\"pull\": \"sometimes\""),
	        "pull must be missing, never or always, not \"sometimes\"");
	INVALID(WITH("\"pull\": \"nevr\""), "not \"nevr\" (did you mean never?)");
	INVALID("{\"code\": \"1\", \"language\": \"\"}", "language must not be empty");
}

static void an_invalid_name_of_a_variable_is_refused(void **state)
{
	static const char *const names[] = {"",    "1A",       "A-B", "A B",
	                                    "A=B", "\xc3\xa9", "A\\n"};
	autoreq struct dw_request req;
	char text[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void)snprintf(text, sizeof(text), WITH("\"env\": {\"%s\": \"\"}"),
		               names[i]);
		INVALID(text, "is not a valid name, such as MY_VAR2");
	}
	read_ok(&req, WITH("\"env\": {\"a_Z09\": \"x=y\\n\"}"));
	assert_string_equal(req.env[0].name, "a_Z09");
	assert_string_equal(req.env[0].value, "x=y\n");
}

static void an_invalid_name_of_a_file_is_refused(void **state)
{
	static const char *const names[] = {"",       "/etc/passwd", "../x",
	                                    "a/../x", "a//b",        "."};
	char text[128];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		(void)snprintf(text, sizeof(text), WITH("\"files\": {\"%s\": \"\"}"),
		               names[i]);
		INVALID(text, "in files is not a plain relative name");
	}
}

static void contents_of_files_are_strict_base64(void **state)
{
	autoreq struct dw_request req;

	(void)state;
	INVALID(WITH("\"files\": {\"a\": \"Zg\"}"),
	        "\"a\" in files is not padded base64");
	INVALID(WITH("\"files\": {\"a\": \"Zg==\\n\"}"), "is not padded base64");
	INVALID(WITH("\"files\": {\"a\": \"Zm\\u0000v\"}"), "is not padded base64");
	read_ok(&req, WITH("\"files\": {\"a\": \"AP8A\"}"));
	assert_int_equal(req.files[0].content.len, 3);
	assert_memory_equal(req.files[0].content.data, "\0\xff\0", 3);
}

static void limits_are_positive_and_in_range(void **state)
{
	static const char *const whole[] = {"memory_mb", "cpu_percent", "output_bytes",
	                                    "tmp_mb",    "pids",        "files",
	                                    "io_mbps"};
	char text[128], why[64];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(whole); i++) {
		(void)snprintf(why, sizeof(why), "limits.%s must be at least %d",
		               whole[i], strcmp(whole[i], "files") == 0 ? 8 : 1);
		(void)snprintf(text, sizeof(text), LIMIT("\"%s\": 0"), whole[i]);
		INVALID(text, why);
		(void)snprintf(text, sizeof(text), LIMIT("\"%s\": -5"), whole[i]);
		INVALID(text, why);
		(void)snprintf(why, sizeof(why), "limits.%s must be a whole number",
		               whole[i]);
		(void)snprintf(text, sizeof(text), LIMIT("\"%s\": 1.5"), whole[i]);
		INVALID(text, why);
		(void)snprintf(text, sizeof(text), LIMIT("\"%s\": \"1\""), whole[i]);
		INVALID(text, why);
		(void)snprintf(text, sizeof(text), LIMIT("\"%s\": 9223372036854775807"),
		               whole[i]);
		(void)snprintf(why, sizeof(why), "limits.%s must be at most", whole[i]);
		INVALID(text, why);
	}
	INVALID(LIMIT("\"pids\": 99999999999999999999"), "too big integer");
	INVALID(LIMIT("\"timeout_s\": 0"), "limits.timeout_s must be at least 0.001");
	INVALID(LIMIT("\"timeout_s\": -1.5"), "limits.timeout_s must be at least 0.001");
	INVALID(LIMIT("\"timeout_s\": 0.0001"),
	        "limits.timeout_s must be at least 0.001");
	INVALID(LIMIT("\"timeout_s\": 1e300"), "limits.timeout_s must be at most 604800");
	INVALID(LIMIT("\"timeout_s\": 1e999"), "real number overflow");
	INVALID(LIMIT("\"timeout_s\": \"1\""), "limits.timeout_s must be a number");
}

static void timeouts_keep_their_milliseconds(void **state)
{
	static const struct {
		const char *text;
		uint64_t ms;
	} samples[] = {{"30", 30000},
	               {"0.001", 1},
	               {"0.29", 290},
	               {"1.005", 1005},
	               {"1e1", 10000}};
	autoreq struct dw_request req;
	char text[128];

	(void)state;
	dw_request_init(&req);
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		(void)snprintf(text, sizeof(text), LIMIT("\"timeout_s\": %s"),
		               samples[i].text);
		read_ok(&req, text);
		assert_int_equal(req.limits.timeout_ms, samples[i].ms);
		dw_request_finish(&req);
	}
}

static void an_empty_allow_list_differs_from_null(void **state)
{
	autoreq struct dw_request req;

	(void)state;
	dw_request_init(&req);
	read_ok(&req, WITH("\"allowed_commands\": null"));
	assert_null(req.allowed_commands);
	assert_null(req.allowed_modules);
	dw_request_finish(&req);
	read_ok(&req, WITH("\"allowed_commands\": [], \"allowed_modules\": []"));
	assert_non_null(req.allowed_commands);
	assert_null(req.allowed_commands[0]);
	assert_non_null(req.allowed_modules);
	assert_null(req.allowed_modules[0]);
	dw_request_finish(&req);
	read_ok(&req, WITH("\"allowed_commands\": [\"ls\", \"cat\"],"
	                   " \"allowed_modules\": [\"os.path\"]"));
	assert_string_equal(req.allowed_commands[0], "ls");
	assert_string_equal(req.allowed_commands[1], "cat");
	assert_null(req.allowed_commands[2]);
	assert_string_equal(req.allowed_modules[0], "os.path");
	assert_null(req.allowed_modules[1]);
	INVALID(WITH("\"allowed_commands\": \"ls\""),
	        "allowed_commands must be a list of strings");
	INVALID(WITH("\"allowed_modules\": [\"os\", 1]"),
	        "allowed_modules[1] must be a string");
	INVALID(WITH("\"allowed_modules\": [\"a\\u0000b\"]"), "must not contain a NUL");
}

static void an_unsupported_feature_is_refused_and_not_ignored(void **state)
{
	(void)state;
	UNSUPPORTED(WITH("\"session\": \"abc\""), "session is not supported yet");
	UNSUPPORTED(WITH("\"network\": {\"allow\": [\"pypi.org:443\"]}"),
	            "network allow-lists are not supported yet; use \"none\" or \"full\"");
	UNSUPPORTED(WITH("\"network\": {\"allow\": []}"), "network allow-lists");
}

static void invalid_json_is_refused(void **state)
{
	static const char nul[] = "{\"command\": \"ls\"}\0";

	(void)state;
	INVALID("", "not valid JSON: line");
	INVALID("{", "not valid JSON: line 1");
	INVALID("[]", "the request must be a JSON object");
	INVALID("\"ls\"", "not valid JSON: line 1");
	INVALID("{\"command\": \"ls\"} x", "not valid JSON: line 1");
	INVALID("{\"command\": \"\xff\"}", "unable to decode byte 0xff");
	INVALID("{\"command\": \"\\ud800\"}", "not valid JSON: line 1");
	INVALID("{\"command\": \"a\", \"command\": \"b\"}", "duplicate object key");
	INVALID(WITH("\"env\": {\"A\": \"1\", \"A\": \"2\"}"), "duplicate object key");
	refused(nul, sizeof(nul) - 1, DW_E_INVALID, "not valid JSON: line 1");
}

static void deep_nesting_is_refused(void **state)
{
	static char text[200000];

	(void)state;
	memset(text, '[', sizeof(text) - 1);
	INVALID(text, "maximum parsing depth");
}

static void fields_without_a_key_keep_their_value(void **state)
{
	static const char text[] = "{\"command\": \"ls\"}";
	autoreq struct dw_request req;
	struct dw_error err = {0};

	(void)state;
	dw_request_init(&req);
	req.cancel_fd = 7;
	req.limits.pids = 5;
	assert_int_equal(dw_request_from_json(&req, text, sizeof(text) - 1, &err), 0);
	assert_int_equal(req.cancel_fd, 7);
	assert_int_equal(req.limits.pids, 5);
}

/* The caller may free the text after reading. */
static void nothing_points_into_the_text(void **state)
{
	autoreq struct dw_request req;
	autofree char *text = NULL;

	(void)state;
	text = strdup(WITH("\"args\": [\"abc\"], \"files\": {\"n\": \"Zm9v\"}"));
	assert_non_null(text);
	read_ok(&req, text);
	memset(text, 'x', strlen(text));
	assert_string_equal(req.args[0], "abc");
	assert_string_equal(req.files[0].name, "n");
	assert_memory_equal(req.files[0].content.data, "foo", 3);
	assert_memory_equal(req.code.data, "1", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_request_has_no_descriptors),
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(null_always_means_the_default),
		cmocka_unit_test(level_is_a_string_or_a_list),
		cmocka_unit_test(code_and_stdin_may_hold_nul),
		cmocka_unit_test(no_other_string_may_hold_nul),
		cmocka_unit_test(empty_code_is_valid),
		cmocka_unit_test(either_code_or_a_command_is_required),
		cmocka_unit_test(the_error_of_an_unknown_key_suggests_a_similar_one),
		cmocka_unit_test(a_key_like_no_other_has_no_suggestion),
		cmocka_unit_test(null_does_not_excuse_an_unknown_key),
		cmocka_unit_test(wrong_types_name_the_key),
		cmocka_unit_test(an_invalid_name_of_a_variable_is_refused),
		cmocka_unit_test(an_invalid_name_of_a_file_is_refused),
		cmocka_unit_test(contents_of_files_are_strict_base64),
		cmocka_unit_test(limits_are_positive_and_in_range),
		cmocka_unit_test(timeouts_keep_their_milliseconds),
		cmocka_unit_test(an_empty_allow_list_differs_from_null),
		cmocka_unit_test(an_unsupported_feature_is_refused_and_not_ignored),
		cmocka_unit_test(invalid_json_is_refused),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(fields_without_a_key_keep_their_value),
		cmocka_unit_test(nothing_points_into_the_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
