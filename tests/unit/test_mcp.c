/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "mcp/mcp.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "fakes/fake_task.h"

#define META                                                                     \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
	"\"io.modelcontextprotocol/clientCapabilities\":{}}"

/* ---- a client ---- */

#define OUT_MAX 32

static struct client {
	struct dw_mcp *mcp;
	struct dw_mcp_peer *peer;
	json_t *out[OUT_MAX];
	int status[OUT_MAX];
	size_t n, answers, done;
} it;

static void on_send(void *user, struct dw_mcp_out *out)
{
	assert_ptr_equal(user, &it);
	assert_int_equal(strlen(out->text), out->len);
	assert_null(strchr(out->text, '\n'));
	assert_true(it.n < OUT_MAX);
	it.out[it.n] = json_loadb(out->text, out->len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(it.out[it.n]);
	it.status[it.n] = out->status;
	it.answers += out->answer;
	it.n++;
	free(out->text);
}

static void on_done(void *user)
{
	((struct client *)user)->done++;
}

static void forget(void)
{
	for (size_t i = 0; i < it.n; i++)
		json_decref(it.out[i]);
	it.n = it.answers = it.done = 0;
}

static int setup(void **state)
{
	struct dw_caller caller = {.who = "uid:1000 (test)"};

	(void)state;
	memset(&it, 0, sizeof(it));
	it.mcp = dw_mcp_create(NULL);
	it.peer = dw_mcp_peer_create(it.mcp, &caller);
	return it.mcp && it.peer ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	forget();
	dw_mcp_peer_close(it.peer);
	dw_mcp_free(it.mcp);
	fake_task_refuse(NULL);
	fake_task_forget();
	assert_int_equal(fake_task_alive(), 0);
	return 0;
}

/* Passes a message on as a transport does. */
static void say_n(const char *text, size_t len)
{
	struct dw_mcp_sink sink = {.send = on_send, .done = on_done, .user = &it};
	struct dw_mcp_message *msg = NULL;
	struct dw_mcp_out out = {.answer = true, .status = 400};

	if (dw_mcp_parse(text, len, &msg, &out.text) < 0) {
		assert_non_null(out.text);
		out.len = strlen(out.text);
		on_send(&it, &out);
		on_done(&it);
		return;
	}
	dw_mcp_peer_take(it.peer, msg, &sink);
}

static void say(const char *text)
{
	say_n(text, strlen(text));
}

/* Sends a message and returns its only answer. */
static const json_t *ask(const char *text)
{
	forget();
	say(text);
	if (it.n != 1 || it.answers != 1 || it.done != 1)
		fail_msg("%s: %zu messages, %zu answers", text, it.n, it.answers);
	return it.out[0];
}

static const char *text_at(const json_t *root, const char *path)
{
	const char *dot;
	char key[128];

	while ((dot = strchr(path, '/'))) {
		(void)snprintf(key, sizeof(key), "%.*s", (int)(dot - path), path);
		root = json_is_array(root) ? json_array_get(root, (size_t)atoi(key))
		                           : json_object_get(root, key);
		path = dot + 1;
	}
	root = json_object_get(root, path);
	return json_is_string(root) ? json_string_value(root) : NULL;
}

static int code_of(const json_t *answer)
{
	return (int)json_integer_value(
		json_object_get(json_object_get(answer, "error"), "code"));
}

static void refused(const char *text, int code, const char *why)
{
	const json_t *answer = ask(text);

	if (code_of(answer) != code || !strstr(text_at(answer, "error/message"), why)) {
		autofree char *got = json_dumps(answer, 0);

		fail_msg("%s: %s", text, got);
	}
}

static void initialize(const char *version)
{
	char text[256];

	(void)snprintf(text, sizeof(text),
	               "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
	               "{\"protocolVersion\":\"%s\",\"capabilities\":{},"
	               "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}",
	               version);
	(void)ask(text);
}

/* ---- messages ---- */

static void an_invalid_message_is_refused_with_its_code(void **state)
{
	autofree char *deep = malloc(20001);

	(void)state;
	refused("", -32700, "not valid JSON");
	refused("{", -32700, "not valid JSON");
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", -32700,
	        "duplicate");
	refused("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600, "batch");
	refused("17", -32600, "object");
	refused("{\"id\":1,\"method\":\"ping\"}", -32600, "jsonrpc");
	refused("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600,
	        "id must");
	refused("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600,
	        "id must");
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", -32600, "method");
	refused("{\"jsonrpc\":\"2.0\",\"id\":1}", -32600, "not a request");
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}",
	        -32602, "params");
	assert_int_equal(json_integer_value(json_object_get(it.out[0], "id")), 1);

	assert_non_null(deep);
	memset(deep, '[', 20000);
	deep[20000] = '\0';
	refused(deep, -32700, "depth");
}

static void a_notification_is_not_answered(void **state)
{
	(void)state;
	say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
	say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	    "\"params\":{\"requestId\":99}}");
	say("{\"jsonrpc\":\"2.0\",\"method\":\"tools/list\"}");
	say("{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}");
	assert_int_equal(it.n, 0);
	assert_int_equal(it.done, 4);
}

/* ---- revisions ---- */

static void initialize_agrees_on_a_common_revision(void **state)
{
	static const char *const pairs[][2] = {
		{"2024-11-05", "2024-11-05"}, {"2025-03-26", "2025-03-26"},
		{"2025-06-18", "2025-06-18"}, {"2025-11-25", "2025-11-25"},
		{"2026-07-28", "2025-11-25"}, {"1999-01-01", "2025-11-25"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		initialize(pairs[i][0]);
		assert_string_equal(text_at(it.out[0], "result/protocolVersion"),
		                    pairs[i][1]);
		assert_string_equal(text_at(it.out[0], "result/serverInfo/name"),
		                    "dewar");
		assert_null(json_object_get(json_object_get(it.out[0], "result"),
		                            "resultType"));
	}
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}", -32602,
	        "protocolVersion");
}

static void a_batch_has_one_answer_in_revisions_with_batches(void **state)
{
	(void)state;
	refused("[]", -32600, "batch");
	initialize("2025-03-26");
	(void)ask("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},"
	          "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"},"
	          "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"no/such\"},[]]");
	assert_int_equal(json_array_size(it.out[0]), 3);
	assert_non_null(json_object_get(json_array_get(it.out[0], 0), "result"));
	assert_int_equal(code_of(json_array_get(it.out[0], 1)), -32601);
	assert_int_equal(code_of(json_array_get(it.out[0], 2)), -32600);
	forget();
	say("[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}]");
	assert_int_equal(it.n, 0);
	assert_int_equal(it.done, 1);
	initialize("2025-06-18");
	refused("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600, "batch");
}

static void an_older_revision_gets_only_the_fields_it_defines(void **state)
{
	const json_t *tool;

	(void)state;
	initialize("2024-11-05");
	(void)ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
	tool = json_array_get(json_object_get(json_object_get(it.out[0], "result"),
	                                      "tools"),
	                      0);
	assert_string_equal(text_at(tool, "name"), "code_execute");
	assert_non_null(json_object_get(tool, "inputSchema"));
	assert_null(json_object_get(tool, "outputSchema"));
	assert_null(json_object_get(tool, "annotations"));
	initialize("2025-06-18");
	(void)ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
	tool = json_array_get(json_object_get(json_object_get(it.out[0], "result"),
	                                      "tools"),
	                      1);
	assert_string_equal(text_at(tool, "name"), "command_execute");
	assert_non_null(json_object_get(tool, "outputSchema"));
}

static void a_stateless_request_needs_its_meta(void **state)
{
	(void)state;
	(void)ask(
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{" META
		"}}");
	assert_string_equal(text_at(it.out[0], "result/resultType"), "complete");
	assert_string_equal(
		text_at(json_object_get(json_object_get(json_object_get(it.out[0],
	                                                                "result"),
	                                                "_meta"),
	                                "io.modelcontextprotocol/serverInfo"),
	                "name"),
		"dewar");
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
	        "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}",
	        -32602, "clientCapabilities");
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
	        "\"io.modelcontextprotocol/protocolVersion\":\"2031-01-01\","
	        "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
	        -32022, "2031-01-01");
	assert_string_equal(text_at(it.out[0], "error/data/requested"), "2031-01-01");
	assert_int_equal(it.status[0], 400);
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{" META
	        "}}",
	        -32601, "ping");
	assert_int_equal(it.status[0], 404);
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}", -32601,
	        "discover");
	assert_int_equal(it.status[0], 200);
}

/* ---- tools ---- */

#define CALL(id, name, args)                                      \
	"{\"jsonrpc\":\"2.0\",\"id\":" id                         \
	",\"method\":\"tools/call\",\"params\":{\"name\":\"" name \
	"\",\"arguments\":" args "}}"
#define PRINT "{\"language\":\"python\",\"code\":\"print(1)\"}"

/* Checks that the tool's result is an error with this text. */
static void tool_error(const char *text, const char *why)
{
	const json_t *answer = ask(text);
	const char *got = text_at(answer, "result/content/0/text");

	if (!json_is_true(
		    json_object_get(json_object_get(answer, "result"), "isError")) ||
	    !got || !strstr(got, why))
		fail_msg("%s: %s", text, got ? got : "no text");
}

static void a_run_is_answered_when_it_ends(void **state)
{
	struct dw_task *task;
	struct dw_result *res;

	(void)state;
	say(CALL("7", "code_execute",
	         "{\"language\":\"py\",\"code\":\"print(1)\",\"stdin\":\"x\",\"args\":[\"a\"],"
	         "\"env\":{\"A\":\"b\"},\"files\":{\"a.txt\":\"hi\",\"b\":{\"base64\":\"AAE=\"}},"
	         "\"collect\":[\"*.png\"],\"timeout_s\":2.5,\"memory_mb\":64,\"network\":\"none\","
	         "\"level\":\"container\",\"pids\":null}"));
	task = fake_task_last();
	assert_non_null(task);
	assert_int_equal(it.n, 0);
	assert_string_equal(fake_task_request(task)->language, "py");
	assert_int_equal(fake_task_request(task)->limits.timeout_ms, 2500);
	assert_int_equal(fake_task_request(task)->limits.memory_bytes, 64 << 20);
	assert_int_equal(fake_task_request(task)->n_files, 2);
	assert_string_equal(fake_task_request(task)->files[0].name, "a.txt");
	assert_memory_equal(fake_task_request(task)->files[0].content.data, "hi", 2);
	assert_memory_equal(fake_task_request(task)->files[1].content.data, "\0\1", 2);

	res = fake_result("1\n", "");
	fake_result_file(res, "a b.png", "\x89PNG\r\n\x1a\n....", 12);
	fake_result_file(res, "t.csv", "a,b\n", 4);
	fake_result_file(res, "raw", "\0\1", 2);
	fake_task_end(task, res);
	assert_int_equal(it.answers, 1);
	assert_int_equal(it.done, 1);
	assert_non_null(
		strstr(text_at(it.out[0], "result/content/0/text"), "stdout:\n1\n"));
	assert_string_equal(text_at(it.out[0], "result/content/1/type"), "image");
	assert_string_equal(text_at(it.out[0], "result/content/1/mimeType"), "image/png");
	assert_string_equal(text_at(it.out[0], "result/content/2/resource/text"),
	                    "a,b\n");
	assert_string_equal(text_at(it.out[0], "result/content/3/resource/blob"), "AAE=");
	assert_string_equal(text_at(it.out[0], "result/structuredContent/status"),
	                    "success");
	assert_non_null(strstr(text_at(it.out[0], "result/structuredContent/files/0/uri"),
	                       "/files/a%20b.png"));
	assert_null(text_at(it.out[0], "result/structuredContent/files/0/data"));
	assert_true(json_is_false(
		json_object_get(json_object_get(it.out[0], "result"), "isError")));
}

static void the_result_of_a_failed_program_is_an_error(void **state)
{
	struct dw_result *res = fake_result("", "no\n");

	(void)state;
	res->status = DW_STATUS_ERROR;
	res->exit_code = 1;
	(void)snprintf(res->hint, sizeof(res->hint), "look at stderr");
	say(CALL("1", "command_execute", "{\"command\":\"false\"}"));
	fake_task_end(fake_task_last(), res);
	assert_true(json_is_true(
		json_object_get(json_object_get(it.out[0], "result"), "isError")));
	assert_string_equal(text_at(it.out[0], "result/structuredContent/status"),
	                    "error");
	assert_non_null(strstr(text_at(it.out[0], "result/content/0/text"),
	                       "hint: look at stderr"));
}

static void the_error_of_an_invalid_call_says_what_is_valid(void **state)
{
	struct dw_api_error busy = {.status = 429, .code = "busy", .retry_after_s = 3};

	(void)state;
	tool_error(CALL("1", "code_execute", "{}"), "missing argument \"language\"");
	tool_error(CALL("1", "code_execute", "{\"language\":\"python\"}"),
	           "missing argument \"code\"");
	tool_error(CALL("1", "code_execute", "{\"language\":\"klingon\",\"code\":\"\"}"),
	           "must be one of ");
	assert_non_null(strstr(text_at(it.out[0], "result/content/0/text"), "python"));
	tool_error(CALL("1", "code_execute",
	                "{\"language\":\"python\",\"code\":\"\",\"tiemout_s\":1}"),
	           "(did you mean timeout_s?)");
	tool_error(CALL("1", "code_execute",
	                "{\"language\":\"python\",\"code\":\"\",\"open_files\":1}"),
	           "open_files must be at least 8");
	tool_error(CALL("1", "code_execute",
	                "{\"language\":\"python\",\"code\":\"\",\"workspace\":\"/etc\"}"),
	           "unknown argument \"workspace\"");
	tool_error(CALL("1", "command_execute", "{\"command\":\"ls\",\"args\":[]}"),
	           "unknown argument \"args\"");
	tool_error(CALL("1", "code_execute",
	                "{\"language\":\"python\",\"code\":\"\",\"memory_mb\":\"much\"}"),
	           ": memory_mb must be a whole number");
	tool_error(
		CALL("1", "code_execute",
	             "{\"language\":\"python\",\"code\":\"\",\"level\":\"moon\"}"),
		"level must be none, process, container, docker or microvm, not \"moon\"");
	tool_error(CALL("1", "code_execute",
	                "{\"language\":\"python\",\"code\":\"\",\"files\":{\"../x\":\"\"}}"),
	           "plain relative name");
	(void)snprintf(busy.message, sizeof(busy.message), "too many runs");
	fake_task_refuse(&busy);
	tool_error(CALL("1", "code_execute", PRINT), "Retry in 3 s");
	refused(CALL("1", "no_such_tool", "{}"), -32602, "no_such_tool");
	refused(CALL("1", "code_execute", "[]"), -32602, "arguments");
}

static void a_run_that_timed_out_in_the_queue_says_so(void **state)
{
	(void)state;
	say(CALL("1", "code_execute", PRINT));
	fake_task_end(fake_task_last(), NULL);
	assert_non_null(
		strstr(text_at(it.out[0], "result/content/0/text"), "took too long"));
}

static void progress_increases_until_the_answer(void **state)
{
	double before = -1, now;

	(void)state;
	say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
	    "\"_meta\":{\"progressToken\":0},\"name\":\"code_execute\",\"arguments\":" PRINT
	    "}}");
	fake_task_started(fake_task_last());
	fake_task_output(fake_task_last(), "1\n");
	fake_task_end(fake_task_last(), fake_result("1\n", ""));
	assert_true(it.n >= 3);
	for (size_t i = 0; i + 1 < it.n; i++) {
		const json_t *params = json_object_get(it.out[i], "params");

		assert_string_equal(text_at(it.out[i], "method"),
		                    "notifications/progress");
		assert_int_equal(json_integer_value(
					 json_object_get(params, "progressToken")),
		                 0);
		now = json_number_value(json_object_get(params, "progress"));
		assert_true(now > before);
		before = now;
	}
	assert_string_equal(text_at(it.out[0], "params/message"), "queued");
	assert_string_equal(text_at(it.out[1], "params/message"), "started");
	assert_non_null(json_object_get(it.out[it.n - 1], "result"));
}

/* ---- asking the user ---- */

static const struct dw_task_approval question = {
	.id = "0123456789abcdef0123456789abcdef",
	.self = true,
	.rule = "sensitive",
	.reason = "It is code.",
};

#define ASK_ID "approval-0123456789abcdef0123456789abcdef"

static void initialize_with(const char *capabilities)
{
	char text[512];

	(void)snprintf(text, sizeof(text),
	               "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
	               "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":%s,"
	               "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}",
	               capabilities);
	(void)ask(text);
	forget();
}

static void the_answer_of_an_elicitation_decides(void **state)
{
	static const struct {
		const char *answer, *decided;
	} cases[] = {
		{"{\"action\":\"accept\",\"content\":{\"approve\":true,\"note\":\"n\"}}",
	         "yes n"},
		{"{\"action\":\"accept\",\"content\":{\"approve\":false}}", "no -"},
		{"{\"action\":\"accept\",\"content\":{\"approve\":\"true\"}}", "no -"},
		{"{\"action\":\"accept\",\"content\":[true]}", "no -"},
		{"{\"action\":\"accept\"}", "no -"},
		{"{\"action\":\"decline\",\"content\":{\"approve\":true}}", "no -"},
		{"{\"action\":7}", "no -"},
		{"{}", "no -"},
	};
	char text[512];

	(void)state;
	initialize_with("{\"elicitation\":{}}");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		say(CALL("1", "code_execute", PRINT));
		fake_task_pending(fake_task_last(), &question);
		assert_int_equal(it.n, 1);
		assert_string_equal(text_at(it.out[0], "method"), "elicitation/create");
		assert_string_equal(text_at(it.out[0], "id"), ASK_ID);
		assert_non_null(
			strstr(text_at(it.out[0], "params/message"), "sensitive"));
		(void)snprintf(text, sizeof(text),
		               "{\"jsonrpc\":\"2.0\",\"id\":\"" ASK_ID
		               "\",\"result\":%s}",
		               cases[i].answer);
		say(text);
		(void)snprintf(text, sizeof(text), "%s uid:1000 (test) %s", question.id,
		               cases[i].decided);
		assert_string_equal(fake_task_decided(), text);
		/* It was answered, so the elicitation is not cancelled. */
		fake_task_started(fake_task_last());
		fake_task_end(fake_task_last(), fake_result("1\n", ""));
		assert_int_equal(it.n, 2);
		assert_non_null(json_object_get(it.out[1], "result"));
		forget();
		fake_task_forget();
	}
}

static void elicitation_needs_the_capability_and_the_permission(void **state)
{
	struct dw_task_approval others = question;

	(void)state;
	others.self = false;
	initialize_with("{\"elicitation\":{\"url\":{}}}");
	say(CALL("1", "code_execute", PRINT));
	fake_task_pending(fake_task_last(), &question);
	initialize_with("{\"elicitation\":{\"url\":{},\"form\":{}}}");
	say(CALL("2", "code_execute", PRINT));
	fake_task_pending(fake_task_last(), &others);
	initialize_with("{}");
	say(CALL("3", "code_execute", PRINT));
	fake_task_pending(fake_task_last(), &question);
	assert_int_equal(it.n, 0);
}

static void an_elicitation_is_cancelled_when_decided_elsewhere(void **state)
{
	(void)state;
	initialize_with("{\"elicitation\":{}}");
	say(CALL("1", "code_execute", PRINT));
	fake_task_pending(fake_task_last(), &question);
	fake_task_started(fake_task_last());
	assert_int_equal(it.n, 2);
	assert_string_equal(text_at(it.out[1], "method"), "notifications/cancelled");
	assert_string_equal(text_at(it.out[1], "params/requestId"), ASK_ID);
	/* This answer is too late. */
	say("{\"jsonrpc\":\"2.0\",\"id\":\"" ASK_ID
	    "\",\"result\":{\"action\":\"accept\","
	    "\"content\":{\"approve\":true}}}");
	assert_string_equal(fake_task_decided(), "");
	fake_task_end(fake_task_last(), fake_result("1\n", ""));
}

static void another_client_cannot_answer_an_elicitation(void **state)
{
	struct dw_caller caller = {.who = "uid:1000 (test)"};
	struct dw_mcp_peer *first = it.peer;

	(void)state;
	initialize_with("{\"elicitation\":{}}");
	say(CALL("1", "code_execute", PRINT));
	fake_task_pending(fake_task_last(), &question);
	it.peer = dw_mcp_peer_create(it.mcp, &caller);
	assert_non_null(it.peer);
	say("{\"jsonrpc\":\"2.0\",\"id\":\"" ASK_ID
	    "\",\"result\":{\"action\":\"accept\","
	    "\"content\":{\"approve\":true}}}");
	assert_string_equal(fake_task_decided(), "");
	dw_mcp_peer_close(it.peer);
	it.peer = first;
}

static void a_stateless_call_ends_with_the_input_that_it_requires(void **state)
{
	(void)state;
	say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"_meta\":{"
	    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
	    "\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{}}},"
	    "\"name\":\"code_execute\",\"arguments\":" PRINT "}}");
	fake_task_pending(fake_task_last(), &question);
	assert_int_equal(it.n, 1);
	assert_int_equal(it.answers, 1);
	assert_string_equal(text_at(it.out[0], "result/resultType"), "input_required");
	assert_string_equal(text_at(it.out[0], "result/requestState"), question.id);
	assert_string_equal(text_at(it.out[0], "result/inputRequests/approval/method"),
	                    "elicitation/create");
	assert_int_equal(dw_mcp_peer_busy(it.peer), 0);
}

static void a_cancelled_run_has_no_answer(void **state)
{
	(void)state;
	say(CALL("\"a\"", "code_execute", PRINT));
	assert_int_equal(dw_mcp_peer_busy(it.peer), 1);
	say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	    "\"params\":{\"requestId\":\"b\"}}");
	assert_int_equal(dw_mcp_peer_busy(it.peer), 1);
	say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	    "\"params\":{\"requestId\":\"a\"}}");
	assert_int_equal(dw_mcp_peer_busy(it.peer), 0);
	assert_int_equal(it.n, 0);
	assert_int_equal(it.done, 3);
}

static void closing_a_connection_ends_its_runs(void **state)
{
	struct dw_caller caller = {.who = "x"};

	(void)state;
	say(CALL("1", "code_execute", PRINT));
	say(CALL("2", "code_execute", PRINT));
	dw_mcp_peer_close(it.peer);
	it.peer = dw_mcp_peer_create(it.mcp, &caller);
	assert_int_equal(it.n, 0);
	assert_int_equal(it.done, 2);
	fake_task_forget();
	assert_int_equal(fake_task_alive(), 0);
}

static void an_id_in_use_is_refused(void **state)
{
	(void)state;
	say(CALL("1", "code_execute", PRINT));
	say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	assert_int_equal(code_of(it.out[0]), -32600);
}

static void a_traceparent_is_passed_to_the_run(void **state)
{
	(void)state;
	say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
	    "\"_meta\":{\"traceparent\":\"00-ab-cd-01\"},\"name\":\"code_execute\","
	    "\"arguments\":" PRINT "}}");
	assert_string_equal(fake_task_traceparent(fake_task_last()), "00-ab-cd-01");
}

/* ---- resources ---- */

static void a_run_is_a_resource_of_its_caller(void **state)
{
	struct dw_result *res = fake_result("1\n", "");
	char text[256], id[DW_ID_MAX];

	(void)state;
	fake_result_file(res, "d/a b", "hey", 3);
	say(CALL("1", "code_execute", PRINT));
	(void)snprintf(id, sizeof(id), "%s", dw_task_id(fake_task_last()));
	fake_task_end(fake_task_last(), res);
	(void)snprintf(text, sizeof(text),
	               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\","
	               "\"params\":{\"uri\":\"dewar://runs/%s\"}}",
	               id);
	(void)ask(text);
	assert_non_null(strstr(text_at(it.out[0], "result/contents/0/text"), id));
	(void)snprintf(text, sizeof(text),
	               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\","
	               "\"params\":{\"uri\":\"dewar://runs/%s/files/d/a%%20b\"}}",
	               id);
	(void)ask(text);
	assert_string_equal(text_at(it.out[0], "result/contents/0/text"), "hey");
	(void)snprintf(text, sizeof(text),
	               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\","
	               "\"params\":{\"uri\":\"dewar://runs/%s/files/x\"}}",
	               id);
	refused(text, -32002, "unknown resource");
}

static void the_error_names_an_unknown_resource(void **state)
{
	(void)state;
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\","
	        "\"params\":{\"uri\":\"dewar://moon\"}}",
	        -32002, "dewar://moon");
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{" META
	        ",\"uri\":\"dewar://moon\"}}",
	        -32602, "dewar://moon");
	assert_string_equal(text_at(it.out[0], "error/data/uri"), "dewar://moon");
	refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\","
	        "\"params\":{\"cursor\":\"x\"}}",
	        -32602, "cursor");
}

static void the_lists_of_resources_name_what_can_be_read(void **state)
{
	(void)state;
	(void)ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}");
	assert_string_equal(text_at(it.out[0], "result/resources/0/uri"),
	                    "dewar://languages");
	(void)ask(
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/templates/list\"}");
	assert_string_equal(text_at(it.out[0], "result/resourceTemplates/0/uriTemplate"),
	                    "dewar://runs/{id}");
	(void)ask(
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" META
		"}}");
	assert_string_equal(text_at(it.out[0], "result/cacheScope"), "public");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_invalid_message_is_refused_with_its_code),
		TEST(a_notification_is_not_answered),
		TEST(initialize_agrees_on_a_common_revision),
		TEST(a_batch_has_one_answer_in_revisions_with_batches),
		TEST(an_older_revision_gets_only_the_fields_it_defines),
		TEST(a_stateless_request_needs_its_meta),
		TEST(a_run_is_answered_when_it_ends),
		TEST(the_result_of_a_failed_program_is_an_error),
		TEST(the_error_of_an_invalid_call_says_what_is_valid),
		TEST(a_run_that_timed_out_in_the_queue_says_so),
		TEST(progress_increases_until_the_answer),
		TEST(the_answer_of_an_elicitation_decides),
		TEST(elicitation_needs_the_capability_and_the_permission),
		TEST(an_elicitation_is_cancelled_when_decided_elsewhere),
		TEST(another_client_cannot_answer_an_elicitation),
		TEST(a_stateless_call_ends_with_the_input_that_it_requires),
		TEST(a_cancelled_run_has_no_answer),
		TEST(closing_a_connection_ends_its_runs),
		TEST(an_id_in_use_is_refused),
		TEST(a_traceparent_is_passed_to_the_run),
		TEST(a_run_is_a_resource_of_its_caller),
		TEST(the_error_names_an_unknown_resource),
		TEST(the_lists_of_resources_name_what_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
