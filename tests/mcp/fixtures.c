/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools, prompts and resources that the official conformance suite calls by
 * name. They are linked into dewar-serve-fixtures only, which is not installed;
 * dewar-serve has mcp_extra_none.c in their place.
 */
#undef NDEBUG
#include <assert.h>
#include <nettle/hmac.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/cleanup.h"
#include "mcp/call.h"
#include "mcp/mcp_own.h"

/* One red pixel, and some silence. */
#define PNG                                                                              \
	"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQ" \
	"AAAABJRU5ErkJggg=="
#define WAV "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA="
#define SECOND_NS 1000000000L

#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define IMAGE "{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"" PNG "\"}"

static json_t *parse(const char *text)
{
	json_t *root = json_loads(text, 0, NULL);

	assert(root);
	return root;
}

static json_t *content(const char *text)
{
	return json_pack("{s:[{s:s, s:s}]}", "content", "type", "text", "text", text);
}

static void refuse(struct dw_mcp_call *call, enum dw_mcp_code code, int status,
                   json_t *data, const char *text)
{
	struct dw_mcp_problem why;

	(void)dw_mcp_refuse(&why, code, status, data, "%s", text);
	dw_mcp_call_refuse(call, &why);
}

/* ---- slow tools ---- */

struct slow {
	struct dw_mcp_call *call;
	void (*fn)(struct dw_mcp_call *call);
};

static void nap(void)
{
	(void)nanosleep(&(struct timespec){.tv_nsec = SECOND_NS / 20}, NULL);
}

static void *slow_thread(void *user)
{
	struct slow *slow = user;

	slow->fn(slow->call);
	dw_mcp_call_unref(slow->call);
	free(slow);
	return NULL;
}

static void slowly(struct dw_mcp_call *call, void (*fn)(struct dw_mcp_call *call))
{
	struct slow *slow = calloc(1, sizeof(*slow));
	pthread_t thread;

	assert(slow);
	slow->call = dw_mcp_call_ref(call);
	slow->fn = fn;
	assert(pthread_create(&thread, NULL, slow_thread, slow) == 0);
	(void)pthread_detach(thread);
}

/* A client of revision 2026-07-28 gets log messages only if its request asks for them. */
static void say(struct dw_mcp_call *call, const char *text)
{
	const json_t *meta = dw_mcp_call_message(call)->meta;

	if (dw_mcp_call_is_modern(call) && !dw_mcp_text(meta, DW_MCP_META "logLevel"))
		return;
	dw_mcp_call_send(call, json_pack("{s:s, s:{s:s, s:s}}", "method",
	                                 "notifications/message", "params", "level",
	                                 "info", "data", text));
}

static void log_thrice(struct dw_mcp_call *call)
{
	say(call, "Tool execution started");
	nap();
	say(call, "Tool processing data");
	nap();
	say(call, "Tool execution completed");
	dw_mcp_call_answer(call, content("Tool with logging executed successfully"));
}

static void call_logging(struct dw_mcp_call *call, json_t *args)
{
	(void)args;
	slowly(call, log_thrice);
}

static void make_progress(struct dw_mcp_call *call)
{
	dw_mcp_call_progress(call, 0, 100, NULL);
	nap();
	dw_mcp_call_progress(call, 50, 100, NULL);
	nap();
	dw_mcp_call_progress(call, 100, 100, NULL);
	dw_mcp_call_answer(call, content("Tool with progress executed successfully"));
}

static void call_progress(struct dw_mcp_call *call, json_t *args)
{
	(void)args;
	slowly(call, make_progress);
}

/* ---- requests to the client, until 2025-11-25 ---- */

struct asked {
	struct asked *next;
	char id[32];
	const char *prefix; /* of the tool's answer */
	struct dw_mcp_call *call;
};

static pthread_mutex_t asked_lock = PTHREAD_MUTEX_INITIALIZER;
static struct asked *asked_first;

static void ask(struct dw_mcp_call *call, const char *capability, const char *method,
                json_t *params, const char *prefix)
{
	static atomic_uint count;
	struct asked *asked;

	if (dw_mcp_call_is_modern(call) ||
	    !json_object_get(dw_mcp_call_client(call), capability)) {
		json_decref(params);
		refuse(call, DW_MCP_PARAMS, 200, NULL, "the client lacks the capability");
		return;
	}
	asked = calloc(1, sizeof(*asked));
	assert(asked);
	(void)snprintf(asked->id, sizeof(asked->id), "ask-%u", ++count);
	asked->prefix = prefix;
	asked->call = dw_mcp_call_ref(call);
	(void)pthread_mutex_lock(&asked_lock);
	asked->next = asked_first;
	asked_first = asked;
	(void)pthread_mutex_unlock(&asked_lock);
	dw_mcp_call_send(call, json_pack("{s:s, s:s, s:o}", "id", asked->id, "method",
	                                 method, "params", params));
}

static void on_response(const struct dw_mcp_message *msg)
{
	const char *id = dw_mcp_text(msg->root, "id");
	json_t *result = json_object_get(msg->root, "result");
	const char *model = dw_mcp_text(json_object_get(result, "content"), "text");
	autofree char *dump = json_dumps(json_object_get(result, "content"),
	                                 JSON_COMPACT);
	struct asked **at, *found;
	char text[1024];

	(void)pthread_mutex_lock(&asked_lock);
	for (at = &asked_first; *at && (!id || strcmp((*at)->id, id) != 0);
	     at = &(*at)->next)
		;
	found = *at;
	if (found)
		*at = found->next;
	(void)pthread_mutex_unlock(&asked_lock);
	if (!found)
		return;
	if (model)
		(void)snprintf(text, sizeof(text), "%s%s", found->prefix, model);
	else
		(void)snprintf(text, sizeof(text), "%saction=%s, content=%s",
		               found->prefix, dw_mcp_text(result, "action"),
		               dump ? dump : "{}");
	dw_mcp_call_answer(found->call, content(text));
	dw_mcp_call_unref(found->call);
	free(found);
}

static void call_sampling(struct dw_mcp_call *call, json_t *args)
{
	const char *prompt = dw_mcp_text(args, "prompt");

	ask(call, "sampling", "sampling/createMessage",
	    json_pack("{s:[{s:s, s:{s:s, s:s}}], s:i}", "messages", "role", "user",
	              "content", "type", "text", "text", prompt ? prompt : "",
	              "maxTokens", 100),
	    "LLM response: ");
}

static void elicit(struct dw_mcp_call *call, const char *message, const char *schema,
                   const char *prefix)
{
	ask(call, "elicitation", "elicitation/create",
	    json_pack("{s:s, s:o}", "message", message, "requestedSchema", parse(schema)),
	    prefix);
}

static void call_elicitation(struct dw_mcp_call *call, json_t *args)
{
	const char *message = dw_mcp_text(args, "message");

	elicit(call, message ? message : "",
	       "{\"type\":\"object\",\"properties\":{"
	       "\"username\":{\"type\":\"string\",\"description\":\"User's response\"},"
	       "\"email\":{\"type\":\"string\",\"description\":\"User's email address\"}},"
	       "\"required\":[\"username\",\"email\"]}",
	       "User response: ");
}

static void call_defaults(struct dw_mcp_call *call, json_t *args)
{
	(void)args;
	elicit(call, "Please review",
	       "{\"type\":\"object\",\"properties\":{"
	       "\"name\":{\"type\":\"string\",\"default\":\"John Doe\"},"
	       "\"age\":{\"type\":\"integer\",\"default\":30},"
	       "\"score\":{\"type\":\"number\",\"default\":95.5},"
	       "\"status\":{\"type\":\"string\",\"enum\":[\"active\",\"inactive\",\"pending\"],"
	       "\"default\":\"active\"},"
	       "\"verified\":{\"type\":\"boolean\",\"default\":true}},\"required\":[]}",
	       "Elicitation completed: ");
}

#define THREE(word) "[\"" word "1\",\"" word "2\",\"" word "3\"]"
#define TITLED(word)                                            \
	"[{\"const\":\"value1\",\"title\":\"First " word "\"}," \
	"{\"const\":\"value2\",\"title\":\"Second " word "\"}," \
	"{\"const\":\"value3\",\"title\":\"Third " word "\"}]"

static void call_enums(struct dw_mcp_call *call, json_t *args)
{
	(void)args;
	elicit(call, "Please choose",
	       "{\"type\":\"object\",\"properties\":{"
	       "\"untitledSingle\":{\"type\":\"string\",\"enum\":" THREE(
		       "option") "},"
	                         "\"titledSingle\":{\"type\":\"string\",\"oneOf\":" TITLED(
					 "Option") "},"
	                                           "\"legacyEnum\":{\"type\":\"string\",\"enum\":" THREE(
							   "opt") ","
	                                                          "\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
	                                                          "\"untitledMulti\":{\"type\":\"array\",\"items\":{\"type\":\"string\","
	                                                          "\"enum\":" THREE(
									  "option") "}},"
	                                                                            "\"titledMulti\":{\"type\":\"array\",\"items\":{\"anyOf\":" TITLED(
											    "Choice") "}}},\"required\":[]}",
	       "Elicitation completed: ");
}

/* ---- results that require input, since 2026-07-28 ---- */

struct input {
	const char *key;
	const char *capability;
	const char *request; /* JSON */
	const char *has;     /* a key that each response contains */
};

#define ELICIT(message, field, type)                                                              \
	"{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\",\"message\":\"" message \
	"\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{\"" field                    \
	"\":{\"type\":\"" type "\"}},\"required\":[\"" field "\"]}}}"
#define SAMPLE(text, tokens)                                                                   \
	"{\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[{\"role\":\"user\"," \
	"\"content\":{\"type\":\"text\",\"text\":\"" text "\"}}],\"maxTokens\":" tokens        \
	"}}"
#define ROOTS "{\"method\":\"roots/list\",\"params\":{}}"

static const struct input name_input[] = {
	{"user_name", "elicitation", ELICIT("What is your name?", "name", "string"),
         "action"},
	{0},
};
static const struct input capital_input[] = {
	{"capital_question", "sampling", SAMPLE("What is the capital of France?", "100"),
         "content"},
	{0},
};
static const struct input roots_input[] = {
	{"client_roots", "roots", ROOTS, "roots"},
	{0},
};
static const struct input confirm_input[] = {
	{"confirm", "elicitation", ELICIT("Please confirm", "ok", "boolean"), "action"},
	{0},
};
static const struct input many_inputs[] = {
	{"user_name", "elicitation", ELICIT("What is your name?", "name", "string"),
         "action"},
	{"greeting", "sampling", SAMPLE("Generate a greeting", "50"), "content"},
	{"client_roots", "roots", ROOTS, "roots"},
	{0},
};
static const struct input able_inputs[] = {
	{"name", "elicitation", ELICIT("What is your name?", "name", "string"), "action"},
	{"greeting", "sampling", SAMPLE("Generate a greeting", "50"), "content"},
	{0},
};
static const struct input first_step[] = {
	{"step1", "elicitation", ELICIT("Step 1: What is your name?", "name", "string"),
         "action"},
	{0},
};
static const struct input second_step[] = {
	{"step2", "elicitation",
         ELICIT("Step 2: What is your favorite color?", "color", "string"), "action"},
	{0},
};
static const struct input context_input[] = {
	{"user_context", "elicitation",
         ELICIT("What context should the prompt use?", "context", "string"), "action"},
	{0},
};

/* "TEXT.HMAC": the client cannot change it without being detected. */
static void seal(const char *text, char *ret, size_t size)
{
	static uint8_t key[32];
	static atomic_bool made;
	struct hmac_sha256_ctx ctx;
	uint8_t digest[SHA256_DIGEST_SIZE];
	size_t at;

	if (!atomic_exchange(&made, true))
		assert(getrandom(key, sizeof(key), 0) == sizeof(key));
	hmac_sha256_set_key(&ctx, sizeof(key), key);
	hmac_sha256_update(&ctx, strlen(text), (const uint8_t *)text);
	hmac_sha256_digest(&ctx, sizeof(digest), digest);
	at = (size_t)snprintf(ret, size, "%s.", text);
	for (size_t i = 0; i < sizeof(digest); i++)
		at += (size_t)snprintf(ret + at, size - at, "%02x", digest[i]);
}

static bool is_sealed(const char *sealed, const char *text)
{
	char want[256];

	seal(text, want, sizeof(want));
	return strcmp(sealed, want) == 0;
}

/* A result that asks for the missing inputs, or NULL if all are present. */
static json_t *missing(struct dw_mcp_call *call, const struct input *inputs,
                       const json_t *responses, const char *state)
{
	json_t *requests = json_object(), *result;
	char sealed[256];

	for (; inputs->key; inputs++) {
		if (json_object_get(json_object_get(responses, inputs->key), inputs->has))
			continue;
		if (json_object_get(dw_mcp_call_client(call), inputs->capability))
			(void)json_object_set_new(requests, inputs->key,
			                          parse(inputs->request));
	}
	if (json_object_size(requests) == 0) {
		json_decref(requests);
		return NULL;
	}
	result = json_pack("{s:s, s:o}", "resultType", "input_required", "inputRequests",
	                   requests);
	if (state) {
		seal(state, sealed, sizeof(sealed));
		(void)json_object_set_new(result, "requestState", json_string(sealed));
	}
	return result;
}

/* Stores the responses, or NULL if the call has no responses; false if they are invalid. */
static bool read_responses(struct dw_mcp_call *call, const json_t **ret)
{
	const json_t *responses = json_object_get(dw_mcp_call_message(call)->params,
	                                          "inputResponses");

	*ret = responses;
	if (!responses || json_is_object(responses))
		return true;
	refuse(call, DW_MCP_PARAMS, 200, NULL, "inputResponses must be an object");
	return false;
}

static void answer_inputs(struct dw_mcp_call *call, const struct input *inputs,
                          const char *state, const char *text)
{
	const char *sealed = dw_mcp_text(dw_mcp_call_message(call)->params,
	                                 "requestState");
	const json_t *responses;
	json_t *result;

	if (!read_responses(call, &responses))
		return;
	if (state && sealed && !is_sealed(sealed, state)) {
		refuse(call, DW_MCP_PARAMS, 200, NULL, "requestState is not ours");
		return;
	}
	result = missing(call, inputs, state && !sealed ? NULL : responses, state);
	dw_mcp_call_answer(call, result ? result : content(text));
}

static void call_input_elicitation(struct dw_mcp_call *call, json_t *args)
{
	(void)args;
	answer_inputs(call, name_input, NULL, "Hello!");
}

static void call_input_sampling(struct dw_mcp_call *call, json_t *args)
{
	(void)args;
	answer_inputs(call, capital_input, NULL, "Paris, it says");
}

static void call_input_roots(struct dw_mcp_call *call, json_t *args)
{
	(void)args;
	answer_inputs(call, roots_input, NULL, "Thank you for the roots");
}

static void call_input_state(struct dw_mcp_call *call, json_t *args)
{
	(void)args;
	answer_inputs(call, confirm_input, "confirm", "state-ok");
}

static void call_input_many(struct dw_mcp_call *call, json_t *args)
{
	(void)args;
	answer_inputs(call, many_inputs, "many", "All there");
}

static void call_input_able(struct dw_mcp_call *call, json_t *args)
{
	(void)args;
	answer_inputs(call, able_inputs, NULL, "Nothing to ask");
}

static void call_input_rounds(struct dw_mcp_call *call, json_t *args)
{
	const char *sealed = dw_mcp_text(dw_mcp_call_message(call)->params,
	                                 "requestState");
	const json_t *responses;
	json_t *result = NULL;

	(void)args;
	if (!read_responses(call, &responses))
		return;
	if (!sealed) {
		result = missing(call, first_step, NULL, "step1");
	} else if (is_sealed(sealed, "step1")) {
		result = missing(call, first_step, responses, "step1");
		if (!result)
			result = missing(call, second_step, NULL, "step2");
	} else if (is_sealed(sealed, "step2")) {
		result = missing(call, second_step, responses, "step2");
	} else {
		refuse(call, DW_MCP_PARAMS, 200, NULL, "requestState is not ours");
		return;
	}
	dw_mcp_call_answer(call, result ? result : content("Done"));
}

static void call_needs_sampling(struct dw_mcp_call *call, json_t *args)
{
	(void)args;
	if (json_object_get(dw_mcp_call_client(call), "sampling"))
		dw_mcp_call_answer(call, content("The client can do it"));
	else
		refuse(call, DW_MCP_CAPABILITY, 400,
		       json_pack("{s:{s:{}}}", "requiredCapabilities", "sampling"),
		       "this needs sampling");
}

/* ---- tools ---- */

/* Tools whose result is always the same. */
static const struct {
	const char *name;
	const char *result;
} fixed[] = {
	{"test_simple_text",
         "{\"content\":[" TEXT("This is a simple text response for testing.") "]}"},
	{"test_image_content", "{\"content\":[" IMAGE "]}"},
	{"test_audio_content",
         "{\"content\":[{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"" WAV
         "\"}]}"},
	{"test_embedded_resource",
         "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"test://embedded-resource\","
         "\"mimeType\":\"text/plain\",\"text\":\"This is an embedded resource content.\"}}]}"},
	{"test_multiple_content_types",
         "{\"content\":[" TEXT(
		 "Multiple content types test:") "," IMAGE
                                                 ",{\"type\":\"resource\",\"resource\":{\"uri\":\"test://mixed-content-resource\","
                                                 "\"mimeType\":\"application/json\","
                                                 "\"text\":\"{\\\"test\\\":\\\"data\\\",\\\"value\\\":123}\"}}]}"},
	{"test_error_handling",
         "{\"isError\":true,\"content\":[" TEXT(
		 "This tool intentionally returns an error for testing") "]}"},
};

static void call_fixed(struct dw_mcp_call *call, json_t *args)
{
	const char *name = dw_mcp_text(dw_mcp_call_message(call)->params, "name");

	(void)args;
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (strcmp(fixed[i].name, name) == 0)
			dw_mcp_call_answer(call, parse(fixed[i].result));
}

static json_t *describe(const char *name, const char *schema)
{
	return json_pack("{s:s, s:s, s:o}", "name", name, "description",
	                 "For the conformance suite", "inputSchema", parse(schema));
}

#define NO_ARGS "{\"type\":\"object\",\"properties\":{}}"
#define ONE_ARG(name)                                                               \
	"{\"type\":\"object\",\"properties\":{\"" name "\":{\"type\":\"string\"}}," \
	"\"required\":[\"" name "\"]}"

#define DESCRIBE(name, schema)                  \
	static json_t *describe_##name(void)    \
	{                                       \
		return describe(#name, schema); \
	}

DESCRIBE(test_simple_text, NO_ARGS)
DESCRIBE(test_image_content, NO_ARGS)
DESCRIBE(test_audio_content, NO_ARGS)
DESCRIBE(test_embedded_resource, NO_ARGS)
DESCRIBE(test_multiple_content_types, NO_ARGS)
DESCRIBE(test_error_handling, NO_ARGS)
DESCRIBE(test_tool_with_logging, NO_ARGS)
DESCRIBE(test_logging_tool, NO_ARGS)
DESCRIBE(test_tool_with_progress, NO_ARGS)
DESCRIBE(test_sampling, ONE_ARG("prompt"))
DESCRIBE(test_elicitation, ONE_ARG("message"))
DESCRIBE(test_elicitation_sep1034_defaults, NO_ARGS)
DESCRIBE(test_elicitation_sep1330_enums, NO_ARGS)
DESCRIBE(test_missing_capability, NO_ARGS)
DESCRIBE(test_streaming_elicitation, NO_ARGS)
DESCRIBE(test_input_required_result_elicitation, NO_ARGS)
DESCRIBE(test_input_required_result_sampling, NO_ARGS)
DESCRIBE(test_input_required_result_list_roots, NO_ARGS)
DESCRIBE(test_input_required_result_request_state, NO_ARGS)
DESCRIBE(test_input_required_result_multiple_inputs, NO_ARGS)
DESCRIBE(test_input_required_result_multi_round, NO_ARGS)
DESCRIBE(test_input_required_result_tampered_state, NO_ARGS)
DESCRIBE(test_input_required_result_capabilities, NO_ARGS)

#define TOOL(name, fn)                     \
	{                                  \
#name, describe_##name, fn \
	}

static const struct dw_mcp_tool tools[] = {
	TOOL(test_simple_text, call_fixed),
	TOOL(test_image_content, call_fixed),
	TOOL(test_audio_content, call_fixed),
	TOOL(test_embedded_resource, call_fixed),
	TOOL(test_multiple_content_types, call_fixed),
	TOOL(test_error_handling, call_fixed),
	TOOL(test_tool_with_logging, call_logging),
	TOOL(test_logging_tool, call_logging),
	TOOL(test_tool_with_progress, call_progress),
	TOOL(test_sampling, call_sampling),
	TOOL(test_elicitation, call_elicitation),
	TOOL(test_elicitation_sep1034_defaults, call_defaults),
	TOOL(test_elicitation_sep1330_enums, call_enums),
	TOOL(test_missing_capability, call_needs_sampling),
	TOOL(test_streaming_elicitation, call_input_elicitation),
	TOOL(test_input_required_result_elicitation, call_input_elicitation),
	TOOL(test_input_required_result_sampling, call_input_sampling),
	TOOL(test_input_required_result_list_roots, call_input_roots),
	TOOL(test_input_required_result_request_state, call_input_state),
	TOOL(test_input_required_result_multiple_inputs, call_input_many),
	TOOL(test_input_required_result_multi_round, call_input_rounds),
	TOOL(test_input_required_result_tampered_state, call_input_state),
	TOOL(test_input_required_result_capabilities, call_input_able),
	{0},
};

/* ---- prompts ---- */

#define ARGUMENT(name) "{\"name\":\"" name "\",\"description\":\"x\",\"required\":true}"
#define PROMPT(name, arguments)                                                      \
	"{\"name\":\"" name                                                          \
	"\",\"description\":\"For the conformance suite\",\"arguments\":[" arguments \
	"]}"

static void list_prompts(struct dw_mcp_call *call, json_t *params)
{
	(void)params;
	dw_mcp_call_answer_cached(
		call,
		parse("{\"prompts\":[" PROMPT("test_simple_prompt", "") "," PROMPT(
			"test_prompt_with_arguments",
			ARGUMENT("arg1") "," ARGUMENT(
				"arg2")) "," PROMPT("test_prompt_with_embedded_resource",
	                                            ARGUMENT(
							    "resourceUri")) "," PROMPT("test_prompt_with_image",
	                                                                               "") "," PROMPT("test_input_required_result_prompt",
	                                                                                              "") "]}"),
		1000, true);
}

static json_t *user_says(json_t *what)
{
	return json_pack("{s:s, s:o}", "role", "user", "content", what);
}

static json_t *user_text(const char *text)
{
	return user_says(json_pack("{s:s, s:s}", "type", "text", "text", text));
}

static void get_prompt(struct dw_mcp_call *call, json_t *params)
{
	const char *name = dw_mcp_text(params, "name");
	const json_t *args = json_object_get(params, "arguments"), *responses;
	const char *one = dw_mcp_text(args, "arg1"), *two = dw_mcp_text(args, "arg2");
	const char *uri = dw_mcp_text(args, "resourceUri");
	json_t *messages = NULL, *more;
	char text[512];

	if (name && strcmp(name, "test_input_required_result_prompt") == 0) {
		if (!read_responses(call, &responses))
			return;
		more = missing(call, context_input, responses, NULL);
		if (more) {
			dw_mcp_call_answer(call, more);
			return;
		}
		messages = json_pack("[o]", user_text("With context"));
	} else if (name && strcmp(name, "test_simple_prompt") == 0) {
		messages = json_pack("[o]",
		                     user_text("This is a simple prompt for testing."));
	} else if (name && strcmp(name, "test_prompt_with_arguments") == 0 && one &&
	           two) {
		(void)snprintf(text, sizeof(text),
		               "Prompt with arguments: arg1='%s', arg2='%s'", one, two);
		messages = json_pack("[o]", user_text(text));
	} else if (name && strcmp(name, "test_prompt_with_embedded_resource") == 0 &&
	           uri) {
		messages = json_pack(
			"[o, o]",
			user_says(json_pack("{s:s, s:{s:s, s:s, s:s}}", "type",
		                            "resource", "resource", "uri", uri,
		                            "mimeType", "text/plain", "text",
		                            "Embedded resource content for testing.")),
			user_text("Please process the embedded resource above."));
	} else if (name && strcmp(name, "test_prompt_with_image") == 0) {
		messages = json_pack("[o, o]", user_says(parse(IMAGE)),
		                     user_text("Please analyze the image above."));
	}
	if (messages)
		dw_mcp_call_answer(call, json_pack("{s:o}", "messages", messages));
	else
		refuse(call, DW_MCP_PARAMS, 200, NULL,
		       "no such prompt, or arguments missing");
}

static void complete(struct dw_mcp_call *call, json_t *params)
{
	(void)params;
	dw_mcp_call_answer(call, parse("{\"completion\":{\"values\":[\"paris\",\"park\","
	                               "\"party\"],\"total\":3,\"hasMore\":false}}"));
}

/* ---- resources ---- */

static void list_resources(struct dw_mcp_call *call, json_t *params)
{
	json_t *list = dw_mcp_resources_list();
	json_t *more = parse(
		"[{\"uri\":\"test://static-text\",\"name\":\"text\"},"
		"{\"uri\":\"test://static-binary\",\"name\":\"binary\"},"
		"{\"uri\":\"test://watched-resource\",\"name\":\"watched\"}]");

	(void)params;
	(void)json_array_extend(list, more);
	json_decref(more);
	dw_mcp_call_answer_cached(call, json_pack("{s:o}", "resources", list), 1000,
	                          true);
}

static void list_templates(struct dw_mcp_call *call, json_t *params)
{
	json_t *list = dw_mcp_resources_templates();

	(void)params;
	(void)json_array_append_new(list,
	                            parse("{\"uriTemplate\":\"test://template/{id}/data\","
	                                  "\"name\":\"template\"}"));
	dw_mcp_call_answer_cached(call, json_pack("{s:o}", "resourceTemplates", list),
	                          1000, true);
}

static void read_resource(struct dw_mcp_call *call, json_t *params)
{
	const char *uri = dw_mcp_text(params, "uri");
	json_t *found = NULL;
	char id[64], text[256];
	int end = 0;

	if (uri && strcmp(uri, "test://static-binary") == 0) {
		found = json_pack("{s:s, s:s, s:s}", "uri", uri, "mimeType", "image/png",
		                  "blob", PNG);
	} else if (uri && (strcmp(uri, "test://static-text") == 0 ||
	                   strcmp(uri, "test://watched-resource") == 0)) {
		found = json_pack("{s:s, s:s, s:s}", "uri", uri, "mimeType", "text/plain",
		                  "text",
		                  "This is the content of the static text resource.");
	} else if (uri && sscanf(uri, "test://template/%63[^/]/data%n", id, &end) == 1 &&
	           end > 0 && uri[end] == '\0') {
		(void)snprintf(text, sizeof(text),
		               "{\"id\":\"%s\",\"templateTest\":true,\"data\":\"Data for ID: "
		               "%s\"}",
		               id, id);
		found = json_pack("{s:s, s:s, s:s}", "uri", uri, "mimeType",
		                  "application/json", "text", text);
	}
	if (found)
		dw_mcp_call_answer_cached(call, json_pack("{s:[o]}", "contents", found),
		                          1000, true);
	else
		dw_mcp_resources_read(call, params);
}

static void take_note(struct dw_mcp_call *call, json_t *params)
{
	(void)params;
	dw_mcp_call_answer(call, json_object());
}

static const struct dw_mcp_method methods[] = {
	{"prompts/list", DW_MCP_BOTH, list_prompts},
	{"prompts/get", DW_MCP_BOTH, get_prompt},
	{"completion/complete", DW_MCP_BOTH, complete},
	{"resources/list", DW_MCP_BOTH, list_resources},
	{"resources/templates/list", DW_MCP_BOTH, list_templates},
	{"resources/read", DW_MCP_BOTH, read_resource},
	{"resources/subscribe", DW_MCP_LEGACY, take_note},
	{"resources/unsubscribe", DW_MCP_LEGACY, take_note},
	{"logging/setLevel", DW_MCP_LEGACY, take_note},
	{0},
};

static void capabilities(json_t *object, bool modern)
{
	(void)json_object_set_new(object, "prompts", json_object());
	(void)json_object_set_new(object, "completions", json_object());
	(void)json_object_set_new(object, "logging", json_object());
	if (!modern)
		(void)json_object_set_new(json_object_get(object, "resources"),
		                          "subscribe", json_true());
}

const struct dw_mcp_extra dw_mcp_extra = {
	.methods = methods,
	.tools = tools,
	.capabilities = capabilities,
	.response = on_response,
};
