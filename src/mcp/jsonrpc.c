/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/jsonrpc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error_json.h"

/* jansson itself refuses JSON that is nested more than 2048 deep. */
#define READ_FLAGS (JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY)

/* A double is exact to 15 digits: 1.9 stays 1.9. */
#define DUMP_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(15))

int dw_mcp_refuse(struct dw_mcp_problem *ret, enum dw_mcp_code code, int status,
                  json_t *data, const char *fmt, ...)
{
	va_list ap;

	*ret = (struct dw_mcp_problem){.code = code, .status = status, .data = data};
	va_start(ap, fmt);
	(void)vsnprintf(ret->text, sizeof(ret->text), fmt, ap);
	va_end(ap);
	return -1;
}

char *dw_mcp_dump(const json_t *root)
{
	return root ? json_dumps(root, DUMP_FLAGS) : NULL;
}

char *dw_mcp_error(const json_t *id, const struct dw_mcp_problem *problem)
{
	json_auto_t *root = json_pack("{s:s, s:O?, s:{s:i, s:o, s:O*}}", "jsonrpc", "2.0",
	                              "id", id, "error", "code", (int)problem->code,
	                              "message",
	                              dw_json_text(problem->text, strlen(problem->text)),
	                              "data", problem->data);

	return dw_mcp_dump(root);
}

const char *dw_mcp_text(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);
	const char *text = json_string_value(value);

	return text && strlen(text) == json_string_length(value) ? text : NULL;
}

bool dw_mcp_is_legacy(const char *version)
{
	static const char *const known[] = {
		DW_MCP_2024_11_05,
		DW_MCP_2025_03_26,
		DW_MCP_2025_06_18,
		DW_MCP_2025_11_25,
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(version, known[i]) == 0)
			return true;
	return false;
}

void dw_mcp_message_free(struct dw_mcp_message *msg)
{
	if (!msg)
		return;
	json_decref(msg->root);
	free(msg);
}

static bool is_id(const json_t *id)
{
	return json_is_string(id) || json_is_integer(id);
}

/* Check the message, and set its kind and parts. */
static int classify(struct dw_mcp_message *msg, struct dw_mcp_problem *why)
{
	const json_t *root = msg->root, *id = json_object_get(root, "id");
	const json_t *method = json_object_get(root, "method");
	const char *version = dw_mcp_text(root, "jsonrpc");
	bool has_result = json_object_get(root, "result") != NULL;
	bool has_error = json_object_get(root, "error") != NULL;

	if (is_id(id))
		msg->id = id;
	if (!json_is_object(root))
		return dw_mcp_refuse(why, DW_MCP_REQUEST, 400, NULL,
		                     "a message must be a JSON object");
	if (!version || strcmp(version, "2.0") != 0)
		return dw_mcp_refuse(why, DW_MCP_REQUEST, 400, NULL,
		                     "jsonrpc must be \"2.0\"");
	if (id && !msg->id && !(has_error && json_is_null(id)))
		return dw_mcp_refuse(why, DW_MCP_REQUEST, 400, NULL,
		                     "id must be a string or an integer");
	if (!method) {
		if (has_result == has_error || !id)
			return dw_mcp_refuse(
				why, DW_MCP_REQUEST, 400, NULL,
				"the message is not a request, a notification or a "
				"response");
		msg->kind = DW_MCP_IS_RESPONSE;
		return 0;
	}
	msg->method = dw_mcp_text(root, "method");
	if (!msg->method || has_result || has_error)
		return dw_mcp_refuse(
			why, DW_MCP_REQUEST, 400, NULL,
			"a message without result or error must have a method, a string");
	msg->kind = msg->id ? DW_MCP_IS_REQUEST : DW_MCP_IS_NOTIFICATION;
	msg->params = json_object_get(root, "params");
	if (msg->params && !json_is_object(msg->params))
		return dw_mcp_refuse(why, DW_MCP_PARAMS, 400, NULL,
		                     "params must be an object");
	msg->meta = json_object_get(msg->params, "_meta");
	if (!json_is_object(msg->meta))
		msg->meta = NULL;
	msg->version = dw_mcp_text(msg->meta, DW_MCP_META "protocolVersion");
	return 0;
}

int dw_mcp_message_of(json_t *root, struct dw_mcp_message **ret, char **ret_error)
{
	struct dw_mcp_message *msg = calloc(1, sizeof(*msg));
	struct dw_mcp_problem why = {0};

	*ret_error = NULL;
	if (!msg) {
		json_decref(root);
		return -1;
	}
	msg->root = root;
	if (classify(msg, &why) < 0) {
		*ret_error = dw_mcp_error(msg->id, &why);
		dw_mcp_message_free(msg);
		return -1;
	}
	*ret = msg;
	return 0;
}

static int take_batch(json_t *root, struct dw_mcp_message **ret, char **ret_error)
{
	struct dw_mcp_message *msg = NULL;
	size_t n = json_array_size(root);
	struct dw_mcp_problem why;

	if (n > 0 && n <= DW_MCP_BATCH_MAX)
		msg = calloc(1, sizeof(*msg));
	if (!msg) {
		(void)dw_mcp_refuse(&why, DW_MCP_REQUEST, 400, NULL,
		                    "a batch must have 1 to %d messages",
		                    DW_MCP_BATCH_MAX);
		*ret_error = dw_mcp_error(NULL, &why);
		json_decref(root);
		return -1;
	}
	msg->root = root;
	msg->kind = DW_MCP_IS_BATCH;
	*ret = msg;
	return 0;
}

int dw_mcp_parse(const char *text, size_t len, struct dw_mcp_message **ret,
                 char **ret_error)
{
	struct dw_mcp_problem why;
	json_error_t bad;
	json_t *root;

	root = json_loadb(text, len, READ_FLAGS, &bad);
	if (!root) {
		(void)dw_mcp_refuse(&why, DW_MCP_PARSE, 400, NULL,
		                    "not valid JSON: line %d, column %d: %s", bad.line,
		                    bad.column, bad.text);
		*ret_error = dw_mcp_error(NULL, &why);
		return -1;
	}
	return json_is_array(root) ? take_batch(root, ret, ret_error)
	                           : dw_mcp_message_of(root, ret, ret_error);
}
