/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/values.h"
#include "dewar/dewar.h"
#include "languages/runtime.h"
#include "mcp/jsonrpc.h"
#include "request/limits.h"
#include "request/request.h"
#include "run/request_check.h"

#define BOTH (DW_MCP_RUNS_CODE | DW_MCP_RUNS_COMMAND)

/*
 * The arguments that are keys of a request; each limit is an argument as well. The parser
 * of requests checks the values: it is stricter than a schema.
 */
struct arg {
	const char *name;
	unsigned tools; /* of enum dw_mcp_runs */
	bool required;
	const char *schema; /* JSON */
};

static const struct arg table[] = {
	{"language", DW_MCP_RUNS_CODE, true,
         "{\"type\":\"string\",\"description\":\"The language of the code.\"}"},
	{"code", DW_MCP_RUNS_CODE, true,
         "{\"type\":\"string\",\"description\":\"A complete program. Only what it prints "
         "is returned.\"}"},
	{"command", DW_MCP_RUNS_COMMAND, true,
         "{\"type\":\"string\",\"description\":\"A command line for sh, with pipes, && "
         "and redirections.\"}"},
	{"stdin", BOTH, false,
         "{\"type\":\"string\",\"description\":\"The standard input of the program. "
         "Empty by default.\"}"},
	{"args", DW_MCP_RUNS_CODE, false,
         "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"Arguments of "
         "the program.\"}"},
	{"env", BOTH, false,
         "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},"
         "\"description\":\"Environment variables.\"}"},
	{"files", BOTH, false,
         "{\"type\":\"object\",\"additionalProperties\":{\"anyOf\":[{\"type\":\"string\"},"
         "{\"type\":\"object\",\"properties\":{\"base64\":{\"type\":\"string\"}},"
         "\"required\":[\"base64\"],\"additionalProperties\":false}]},"
         "\"description\":\"Files to create in the working folder before the start: relative "
         "name to text, or to {\\\"base64\\\": ...} for binary data.\"}"},
	{"collect", BOTH, false,
         "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"Names or "
         "patterns of files in the working folder to return: \\\"plot.png\\\", "
         "\\\"out/*.csv\\\". Images are returned as images.\"}"},
	{"level", BOTH, false,
         "{\"type\":\"string\",\"description\":\"The isolation level; the resource "
         "dewar://levels lists them. Omit it unless the user asks for one.\"}"},
	{"network", BOTH, false,
         "{\"type\":\"string\",\"enum\":[\"none\",\"full\"],\"description\":\"Network access; "
         "\\\"none\\\" by default.\"}"},
	{"allowed_commands", BOTH, false,
         "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"The only "
         "programs that can be started, by name; [] permits none. By default all.\"}"},
	{"allowed_modules", DW_MCP_RUNS_CODE, false,
         "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"The only "
         "modules that the code can import (python, javascript); [] permits none. By default "
         "all.\"}"},
};

/*
 * Returns the argument for a limit. Only the key "files" needs another name: tools have
 * an argument of that name for something else.
 */
static const char *limit_name(size_t row)
{
	return row == DW_LIMIT_FILES ? "open_files" : dw_limit_rows[row].key;
}

void dw_mcp_args_rename(const char *message, char *ret, size_t size)
{
	static const char prefix[] = "limits.";
	const char *rest = message + strlen(prefix);
	size_t len;

	(void)snprintf(ret, size, "%s", message);
	if (strncmp(message, prefix, strlen(prefix)) != 0)
		return;
	len = strcspn(rest, " :");
	for (size_t i = 0; i < DW_LIMIT_COUNT; i++)
		if (strlen(dw_limit_rows[i].key) == len &&
		    strncmp(dw_limit_rows[i].key, rest, len) == 0)
			(void)snprintf(ret, size, "%s%s", limit_name(i), rest + len);
}

/* ---- the schema ---- */

/* The schema lists only the main names; aliases ("py", "js") are accepted as well. */
static json_t *language_names(void)
{
	json_t *array = json_array();
	struct dw_language lang;

	for (size_t i = 0; dw_language_peek(i, &lang) == 0; i++)
		(void)json_array_append_new(array, json_string(lang.name));
	return array;
}

static json_t *level_names(void)
{
	json_t *array = json_array();

	for (const char *const *name = dw_level_names(); *name; name++)
		(void)json_array_append_new(array, json_string(*name));
	return array;
}

json_t *dw_mcp_args_schema(enum dw_mcp_runs which)
{
	json_t *properties = json_object(), *required = json_array(), *schema;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (!(table[i].tools & which))
			continue;
		schema = json_loads(table[i].schema, 0, NULL);
		if (strcmp(table[i].name, "language") == 0)
			(void)json_object_set_new(schema, "enum", language_names());
		if (strcmp(table[i].name, "level") == 0)
			(void)json_object_set_new(schema, "enum", level_names());
		(void)json_object_set_new(properties, table[i].name, schema);
		if (table[i].required)
			(void)json_array_append_new(required, json_string(table[i].name));
	}
	for (size_t i = 0; i < DW_LIMIT_COUNT; i++)
		(void)json_object_set_new(properties, limit_name(i),
		                          dw_limit_schema(i, false));
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties",
	                 properties, "required", required, "additionalProperties", 0);
}

/* ---- reading ---- */

static const struct arg *find(enum dw_mcp_runs which, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if ((table[i].tools & which) && strcmp(table[i].name, name) == 0)
			return &table[i];
	return NULL;
}

static int fail_unknown(enum dw_mcp_runs which, const char *name, struct dw_error *err)
{
	const char *names[ARRAY_SIZE(table) + DW_LIMIT_COUNT];
	struct dw_guess guess = {.typed = name};
	autobuf struct dw_buf all;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].tools & which)
			names[n++] = table[i].name;
	for (size_t i = 0; i < DW_LIMIT_COUNT; i++)
		names[n++] = limit_name(i);
	dw_buf_init(&all, sizeof(err->text));
	for (size_t i = 0; i < n; i++) {
		dw_guess_offer(&guess, names[i]);
		(void)dw_buf_printf(&all, "%s%s", i > 0 ? ", " : "; must be one of ",
		                    names[i]);
	}
	(void)dw_fail(err, DW_E_INVALID, 0, "unknown argument \"%.64s\"%s", name,
	              guess.best ? "" : all.data);
	return dw_suggest(err, &guess, "");
}

/* Without memory, fail: a lost argument could be a limit, which nothing would enforce. */
static int fail_memory(struct dw_error *err)
{
	return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot read the arguments");
}

/* Returns a file's content as base64: encodes a string, or takes it from an object. */
static json_t *encode_file(const char *name, const json_t *value, struct dw_error *err)
{
	const json_t *base64 = json_object_get(value, "base64");
	autofree char *text = NULL;
	json_t *made;

	if (json_is_string(base64) && json_object_size(value) == 1)
		return json_incref((json_t *)base64);
	if (!json_is_string(value)) {
		(void)dw_fail(err, DW_E_INVALID, 0,
		              "files: \"%.64s\" must be text, or an object with the only key "
		              "base64",
		              name);
		return NULL;
	}
	text = dw_base64_encode(json_string_value(value), json_string_length(value),
	                        NULL);
	made = text ? json_string(text) : NULL;
	if (!made)
		(void)fail_memory(err);
	return made;
}

static int read_files(json_t *root, const json_t *value, struct dw_error *err)
{
	json_t *files, *file;
	const char *name;

	if (!json_is_object(value))
		return dw_fail(err, DW_E_INVALID, 0,
		               "files must be an object of names and contents");
	files = json_object();
	if (json_object_set_new(root, "files", files) < 0)
		return fail_memory(err);
	for (void *it = json_object_iter((json_t *)value); it;
	     it = json_object_iter_next((json_t *)value, it)) {
		name = json_object_iter_key(it);
		file = encode_file(name, json_object_iter_value(it), err);
		if (!file)
			return -1;
		if (json_object_set_new(files, name, file) < 0)
			return fail_memory(err);
	}
	return 0;
}

/* Put an argument into the request's JSON. */
static int put_arg(enum dw_mcp_runs which, const char *name, json_t *value, json_t *root,
                   struct dw_error *err)
{
	json_t *into = NULL;

	for (size_t i = 0; i < DW_LIMIT_COUNT && !into; i++)
		if (strcmp(limit_name(i), name) == 0) {
			into = json_object_get(root, "limits");
			name = dw_limit_rows[i].key;
		}
	if (!into && !find(which, name))
		return fail_unknown(which, name, err);
	if (json_is_null(value))
		return 0; /* the default, as in every request */
	if (!into && strcmp(name, "files") == 0)
		return read_files(root, value, err);
	return json_object_set(into ? into : root, name, value) < 0 ? fail_memory(err)
	                                                            : 0;
}

static int read_args(enum dw_mcp_runs which, const json_t *args, json_t *root,
                     struct dw_error *err)
{
	const char *level = NULL, *language = NULL;

	if (json_object_set_new(root, "limits", json_object()) < 0)
		return fail_memory(err);
	for (void *it = json_object_iter((json_t *)args); it;
	     it = json_object_iter_next((json_t *)args, it))
		if (put_arg(which, json_object_iter_key(it), json_object_iter_value(it),
		            root, err) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if ((table[i].tools & which) && table[i].required &&
		    !json_object_get(root, table[i].name))
			return dw_fail(err, DW_E_INVALID, 0, "missing argument \"%s\"",
			               table[i].name);

	/* Check these before the run is queued, so that a model can correct itself. */
	language = dw_mcp_text(root, "language");
	level = dw_mcp_text(root, "level");
	if (language && language[0] != '\0' && dw_language_check(language, err) < 0)
		return -1;
	return level ? dw_level_check("level", level, err) : 0;
}

int dw_mcp_args_read(enum dw_mcp_runs which, const json_t *args, struct dw_request *req,
                     struct dw_error *err)
{
	json_auto_t *root = json_object();
	json_t *own;

	if (read_args(which, args, root, err) < 0)
		return -1;
	/* The request goes to another thread: it must share no value with the message. */
	own = json_deep_copy(root);
	if (!own)
		return fail_memory(err);
	if (dw_request_from_tree(req, own, err) < 0)
		return -1;
	if (dw_request_check(req, err) == 0)
		return 0;
	dw_request_finish(req);
	return -1;
}
