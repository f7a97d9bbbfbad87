/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "daemon/service.h"
#include "mcp/mcp_own.h"

#define LANGUAGES "dewar://languages"
#define LEVELS "dewar://levels"
#define RUNS "dewar://runs/"
#define FILES "/files/"
#define JSON_TYPE "application/json"

/* For languages and levels: packages and settings of the host may change both. */
#define HOST_TTL_MS 60000

json_t *dw_mcp_resources_list(void)
{
	return json_pack("[{s:s, s:s, s:s, s:s}, {s:s, s:s, s:s, s:s}]", "uri", LANGUAGES,
	                 "name", "languages", "description",
	                 "The languages, with the versions installed on this host",
	                 "mimeType", JSON_TYPE, "uri", LEVELS, "name", "levels",
	                 "description",
	                 "The isolation levels, weakest first, and why one is unavailable",
	                 "mimeType", JSON_TYPE);
}

json_t *dw_mcp_resources_templates(void)
{
	return json_pack("[{s:s, s:s, s:s, s:s}, {s:s, s:s, s:s}]", "uriTemplate",
	                 RUNS "{id}", "name", "run", "description",
	                 "The full result of one of your runs, until it expires",
	                 "mimeType", JSON_TYPE, "uriTemplate",
	                 RUNS "{id}" FILES "{+name}", "name", "file", "description",
	                 "A file that a run returned");
}

/* ---- answering ---- */

/* Takes ownership of the contents. */
static void answer(struct dw_mcp_call *call, json_t *contents, unsigned ttl_ms,
                   bool for_all)
{
	dw_mcp_call_answer_cached(call, json_pack("{s:[o]}", "contents", contents),
	                          ttl_ms, for_all);
}

/* A NULL text means out of memory: json_pack() returns NULL for it. */
static void answer_text(struct dw_mcp_call *call, const char *uri, const char *text,
                        unsigned ttl_ms, bool for_all)
{
	answer(call,
	       json_pack("{s:s, s:s, s:s}", "uri", uri, "mimeType", JSON_TYPE, "text",
	                 text),
	       ttl_ms, for_all);
}

/* Takes ownership of the text. */
static void answer_host(struct dw_mcp_call *call, const char *uri, char *text)
{
	autofree char *owned = text;

	answer_text(call, uri, owned, HOST_TTL_MS, true);
}

static void answer_missing(struct dw_mcp_call *call, const char *uri)
{
	enum dw_mcp_code code = dw_mcp_call_is_modern(call) ? DW_MCP_PARAMS
	                                                    : DW_MCP_NO_RESOURCE;
	struct dw_mcp_problem why;

	(void)dw_mcp_refuse(&why, code, 200, json_pack("{s:s}", "uri", uri),
	                    "unknown resource %.200s", uri);
	dw_mcp_call_refuse(call, &why);
}

/* ---- runs ---- */

static const struct dw_file_out *find_file(const struct dw_result *res, const char *uri)
{
	for (size_t i = 0; res && i < res->n_files; i++) {
		autofree char *its = dw_mcp_file_uri(res->id, res->files[i].name);

		if (its && strcmp(its, uri) == 0)
			return &res->files[i];
	}
	return NULL;
}

/* Answer for a URI that ends in ID or ID/files/NAME, where ID is a run of the caller. */
static void read_run(struct dw_mcp_call *call, const char *uri)
{
	const char *rest = uri + strlen(RUNS), *slash = strchr(rest, '/');
	size_t len = slash ? (size_t)(slash - rest) : strlen(rest);
	const struct dw_file_out *file;
	struct dw_api_error why = {0};
	struct dw_task *task = NULL;
	const char *text = NULL;
	char id[DW_ID_MAX];

	if (len < sizeof(id)) {
		memcpy(id, rest, len);
		id[len] = '\0';
		task = dw_task_find(dw_mcp_call_service(call), dw_mcp_call_caller(call),
		                    id);
	}
	if (task && strcmp(dw_task_state(task), "done") == 0)
		text = dw_task_json(task);
	file = text && slash ? find_file(dw_task_result(task, &why), uri) : NULL;

	if (file)
		answer(call,
		       dw_mcp_contents(uri, dw_mcp_type(file->data, file->len),
		                       file->data, file->len),
		       0, false);
	else if (text && !slash)
		answer_text(call, uri, text, 0, false);
	else
		answer_missing(call, uri);
	dw_task_unref(task);
}

bool dw_mcp_resources_slow(const struct dw_mcp_message *msg)
{
	const char *uri = dw_mcp_text(msg->params, "uri");

	/* To list languages or levels, we start interpreters and cells. */
	return msg->method && strcmp(msg->method, "resources/read") == 0 && uri &&
	       (strcmp(uri, LANGUAGES) == 0 || strcmp(uri, LEVELS) == 0);
}

void dw_mcp_resources_read(struct dw_mcp_call *call, json_t *params)
{
	const char *uri = dw_mcp_text(params, "uri");

	if (!uri) {
		dw_mcp_call_fail(call, DW_MCP_PARAMS, 200, "params.uri must be a string");
	} else if (strcmp(uri, LANGUAGES) == 0) {
		answer_host(call, uri, dw_host_info_languages());
	} else if (strcmp(uri, LEVELS) == 0) {
		answer_host(call, uri, dw_host_info_levels());
	} else if (strncmp(uri, RUNS, strlen(RUNS)) == 0) {
		read_run(call, uri);
	} else {
		answer_missing(call, uri);
	}
}
