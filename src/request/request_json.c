/* SPDX-License-Identifier: Apache-2.0 */
#include "request/request.h"

#include "dewar/request.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/cleanup.h"
#include "base/path.h"
#include "base/values.h"
#include "request/limits.h"

/*
 * Reads a request from JSON.
 *
 * Tables list the keys: name, function that reads the value, member to store it in. A key
 * that is in no table is an error. So is a key for something that Dewar cannot do yet:
 * otherwise the caller would rely on a wall that does not exist. A null means the default
 * for every key; the reading functions never see it.
 *
 * Strings are not copied: they stay in jansson's tree, which lives as long as the
 * request. Lists and decoded files are in chunks of their own.
 */

struct chunk {
	struct chunk *next;
	_Alignas(max_align_t) char data[];
};

struct owned {
	json_t *root;
	struct chunk *chunks;
};

/* Values are read into a draft: the request is filled completely or not at all. */
struct reader {
	struct dw_request req;
	struct owned *owned;
};

struct key {
	const char *name;
	int (*read)(struct reader *rd, const struct key *key, json_t *value,
	            struct dw_error *err);
	size_t at;   /* offset in struct dw_request; for a limit: its row */
	size_t n_at; /* for a list: offset of its length; 0: the list ends in NULL */
	const char *const *words; /* for a choice: the words, in the order of its enum */
};

struct table {
	const char *where; /* for errors: "in the request" */
	const struct key *keys;
	size_t n_keys;
};

static void free_owned(struct owned *owned)
{
	struct chunk *chunk;

	if (!owned)
		return;
	while ((chunk = owned->chunks)) {
		owned->chunks = chunk->next;
		free(chunk);
	}
	json_decref(owned->root);
	free(owned);
}

static void cleanup_owned(struct owned **owned)
{
	free_owned(*owned);
}

/* Zeroed memory that lives as long as the request. */
static void *alloc(struct reader *rd, size_t n, size_t size, struct dw_error *err)
{
	struct chunk *chunk;
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes) ||
	    __builtin_add_overflow(bytes, sizeof(*chunk) + 1, &bytes) ||
	    !(chunk = calloc(1, bytes))) {
		(void)dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot read the request");
		return NULL;
	}
	chunk->next = rd->owned->chunks;
	rd->owned->chunks = chunk;
	return chunk->data;
}

static void *field(struct reader *rd, size_t offset)
{
	return (char *)&rd->req + offset;
}

static void guess_key(const struct table *table, struct dw_guess *guess)
{
	size_t len = strlen(guess->typed);

	for (size_t i = 0; i < table->n_keys && !guess->best; i++)
		/* The start of a key, such as "memory", is also a good guess. */
		if (len >= 3 && strncmp(guess->typed, table->keys[i].name, len) == 0)
			guess->best = table->keys[i].name;
	for (size_t i = 0; i < table->n_keys; i++)
		dw_guess_offer(guess, table->keys[i].name);
}

static const struct table limit_table, request_table;

static int fail_unknown(const struct table *table, const char *name, struct dw_error *err)
{
	struct dw_guess guess = {.typed = name};
	const char *prefix = "";

	guess_key(table, &guess);
	if (!guess.best && table == &request_table) {
		guess_key(&limit_table, &guess);
		prefix = "limits.";
	}
	(void)dw_fail(err, DW_E_INVALID, 0, "unknown key \"%.64s\" %s", name,
	              table->where);
	return dw_suggest(err, &guess, prefix);
}

static int read_object(struct reader *rd, const struct table *table, json_t *object,
                       struct dw_error *err)
{
	const struct key *key;
	const char *name;
	json_t *value;

	for (void *it = json_object_iter(object); it;
	     it = json_object_iter_next(object, it)) {
		name = json_object_iter_key(it);
		value = json_object_iter_value(it);
		key = NULL;
		for (size_t i = 0; i < table->n_keys && !key; i++)
			if (strcmp(table->keys[i].name, name) == 0)
				key = &table->keys[i];
		if (!key)
			return fail_unknown(table, name, err);
		if (!json_is_null(value) && key->read(rd, key, value, err) < 0)
			return -1;
	}
	return 0;
}

/* The value as a C string, without NULs inside; errors name it by `what`. */
static const char *plain_string(json_t *value, const char *what, struct dw_error *err)
{
	const char *text = json_string_value(value);

	if (!text) {
		(void)dw_fail(err, DW_E_INVALID, 0, "%s must be a string", what);
		return NULL;
	}
	if (strlen(text) != json_string_length(value)) {
		(void)dw_fail(err, DW_E_INVALID, 0, "%s must not contain a NUL", what);
		return NULL;
	}
	return text;
}

static int read_string(struct reader *rd, const struct key *key, json_t *value,
                       struct dw_error *err)
{
	const char **ret = field(rd, key->at);
	const char *text = plain_string(value, key->name, err);

	if (!text)
		return -1;
	*ret = text;
	return 0;
}

/* An empty name is more likely a mistake than a request for the default. */
static int read_name(struct reader *rd, const struct key *key, json_t *value,
                     struct dw_error *err)
{
	if (json_is_string(value) && json_string_length(value) == 0)
		return dw_fail(err, DW_E_INVALID, 0,
		               "%s must not be empty; omit it for the default",
		               key->name);
	return read_string(rd, key, value, err);
}

static int read_bytes(struct reader *rd, const struct key *key, json_t *value,
                      struct dw_error *err)
{
	struct dw_bytes *ret = field(rd, key->at);

	if (!json_is_string(value))
		return dw_fail(err, DW_E_INVALID, 0, "%s must be a string", key->name);
	*ret = (struct dw_bytes){json_string_value(value), json_string_length(value)};
	return 0;
}

static int read_bool(struct reader *rd, const struct key *key, json_t *value,
                     struct dw_error *err)
{
	bool *ret = field(rd, key->at);

	if (!json_is_boolean(value))
		return dw_fail(err, DW_E_INVALID, 0, "%s must be true or false",
		               key->name);
	*ret = json_is_true(value);
	return 0;
}

/* Store a list that ends in NULL and, if key->n_at is set, its length. */
static int read_list(struct reader *rd, const struct key *key, json_t *value,
                     struct dw_error *err)
{
	size_t n = json_array_size(value);
	const char **list;
	char what[64];

	if (!json_is_array(value))
		return dw_fail(err, DW_E_INVALID, 0, "%s must be a list of strings",
		               key->name);
	list = alloc(rd, n + 1, sizeof(*list), err);
	if (!list)
		return -1;
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(what, sizeof(what), "%s[%zu]", key->name, i);
		list[i] = plain_string(json_array_get(value, i), what, err);
		if (!list[i])
			return -1;
	}
	*(const char *const **)field(rd, key->at) = list;
	if (key->n_at != 0)
		*(size_t *)field(rd, key->n_at) = n;
	return 0;
}

/* A list of paths or patterns, which must not be empty strings. */
static int read_paths(struct reader *rd, const struct key *key, json_t *value,
                      struct dw_error *err)
{
	json_t *item;

	for (size_t i = 0; i < json_array_size(value); i++) {
		item = json_array_get(value, i);
		if (json_is_string(item) && json_string_length(item) == 0)
			return dw_fail(err, DW_E_INVALID, 0, "%s[%zu] must not be empty",
			               key->name, i);
	}
	return read_list(rd, key, value, err);
}

/* "container", or ["microvm", "container"] which becomes "microvm,container". */
static int read_level(struct reader *rd, const struct key *key, json_t *value,
                      struct dw_error *err)
{
	size_t len, size = 0, at = 0;
	const char *name;
	char *joined;

	if (json_is_string(value))
		return read_name(rd, key, value, err);
	if (!json_is_array(value))
		return dw_fail(err, DW_E_INVALID, 0,
		               "level must be a string or a list of strings");
	if (json_array_size(value) == 0)
		return 0;

	for (size_t i = 0; i < json_array_size(value); i++)
		size += json_string_length(json_array_get(value, i)) + 1;
	joined = alloc(rd, size, 1, err);
	if (!joined)
		return -1;
	for (size_t i = 0; i < json_array_size(value); i++) {
		name = plain_string(json_array_get(value, i), "each level", err);
		if (!name)
			return -1;
		len = strlen(name);
		if (len == 0 || strchr(name, ','))
			return dw_fail(err, DW_E_INVALID, 0,
			               "each level must be one name, not \"%.64s\"",
			               name);
		if (at > 0)
			joined[at++] = ',';
		memcpy(joined + at, name, len);
		at += len;
	}
	rd->req.level = joined;
	return 0;
}

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
static bool is_env_name(const char *name)
{
	return strspn(name, LETTERS) > 0 &&
	       name[strspn(name, LETTERS "0123456789")] == '\0';
}

static int read_env(struct reader *rd, const struct key *key, json_t *value,
                    struct dw_error *err)
{
	const char *name, *text;
	struct dw_env *env;
	char what[96];
	json_t *item;
	size_t n = 0;

	if (!json_is_object(value))
		return dw_fail(err, DW_E_INVALID, 0, "%s must be an object of strings",
		               key->name);
	env = alloc(rd, json_object_size(value), sizeof(*env), err);
	if (!env)
		return -1;

	for (void *it = json_object_iter(value); it;
	     it = json_object_iter_next(value, it)) {
		name = json_object_iter_key(it);
		item = json_object_iter_value(it);
		if (!is_env_name(name))
			return dw_fail(err, DW_E_INVALID, 0,
			               "env: \"%.64s\" is not a valid name, such as "
			               "MY_VAR2",
			               name);
		(void)snprintf(what, sizeof(what), "env.%.64s", name);
		text = plain_string(item, what, err);
		if (!text)
			return -1;
		env[n++] = (struct dw_env){name, text};
	}
	rd->req.env = env;
	rd->req.n_env = n;
	return 0;
}

static int read_files(struct reader *rd, const struct key *key, json_t *value,
                      struct dw_error *err)
{
	struct dw_file_in *files;
	size_t n = 0, len;
	const char *name;
	json_t *item;
	char *data;

	if (!json_is_object(value))
		return dw_fail(err, DW_E_INVALID, 0,
		               "%s must be an object of names and base64", key->name);
	files = alloc(rd, json_object_size(value), sizeof(*files), err);
	if (!files)
		return -1;

	for (void *it = json_object_iter(value); it;
	     it = json_object_iter_next(value, it)) {
		name = json_object_iter_key(it);
		item = json_object_iter_value(it);
		if (!dw_path_is_plain(name))
			return dw_fail(err, DW_E_INVALID, 0,
			               "\"%.64s\" in files is not a plain relative name",
			               name);
		if (!json_is_string(item))
			return dw_fail(err, DW_E_INVALID, 0,
			               "\"%.64s\" in files must be a string of base64",
			               name);
		data = alloc(rd, dw_base64_room(json_string_length(item)), 1, err);
		if (!data)
			return -1;
		if (dw_base64_decode(json_string_value(item), json_string_length(item),
		                     data, &len) < 0)
			return dw_fail(err, DW_E_INVALID, 0,
			               "\"%.64s\" in files is not padded base64", name);
		files[n++] = (struct dw_file_in){name, {data, len}};
	}
	rd->req.files = files;
	rd->req.n_files = n;
	return 0;
}

/* One of the words of an enum. */
static int read_choice(struct reader *rd, const struct key *key, json_t *value,
                       struct dw_error *err)
{
	const char *text = plain_string(value, key->name, err);
	int chosen = text ? dw_choose(key->name, text, key->words, err) : -1;

	if (chosen < 0)
		return -1;
	*(unsigned *)field(rd, key->at) = (unsigned)chosen;
	return 0;
}
_Static_assert(sizeof(enum dw_network) == sizeof(unsigned) &&
                       sizeof(enum dw_pull) == sizeof(unsigned),
               "as read_choice() writes them");

static int read_limit(struct reader *rd, const struct key *key, json_t *value,
                      struct dw_error *err)
{
	return dw_limit_from_json(key->at, value, dw_limit_of(&rd->req.limits, key->at),
	                          err);
}

static int refuse(struct reader *rd, const struct key *key, json_t *value,
                  struct dw_error *err)
{
	(void)rd;
	(void)value;
	return dw_fail(err, DW_E_UNSUPPORTED, 0, "%s is not supported yet; omit it",
	               key->name);
}

static int refuse_allow(struct reader *rd, const struct key *key, json_t *value,
                        struct dw_error *err)
{
	(void)rd;
	(void)key;
	(void)value;
	return dw_fail(
		err, DW_E_UNSUPPORTED, 0,
		"network allow-lists are not supported yet; use \"none\" or \"full\"");
}

static const struct key network_keys[] = {
	{.name = "allow", .read = refuse_allow},
};

static const struct table network_table = {
	.where = "in network",
	.keys = network_keys,
	.n_keys = ARRAY_SIZE(network_keys),
};

static int read_network(struct reader *rd, const struct key *key, json_t *value,
                        struct dw_error *err)
{
	if (json_is_object(value))
		return read_object(rd, &network_table, value, err);
	return read_choice(rd, key, value, err);
}

static const struct key limit_keys[] = {
#define DW_LIMIT(id, member, kind, option, variable, key, ...) \
	{key, read_limit, .at = DW_LIMIT_##id},
#include "dewar/limits.def"
};

static const struct table limit_table = {
	.where = "in limits",
	.keys = limit_keys,
	.n_keys = ARRAY_SIZE(limit_keys),
};

static int read_limits(struct reader *rd, const struct key *key, json_t *value,
                       struct dw_error *err)
{
	if (!json_is_object(value))
		return dw_fail(err, DW_E_INVALID, 0, "%s must be an object", key->name);
	return read_object(rd, &limit_table, value, err);
}

#define AT(member) .at = offsetof(struct dw_request, member)
#define LIST(member) AT(member), .n_at = offsetof(struct dw_request, n_##member)
static const struct key request_keys[] = {
	{"language", read_name, AT(language)},
	{"code", read_bytes, AT(code)},
	{"command", read_string, AT(command)},
	{"level", read_level, AT(level)},
	{"template", read_name, AT(template)},
	{"image", read_name, AT(image)},
	{"runtime", read_name, AT(runtime)},
	{"pull", read_choice, AT(pull), .words = dw_pull_words},
	{"stdin", read_bytes, AT(stdin_data)},
	{"env", read_env, AT(env)},
	{"args", read_list, LIST(args)},
	{"files", read_files, AT(files)},
	{"collect", read_paths, LIST(collect)},
	{"workspace", read_name, AT(workspace)},
	{"writable_paths", read_paths, LIST(writable)},
	{"allowed_commands", read_list, AT(allowed_commands)},
	{"allowed_modules", read_list, AT(allowed_modules)},
	{"network", read_network, AT(network), .words = dw_network_words},
	{"limits", read_limits, AT(limits)},
	{.name = "session", .read = refuse},
	{"strict", read_bool, AT(strict)},
};

static const struct table request_table = {
	.where = "in the request",
	.keys = request_keys,
	.n_keys = ARRAY_SIZE(request_keys),
};

/* Check combinations of keys. */
static int check(const struct dw_request *req, struct dw_error *err)
{
	if (req->code.data && req->command)
		return dw_fail(err, DW_E_INVALID, 0,
		               "code and command cannot be combined");
	if (!req->code.data && !req->command)
		return dw_fail(err, DW_E_INVALID, 0, "no code or command given");
	if (req->code.data && !req->language)
		return dw_fail(err, DW_E_INVALID, 0, "code requires a language");
	if (req->command && req->language)
		return dw_fail(err, DW_E_INVALID, 0,
		               "language requires code; a command runs in the shell");
	return 0;
}

const char *const dw_network_words[] = {
	[DW_NETWORK_NONE] = "none",
	[DW_NETWORK_FULL] = "full",
	[DW_NETWORK_COUNT] = NULL,
};

const char *const dw_pull_words[] = {
	[DW_PULL_MISSING] = "missing",
	[DW_PULL_NEVER] = "never",
	[DW_PULL_ALWAYS] = "always",
	[DW_PULL_COUNT] = NULL,
};

void dw_request_init(struct dw_request *req)
{
	*req = (struct dw_request){.stdin_fd = -1, .cancel_fd = -1};
}

int dw_request_from_tree(struct dw_request *req, json_t *root, struct dw_error *err)
{
	__attribute__((cleanup(cleanup_owned))) struct owned *owned = NULL;
	struct reader rd = {.req = *req};

	assert(!req->owned);
	owned = calloc(1, sizeof(*owned));
	if (!owned) {
		json_decref(root);
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot read the request");
	}
	owned->root = root;
	rd.owned = owned;
	if (!json_is_object(root))
		return dw_fail(err, DW_E_INVALID, 0, "the request must be a JSON object");
	if (read_object(&rd, &request_table, root, err) < 0 || check(&rd.req, err) < 0)
		return -1;
	rd.req.owned = TAKE_PTR(owned);
	*req = rd.req;
	return 0;
}

json_t *dw_request_tree(const char *text, size_t len, struct dw_error *err)
{
	json_error_t why;
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL,
	                          &why);

	if (!root && json_error_code(&why) == json_error_out_of_memory)
		(void)dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot read the request");
	else if (!root)
		(void)dw_fail(err, DW_E_INVALID, 0,
		              "not valid JSON: line %d, column %d: %s", why.line,
		              why.column, why.text);
	return root;
}

int dw_request_from_json(struct dw_request *req, const char *text, size_t len,
                         struct dw_error *err)
{
	json_t *root = dw_request_tree(text, len, err);

	return root ? dw_request_from_tree(req, root, err) : -1;
}

void dw_request_finish(struct dw_request *req)
{
	free_owned(req->owned);
	dw_request_init(req);
}
