/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request is filled completely or not at all. A request that the JSON reader accepts
 * is valid, or the next check gives the reason.
 */
#undef NDEBUG
#include "dewar/request.h"

#include <jansson.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "run/request_check.h"

static void check_text(const char *text)
{
	assert(text && dw_utf8_valid(text, strlen(text)));
}

static void check_list(const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_text(list[i]);
}

/* A string is copied in full, or refused. */
static void check_key(const json_t *root, const char *key, const char *text)
{
	const json_t *value = json_object_get(root, key);

	assert((text != NULL) == (value && !json_is_null(value)));
	assert(!text ||
	       (json_is_string(value) && strlen(text) == json_string_length(value)));
	assert(!text || strcmp(text, json_string_value(value)) == 0);
}

/* An empty list is a list: only a missing list is no restriction. */
static void check_allowed(const json_t *root, const char *key, const char *const *list)
{
	const json_t *value = json_object_get(root, key);
	size_t n = 0;

	assert((list != NULL) == (value && !json_is_null(value)));
	for (; list && list[n]; n++)
		check_text(list[n]);
	assert(!list || (json_is_array(value) && json_array_size(value) == n));
}

static void check_filled(const struct dw_request *req, const json_t *root)
{
	check_key(root, "language", req->language);
	check_key(root, "command", req->command);
	check_key(root, "image", req->image);
	check_key(root, "workspace", req->workspace);
	assert((req->code.data != NULL) == (req->command == NULL));
	assert((req->code.data != NULL) == (req->language != NULL));
	assert(!req->program && req->stdin_fd == -1 && req->cancel_fd == -1);
	check_list(req->args, req->n_args);
	check_list(req->collect, req->n_collect);
	check_list(req->writable, req->n_writable);
	check_allowed(root, "allowed_commands", req->allowed_commands);
	check_allowed(root, "allowed_modules", req->allowed_modules);
	for (size_t i = 0; i < req->n_env; i++) {
		check_text(req->env[i].value);
		assert(req->env[i].name[0] != '\0' && !strchr(req->env[i].name, '='));
	}
	for (size_t i = 0; i < req->n_files; i++) {
		const struct dw_file_in *file = &req->files[i];
		autofree char *copy = malloc(file->content.len + 1);

		assert(dw_path_is_plain(file->name) && copy);
		memcpy(copy, file->content.data, file->content.len);
	}
	assert(!req->level || req->level[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw_request req, fresh;
	struct dw_error err = {0};
	json_t *root;

	dw_request_init(&req);
	memcpy(&fresh, &req, sizeof(req));
	if (dw_request_from_json(&req, (const char *)data, size, &err) < 0) {
		fuzz_check_refusal(&err);
		/* Padding too: it must be unchanged. */
		/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
		assert(memcmp(&req, &fresh, sizeof(req)) == 0);
		return 0;
	}
	assert(err.code == DW_OK);
	root = json_loadb((const char *)data, size, JSON_ALLOW_NUL, NULL);
	assert(root);
	check_filled(&req, root);
	json_decref(root);
	if (dw_request_check(&req, &err) < 0) {
		assert(err.code == DW_E_INVALID);
		fuzz_check_refusal(&err);
	}
	dw_request_finish(&req);
	assert(!req.owned && !req.code.data && !req.command && req.n_files == 0);
	return 0;
}
