/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/audit.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "audit/record.h"
#include "base/base64.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "request/limits.h"

/* The make_ functions return NULL if memory runs out; put() then sets failed. */
struct build {
	bool failed;
};

static void put(struct build *b, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new_nocheck(object, key, value) < 0)
		b->failed = true;
}

static json_t *make_base64(const void *data, size_t len)
{
	autofree char *text = dw_base64_encode(data, len, NULL);

	return text ? json_string_nocheck(text) : NULL;
}

static json_t *make_text(struct build *b, const void *data, size_t len)
{
	json_t *object;

	if (dw_utf8_valid(data, len))
		return json_stringn_nocheck(data, len);
	object = json_object();
	put(b, object, "base64", make_base64(data, len));
	return object;
}

static json_t *make_digest(struct build *b, const struct dw_bytes *bytes)
{
	json_t *object = json_object();
	char hash[DW_AUDIT_HASH_MAX];

	dw_audit_sha256(bytes->data, bytes->len, hash);
	put(b, object, "size", json_integer((json_int_t)bytes->len));
	put(b, object, "sha256", json_string_nocheck(hash));
	return object;
}

static void put_text(struct build *b, json_t *object, const char *key, const char *text)
{
	if (text)
		put(b, object, key, make_text(b, text, strlen(text)));
}

/* Set a key that the caller chose, which need not be UTF-8. */
static void put_named(struct build *b, json_t *object, const char *name, json_t *value)
{
	autofree char *text = NULL, *key = NULL;

	if (dw_utf8_valid(name, strlen(name))) {
		put(b, object, name, value);
		return;
	}
	text = dw_base64_encode(name, strlen(name), NULL);
	if (!text || asprintf(&key, "base64:%s", text) < 0) {
		key = NULL;
		json_decref(value);
		b->failed = true;
		return;
	}
	put(b, object, key, value);
}

static void put_list(struct build *b, json_t *object, const char *key,
                     const char *const *list, size_t n)
{
	json_t *array;

	if (n == 0)
		return;
	array = json_array();
	for (size_t i = 0; i < n; i++)
		if (json_array_append_new(array, make_text(b, list[i], strlen(list[i]))) <
		    0)
			b->failed = true;
	put(b, object, key, array);
}

/* An allow-list that ends in NULL. A missing list permits all, an empty one nothing. */
static void put_allowed(struct build *b, json_t *object, const char *key,
                        const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	if (list && n == 0)
		put(b, object, key, json_array());
	put_list(b, object, key, list, n);
}

static void put_env(struct build *b, json_t *object, const struct dw_request *req)
{
	json_t *env;

	if (req->n_env == 0)
		return;
	env = json_object();
	for (size_t i = 0; i < req->n_env; i++)
		put_named(b, env, req->env[i].name,
		          make_text(b, req->env[i].value, strlen(req->env[i].value)));
	put(b, object, "env", env);
}

static void put_files(struct build *b, json_t *object, const struct dw_request *req)
{
	json_t *files;

	if (req->n_files == 0)
		return;
	files = json_object();
	for (size_t i = 0; i < req->n_files; i++) {
		const struct dw_bytes *content = &req->files[i].content;

		put_named(b, files, req->files[i].name,
		          content->len <= DW_AUDIT_WHOLE_MAX
		                  ? make_base64(content->data, content->len)
		                  : make_digest(b, content));
	}
	put(b, object, "files", files);
}

static void put_limits(struct build *b, json_t *object, const struct dw_limits *limits)
{
	json_auto_t *part = json_object();

	for (size_t i = 0; i < DW_LIMIT_COUNT; i++) {
		uint64_t value = dw_limit_get(limits, i), unit = dw_limit_rows[i].scale;

		if (value != 0)
			put(b, part, dw_limit_rows[i].key,
			    value % unit == 0 ? json_integer((json_int_t)(value / unit))
			                      : json_real((double)value / (double)unit));
	}
	if (json_object_size(part) > 0)
		put(b, object, "limits", json_incref(part));
}

static const char *const pulls[] = {
	[DW_PULL_MISSING] = NULL, /* the default */
	[DW_PULL_NEVER] = "never",
	[DW_PULL_ALWAYS] = "always",
};
_Static_assert(ARRAY_SIZE(pulls) == DW_PULL_COUNT, "a name for each");

char *dw_audit_describe(const struct dw_request *req)
{
	struct build build = {0}, *b = &build;
	json_auto_t *root = json_object();

	put_text(b, root, "language", req->language);
	if (req->code.data)
		put(b, root, "code", make_text(b, req->code.data, req->code.len));
	put_text(b, root, "command", req->command);
	put_text(b, root, "program", req->program);
	put_text(b, root, "level", req->level);
	put_text(b, root, "template", req->template);
	put_text(b, root, "image", req->image);
	put_text(b, root, "runtime", req->runtime);
	put_text(b, root, "pull", pulls[req->pull]);
	if (req->stdin_data.data)
		put(b, root, "stdin",
		    req->stdin_data.len <= DW_AUDIT_WHOLE_MAX
		            ? make_text(b, req->stdin_data.data, req->stdin_data.len)
		            : make_digest(b, &req->stdin_data));
	put_list(b, root, "args", req->args, req->n_args);
	put_env(b, root, req);
	put_files(b, root, req);
	put_list(b, root, "collect", req->collect, req->n_collect);
	put_text(b, root, "workspace", req->workspace);
	put_list(b, root, "writable_paths", req->writable, req->n_writable);
	put_allowed(b, root, "allowed_commands", req->allowed_commands);
	put_allowed(b, root, "allowed_modules", req->allowed_modules);
	put_text(b, root, "network", req->network == DW_NETWORK_FULL ? "full" : "none");
	put_limits(b, root, &req->limits);
	if (req->strict)
		put(b, root, "strict", json_true());

	return b->failed ? NULL
	                 : json_dumps(root, JSON_COMPACT | JSON_REAL_PRECISION(15));
}
