/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/args.h"

#include <errno.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/choose.h"
#include "base/cleanup.h"
#include "dewar/dewar.h"
#include "languages/installed.h"
#include "mcp/jsonrpc.h"
#include "run/check.h"

#define BOTH (DW_MCP_RUNS_CODE | DW_MCP_RUNS_COMMAND)

enum place {
	IN_REQUEST = 0,
	IN_LIMITS,
	IN_FILES, /* text becomes base64 */
};

/*
 * Everything else about a value (its type, how large it may be) is for the reader of
 * requests to find out: it is stricter than a schema.
 */
struct arg {
	const char *name;
	unsigned tools; /* of enum dw_mcp_runs */
	enum place place;
	bool required;
	const char *schema; /* JSON */
};

static const struct arg table[] = {
	{"language", DW_MCP_RUNS_CODE, IN_REQUEST, true,
         "{\"type\":\"string\",\"description\":\"The language of the code.\"}"},
	{"code", DW_MCP_RUNS_CODE, IN_REQUEST, true,
         "{\"type\":\"string\",\"description\":\"A whole program. What it prints is the "
         "result.\"}"},
	{"command", DW_MCP_RUNS_COMMAND, IN_REQUEST, true,
         "{\"type\":\"string\",\"description\":\"A line for the shell (sh): pipes, && and "
         "redirections work.\"}"},
	{"stdin", BOTH, IN_REQUEST, false,
         "{\"type\":\"string\",\"description\":\"What the program reads from standard "
         "input. Empty by default.\"}"},
	{"args", DW_MCP_RUNS_CODE, IN_REQUEST, false,
         "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"Arguments of "
         "the program.\"}"},
	{"env", BOTH, IN_REQUEST, false,
         "{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"},"
         "\"description\":\"Environment variables.\"}"},
	{"files", BOTH, IN_FILES, false,
         "{\"type\":\"object\",\"additionalProperties\":{\"anyOf\":[{\"type\":\"string\"},"
         "{\"type\":\"object\",\"properties\":{\"base64\":{\"type\":\"string\"}},"
         "\"required\":[\"base64\"],\"additionalProperties\":false}]},"
         "\"description\":\"Files to put into the folder that the program starts in: "
         "relative name to text, or to {\\\"base64\\\": ...} for bytes.\"}"},
	{"collect", BOTH, IN_REQUEST, false,
         "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"Names or "
         "patterns of files to bring back, below the folder that the program starts in: "
         "\\\"plot.png\\\", \\\"out/*.csv\\\". Images come back as images.\"}"},
	{"level", BOTH, IN_REQUEST, false,
         "{\"type\":\"string\",\"description\":\"How strong the walls are: see the resource "
         "dewar://levels. The default is right for code that nobody trusts.\"}"},
	{"network", BOTH, IN_REQUEST, false,
         "{\"type\":\"string\",\"enum\":[\"none\",\"full\"],\"description\":\"\\\"none\\\" by "
         "default.\"}"},
	{"allowed_commands", BOTH, IN_REQUEST, false,
         "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"The only "
         "programs that can be started, by name. An empty list: none; by default all.\"}"},
	{"allowed_modules", DW_MCP_RUNS_CODE, IN_REQUEST, false,
         "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"description\":\"The only "
         "modules that the code may import (python, javascript). By default all.\"}"},
	{"timeout_s", BOTH, IN_LIMITS, false,
         "{\"type\":\"number\",\"exclusiveMinimum\":0,\"description\":\"Seconds until the "
         "program is ended.\"}"},
	{"memory_mb", BOTH, IN_LIMITS, false,
         "{\"type\":\"integer\",\"minimum\":1,\"description\":\"Memory of all its processes "
         "and files together.\"}"},
	{"cpu_percent", BOTH, IN_LIMITS, false,
         "{\"type\":\"integer\",\"minimum\":1,\"description\":\"Share of a processor: 100 is "
         "one core.\"}"},
	{"pids", BOTH, IN_LIMITS, false,
         "{\"type\":\"integer\",\"minimum\":1,\"description\":\"Processes and threads at one "
         "time.\"}"},
	{"tmp_mb", BOTH, IN_LIMITS, false,
         "{\"type\":\"integer\",\"minimum\":1,\"description\":\"What fits into its "
         "folder.\"}"},
	{"output_bytes", BOTH, IN_LIMITS, false,
         "{\"type\":\"integer\",\"minimum\":1,\"description\":\"How much of stdout and of "
         "stderr comes back, each.\"}"},
};

/* ---- the schema ---- */

/* Only the names that we list ourselves; more are understood ("py", "js"). */
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
	struct dw_guess guess = {.typed = name};
	autobuf struct dw_buf all;

	dw_buf_init(&all, sizeof(err->text));
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (!(table[i].tools & which))
			continue;
		dw_guess_offer(&guess, table[i].name);
		(void)dw_buf_printf(&all, "%s%s", all.len > 0 ? ", " : "", table[i].name);
	}
	if (guess.best)
		return dw_fail(err, DW_E_INVALID, 0,
		               "unknown argument \"%.64s\"; did you mean \"%s\"?", name,
		               guess.best);
	return dw_fail(err, DW_E_INVALID, 0, "unknown argument \"%.64s\"; there are %s",
	               name, all.data);
}

/* An argument that got lost would be a limit that nobody holds. */
static int fail_memory(struct dw_error *err)
{
	return dw_fail(err, DW_E_INTERNAL, ENOMEM, "read the arguments");
}

/* Text as it stands, or an object with base64, becomes base64. */
static json_t *encode_file(const char *name, const json_t *value, struct dw_error *err)
{
	const json_t *base64 = json_object_get(value, "base64");
	autofree char *text = NULL;
	json_t *made;

	if (json_is_string(base64) && json_object_size(value) == 1)
		return json_incref((json_t *)base64);
	if (!json_is_string(value)) {
		(void)dw_fail(err, DW_E_INVALID, 0,
		              "\"%.64s\" in files must be a string of text, or an object "
		              "with the one key base64",
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
		               "files must be an object: name to text");
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

/* Arguments, sorted into the shape of a request. */
static int sort(enum dw_mcp_runs which, const json_t *args, json_t *root,
                struct dw_error *err)
{
	json_t *limits = json_object(), *value;
	const struct arg *arg;

	if (json_object_set_new(root, "limits", limits) < 0)
		return fail_memory(err);
	for (void *it = json_object_iter((json_t *)args); it;
	     it = json_object_iter_next((json_t *)args, it)) {
		arg = find(which, json_object_iter_key(it));
		value = json_object_iter_value(it);
		if (!arg)
			return fail_unknown(which, json_object_iter_key(it), err);
		if (json_is_null(value))
			continue; /* as everywhere with us: the default */
		if (arg->place == IN_FILES && read_files(root, value, err) < 0)
			return -1;
		if (arg->place != IN_FILES &&
		    json_object_set(arg->place == IN_LIMITS ? limits : root, arg->name,
		                    value) < 0)
			return fail_memory(err);
	}
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if ((table[i].tools & which) && table[i].required &&
		    !json_object_get(root, table[i].name))
			return dw_fail(err, DW_E_INVALID, 0, "the argument %s is missing",
			               table[i].name);
	return 0;
}

/* A model that guessed wrong should not have to guess again. */
static int check_names(const json_t *root, struct dw_error *err)
{
	const char *language = dw_mcp_text(root, "language");
	const char *level = dw_mcp_text(root, "level");
	autobuf struct dw_buf all;
	struct dw_language lang;
	bool known = false;

	dw_buf_init(&all, sizeof(err->text));
	if (language && language[0] != '\0' && !dw_language_name(language)) {
		for (size_t i = 0; dw_language_peek(i, &lang) == 0; i++)
			(void)dw_buf_printf(&all, "%s%s", i > 0 ? ", " : "", lang.name);
		return dw_fail(err, DW_E_INVALID, 0,
		               "there is no language \"%.64s\"; there are %s", language,
		               all.data);
	}
	for (const char *const *name = dw_level_names(); level && *name; name++) {
		known = known || strcmp(level, *name) == 0;
		(void)dw_buf_printf(&all, "%s%s", all.len > 0 ? ", " : "", *name);
	}
	if (level && !known)
		return dw_fail(err, DW_E_INVALID, 0,
		               "there is no level \"%.64s\"; there are %s", level,
		               all.data);
	return 0;
}

int dw_mcp_args_read(enum dw_mcp_runs which, const json_t *args, struct dw_request *req,
                     struct dw_error *err)
{
	json_t *root = json_object();
	autofree char *text = NULL;
	int r;

	r = sort(which, args, root, err);
	if (r == 0)
		r = check_names(root, err);
	if (r == 0) {
		text = dw_mcp_dump(root);
		r = text ? dw_request_from_json(req, text, strlen(text), err)
		         : fail_memory(err);
	}
	if (r == 0 && dw_request_check(req, err) < 0) {
		dw_request_finish(req);
		r = -1;
	}
	json_decref(root);
	return r;
}
