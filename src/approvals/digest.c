/* SPDX-License-Identifier: Apache-2.0 */
#include <endian.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

#include "approvals/approvals.h"
#include "request/limits.h"

/*
 * Each value is hashed as its name, its length and its bytes, so that different requests
 * never give the same bytes. An absent value has the impossible length ABSENT. A test
 * compares the fields here with those of the struct, so that none is forgotten.
 */

#define ABSENT UINT64_MAX

static void put_length(struct sha256_ctx *ctx, uint64_t len)
{
	uint64_t le = htole64(len);

	sha256_update(ctx, sizeof(le), (const uint8_t *)&le);
}

static void put_bytes(struct sha256_ctx *ctx, const void *data, size_t len)
{
	put_length(ctx, data ? len : ABSENT);
	if (data)
		sha256_update(ctx, len, data);
}

static void put_text(struct sha256_ctx *ctx, const char *text)
{
	put_bytes(ctx, text, text ? strlen(text) : 0);
}

static void text(struct sha256_ctx *ctx, const char *name, const char *value)
{
	put_text(ctx, name);
	put_text(ctx, value);
}

static void bytes(struct sha256_ctx *ctx, const char *name, const struct dw_bytes *value)
{
	put_text(ctx, name);
	put_bytes(ctx, value->data, value->len);
}

static void number(struct sha256_ctx *ctx, const char *name, uint64_t value)
{
	put_text(ctx, name);
	put_length(ctx, value);
}

static void list(struct sha256_ctx *ctx, const char *name, const char *const *values,
                 size_t n)
{
	number(ctx, name, n);
	for (size_t i = 0; i < n; i++)
		put_text(ctx, values[i]);
}

/* An allow-list that ends in NULL. A missing list permits all, an empty one nothing. */
static void allowed(struct sha256_ctx *ctx, const char *name, const char *const *values)
{
	size_t n = 0;

	while (values && values[n])
		n++;
	number(ctx, name, values ? n : ABSENT);
	for (size_t i = 0; i < n; i++)
		put_text(ctx, values[i]);
}

static void env(struct sha256_ctx *ctx, const struct dw_request *req)
{
	number(ctx, "env", req->n_env);
	for (size_t i = 0; i < req->n_env; i++) {
		put_text(ctx, req->env[i].name);
		put_text(ctx, req->env[i].value);
	}
}

static void files(struct sha256_ctx *ctx, const struct dw_request *req)
{
	number(ctx, "files", req->n_files);
	for (size_t i = 0; i < req->n_files; i++) {
		put_text(ctx, req->files[i].name);
		put_bytes(ctx, req->files[i].content.data, req->files[i].content.len);
	}
}

static void limits(struct sha256_ctx *ctx, const struct dw_limits *value)
{
	for (size_t i = 0; i < DW_LIMIT_COUNT; i++)
		number(ctx, dw_limit_rows[i].member, dw_limit_get(value, i));
}

void dw_approval_digest(const struct dw_request *req, char ret[DW_APPROVAL_HASH_MAX])
{
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	put_text(&ctx, "dewar request 1");
	text(&ctx, "language", req->language);
	bytes(&ctx, "code", &req->code);
	text(&ctx, "command", req->command);
	text(&ctx, "program", req->program);
	text(&ctx, "level", req->level);
	text(&ctx, "template", req->template);
	text(&ctx, "image", req->image);
	text(&ctx, "runtime", req->runtime);
	number(&ctx, "pull", req->pull);
	bytes(&ctx, "stdin_data", &req->stdin_data);
	number(&ctx, "stdin_fd", req->stdin_fd >= 0);
	list(&ctx, "args", req->args, req->n_args);
	env(&ctx, req);
	files(&ctx, req);
	list(&ctx, "collect", req->collect, req->n_collect);
	text(&ctx, "workspace", req->workspace);
	list(&ctx, "writable", req->writable, req->n_writable);
	allowed(&ctx, "allowed_commands", req->allowed_commands);
	allowed(&ctx, "allowed_modules", req->allowed_modules);
	number(&ctx, "network", req->network);
	limits(&ctx, &req->limits);
	number(&ctx, "strict", req->strict);

	sha256_digest(&ctx, sizeof(digest), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		(void)snprintf(ret + 2 * i, 3, "%02x", digest[i]);
}
