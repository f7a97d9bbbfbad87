/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input: messages of a client, one per line. Each sink's done() is called once; each request
 * has one answer, with its id, and no other message has an answer.
 */
#undef NDEBUG
#include "mcp/mcp.h"

#include "base/cleanup.h"
#include "fakes/fake_task.h"
#include "fuzz/fuzz.h"

struct heard {
	json_t *id; /* of a request; otherwise NULL */
	bool batch;
	unsigned answers, done;
};

static void check_answer(const struct heard *heard, const json_t *root)
{
	const json_t *error = json_object_get(root, "error");

	assert(heard->id && heard->answers == 0);
	assert(json_equal(json_object_get(root, "id"), heard->id));
	assert((error != NULL) != (json_object_get(root, "result") != NULL));
	if (error) {
		assert(json_integer_value(json_object_get(error, "code")) < -31999);
		assert(json_string_length(json_object_get(error, "message")) > 0);
	}
}

static void on_send(void *user, struct dw_mcp_out *out)
{
	struct heard *heard = user;
	json_t *root = json_loadb(out->text, out->len,
	                          JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);

	assert(root && !memchr(out->text, '\n', out->len));
	assert(heard->done == 0 && strlen(out->text) == out->len);
	if (out->answer) {
		if (!heard->batch)
			check_answer(heard, root);
		else
			assert(json_array_size(root) > 0 ||
			       json_object_get(root, "error"));
		heard->answers++;
	} else {
		assert(heard->answers == 0);
		assert(strcmp(json_string_value(json_object_get(root, "method")),
		              "notifications/progress") == 0);
	}
	json_decref(root);
	free(out->text);
}

static void on_done(void *user)
{
	((struct heard *)user)->done++;
}

/* Returns true for a message that would start every interpreter and level of this host. */
static bool asks_the_host(const struct dw_mcp_message *msg)
{
	autofree char *text = json_dumps(msg->root, JSON_ENCODE_ANY);

	return text && strstr(text, "dewar://l");
}

static void take(struct dw_mcp_peer *peer, const char *line, size_t len)
{
	struct heard heard = {0};
	struct dw_mcp_sink sink = {.send = on_send, .done = on_done, .user = &heard};
	struct dw_mcp_message *msg = NULL;
	char *error = NULL;

	if (dw_mcp_parse(line, len, &msg, &error) < 0) {
		json_t *root = error ? json_loads(error, 0, NULL) : NULL;

		assert(!msg && root && json_object_get(root, "error"));
		json_decref(root);
		free(error);
		return;
	}
	assert((msg->kind == DW_MCP_IS_REQUEST) == (msg->id != NULL && msg->method));
	heard.batch = msg->kind == DW_MCP_IS_BATCH;
	if (asks_the_host(msg)) {
		dw_mcp_message_free(msg);
		return;
	}
	if (msg->kind == DW_MCP_IS_REQUEST)
		heard.id = json_deep_copy(msg->id);
	dw_mcp_peer_take(peer, msg, &sink);
	assert(heard.done == 1);
	assert(heard.batch ? heard.answers <= 1 : heard.answers == (heard.id != NULL));
	json_decref(heard.id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct dw_caller caller = {.who = "fuzz"};
	struct fuzz_input in = {data, size};
	struct dw_mcp *mcp = dw_mcp_create(NULL);
	struct dw_mcp_peer *peer = dw_mcp_peer_create(mcp, &caller);
	const uint8_t *end;
	char *line;
	size_t len;

	assert(mcp && peer);
	fake_task_at_once(true);
	while (in.size > 0) {
		end = memchr(in.data, '\n', in.size);
		line = fuzz_copy(&in, end ? (size_t)(end - in.data) : in.size, &len);
		if (end)
			(void)fuzz_byte(&in);
		take(peer, line, len);
		free(line);
	}
	assert(dw_mcp_peer_busy(peer) == 0);
	dw_mcp_peer_close(peer);
	dw_mcp_free(mcp);
	fake_task_forget();
	assert(fake_task_alive() == 0);
	return 0;
}
