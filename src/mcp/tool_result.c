/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error_json.h"
#include "base/utf8.h"
#include "mcp/mcp_own.h"

/*
 * A tool's result has three parts. The text is for models. The structured content is
 * for programs: the JSON result of the run, without the bytes of files, which are in the
 * content as images or embedded resources. isError is true unless the run succeeded,
 * even if only the program failed, so that a model looks at it again.
 */

static const char schema[] =
	"{\"type\":\"object\",\"properties\":{"
	"\"id\":{\"type\":\"string\",\"description\":\"the resource dewar://runs/{id} returns this result again\"},"
	"\"status\":{\"type\":\"string\","
	"\"enum\":[\"success\",\"error\",\"timeout\",\"resource_exceeded\"]},"
	"\"reason\":{\"type\":\"string\",\"description\":\"The cause of the status: exit, signal, "
	"timeout_wall, oom, ...\"},"
	"\"hint\":{\"type\":[\"string\",\"null\"],\"description\":\"What to change, unless the "
	"run succeeded\"},"
	"\"exit_code\":{\"type\":[\"integer\",\"null\"]},"
	"\"signal\":{\"type\":[\"integer\",\"null\"]},"
	"\"stdout\":{\"type\":\"string\"},"
	"\"stderr\":{\"type\":\"string\"},"
	"\"stdout_truncated\":{\"type\":\"boolean\"},"
	"\"stderr_truncated\":{\"type\":\"boolean\"},"
	"\"results\":{\"type\":\"array\"},"
	"\"files\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
	"\"name\":{\"type\":\"string\"},\"size\":{\"type\":\"integer\"},"
	"\"mime_type\":{\"type\":\"string\"},\"uri\":{\"type\":\"string\"}},"
	"\"required\":[\"name\",\"size\",\"mime_type\",\"uri\"]},"
	"\"description\":\"The collected files; their bytes are in the content\"},"
	"\"execution_time_ms\":{\"type\":[\"number\",\"null\"]},"
	"\"cpu_time_ms\":{\"type\":[\"number\",\"null\"]},"
	"\"memory_used_mb\":{\"type\":[\"number\",\"null\"]},"
	"\"warnings\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
	"\"findings\":{\"type\":\"array\",\"items\":{\"type\":\"object\"},"
	"\"description\":\"The findings of static analysis\"},"
	"\"proof\":{\"type\":\"object\",\"description\":\"The walls and limits that were in "
	"place\"},"
	"\"metadata\":{\"type\":\"object\"}},"
	"\"required\":[\"id\",\"status\",\"reason\",\"hint\",\"exit_code\",\"stdout\","
	"\"stderr\",\"files\"]}";

json_t *dw_mcp_result_schema(void)
{
	return json_loads(schema, 0, NULL);
}

/* Returns the type of an image that models accept, by its first bytes; else NULL. */
static const char *image_type(const void *data, size_t len)
{
	static const struct {
		const char *type;
		const char *head;
		size_t len;
	} known[] = {
		{"image/png", "\x89PNG\r\n\x1a\n", 8},
		{"image/jpeg", "\xff\xd8\xff", 3},
		{"image/gif", "GIF87a", 6},
		{"image/gif", "GIF89a", 6},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (len >= known[i].len && memcmp(data, known[i].head, known[i].len) == 0)
			return known[i].type;
	if (len >= 12 && memcmp(data, "RIFF", 4) == 0 &&
	    memcmp((const char *)data + 8, "WEBP", 4) == 0)
		return "image/webp";
	return NULL;
}

static bool is_text(const void *data, size_t len)
{
	return len == 0 || (!memchr(data, '\0', len) && dw_utf8_valid(data, len));
}

const char *dw_mcp_type(const void *data, size_t len)
{
	const char *image = image_type(data, len);

	if (image)
		return image;
	return is_text(data, len) ? "text/plain" : "application/octet-stream";
}

char *dw_mcp_file_uri(const char *id, const char *name)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789-._~/";
	autobuf struct dw_buf buf;

	dw_buf_init(&buf, 65536);
	(void)dw_buf_printf(&buf, "dewar://runs/%s/files/", id);
	for (; *name != '\0'; name++)
		(void)dw_buf_printf(&buf, strchr(plain, *name) ? "%c" : "%%%02X",
		                    (unsigned char)*name);
	return buf.failed ? NULL : dw_buf_take(&buf, NULL);
}

json_t *dw_mcp_contents(const char *uri, const char *type, const void *data, size_t len)
{
	autofree char *blob = NULL;

	if (is_text(data, len))
		return json_pack("{s:s, s:s, s:o}", "uri", uri, "mimeType", type, "text",
		                 json_stringn_nocheck(len > 0 ? data : "", len));
	blob = dw_base64_encode(data, len, NULL);
	return blob ? json_pack("{s:s, s:s, s:s}", "uri", uri, "mimeType", type, "blob",
	                        blob)
	            : NULL;
}

static json_t *make_block(const struct dw_file_out *file, const char *uri)
{
	const char *image = image_type(file->data, file->len);
	autofree char *data = NULL;

	if (!image)
		return json_pack("{s:s, s:o}", "type", "resource", "resource",
		                 dw_mcp_contents(uri, dw_mcp_type(file->data, file->len),
		                                 file->data, file->len));
	data = dw_base64_encode(file->data, file->len, NULL);
	return data ? json_pack("{s:s, s:s, s:s}", "type", "image", "data", data,
	                        "mimeType", image)
	            : NULL;
}

static json_t *make_text(const char *text)
{
	return json_pack("{s:s, s:o}", "type", "text", "text",
	                 text ? dw_json_text(text, strlen(text)) : NULL);
}

/* Add a content block and an entry of the structured content per file. */
static int add_files(const struct dw_result *res, json_t *content, json_t *list)
{
	for (size_t i = 0; i < res->n_files; i++) {
		const struct dw_file_out *file = &res->files[i];
		autofree char *uri = dw_mcp_file_uri(res->id, file->name);
		json_t *entry;

		if (!uri || json_array_append_new(content, make_block(file, uri)) < 0)
			return -1;
		entry = json_pack("{s:o, s:I, s:s, s:s}", "name",
		                  dw_json_text(file->name, strlen(file->name)), "size",
		                  (json_int_t)file->len, "mime_type",
		                  dw_mcp_type(file->data, file->len), "uri", uri);
		if (json_array_append_new(list, entry) < 0)
			return -1;
	}
	return 0;
}

/* Returns the run's JSON result, with another list of files. */
static json_t *structure(const struct dw_task *task, json_t *files)
{
	const char *text = dw_task_json(task);
	json_auto_t *root = text ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;

	return root && json_object_set(root, "files", files) == 0 ? json_incref(root)
	                                                          : NULL;
}

json_t *dw_mcp_result_make(const struct dw_task *task, bool structured)
{
	json_auto_t *content = json_array(), *files = json_array(), *result = NULL;
	struct dw_api_error why = {0};
	const struct dw_result *res = dw_task_result(task, &why);
	autofree char *text = NULL;

	if (!res)
		return dw_mcp_result_refused(&why);
	text = dw_result_to_text(res);
	if (json_array_append_new(content, make_text(text)) < 0 ||
	    add_files(res, content, files) < 0)
		return NULL;
	result = json_pack("{s:O, s:b}", "content", content, "isError",
	                   res->status != DW_STATUS_SUCCESS);
	if (structured &&
	    json_object_set_new(result, "structuredContent", structure(task, files)) < 0)
		return NULL;
	return TAKE_PTR(result);
}

json_t *dw_mcp_result_refused(const struct dw_api_error *why)
{
	char message[sizeof(why->message)];
	json_auto_t *error = NULL;
	autobuf struct dw_buf text;

	dw_mcp_args_rename(why->message, message, sizeof(message));
	dw_buf_init(&text, 4096);
	(void)dw_buf_printf(&text, "Nothing ran: %s", message);
	if (why->hint[0] != '\0')
		(void)dw_buf_printf(&text, "\nhint: %s", why->hint);
	if (why->retry_after_s > 0)
		(void)dw_buf_printf(&text, "\nRetry in %u s.", why->retry_after_s);
	if (text.failed)
		return NULL;
	error = dw_error_json(why->code, message, why->hint);
	return json_pack("{s:[o], s:b, s:{s:O*}}", "content", make_text(text.data),
	                 "isError", 1, "_meta", DW_MCP_ERROR_KEY,
	                 json_object_get(error, "error"));
}
