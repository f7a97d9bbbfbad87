/* SPDX-License-Identifier: Apache-2.0 */
/* What an expression comes to, and the memory that this lives in. */
#include "analysis/read_own.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_MAX ((size_t)16 << 20)
#define CHUNK ((size_t)64 << 10)

const struct dw_value dw_unknown = {0};

/* What folding makes lives until the reading ends. */
struct dw_arena {
	struct dw_arena *next;
	size_t used;
	size_t size;
	size_t all; /* in this one and those behind it */
	char data[];
};

char *dw_keep(struct dw_reading *r, const char *text, size_t len)
{
	struct dw_arena *arena = r->arena;
	char *at;

	if (!arena || arena->size - arena->used <= len) {
		size_t size = len + 1 > CHUNK ? len + 1 : CHUNK;

		if (arena && arena->all + size > ARENA_MAX) {
			r->fuel = 0;
			return NULL;
		}
		arena = malloc(sizeof(*arena) + size);
		if (!arena) {
			r->no_memory = true;
			return NULL;
		}
		arena->next = r->arena;
		arena->used = 0;
		arena->size = size;
		arena->all = (r->arena ? r->arena->all : 0) + size;
		r->arena = arena;
	}
	at = arena->data + arena->used;
	arena->used += len + 1;
	if (len > 0)
		memcpy(at, text, len);
	at[len] = '\0';
	return at;
}

void dw_arena_free(struct dw_arena *arena)
{
	while (arena) {
		struct dw_arena *next = arena->next;

		free(arena);
		arena = next;
	}
}

bool dw_step(struct dw_reading *r)
{
	if (r->fuel == 0)
		return false;
	r->fuel--;
	return true;
}

struct dw_value dw_value_text(struct dw_reading *r, const char *text, size_t len)
{
	const char *kept = len <= DW_FOLD_MAX ? dw_keep(r, text, len) : NULL;

	if (!kept)
		return dw_unknown;
	return (struct dw_value){.type = DW_V_TEXT, .text = kept, .len = len};
}

struct dw_value dw_value_name(struct dw_reading *r, const char *path)
{
	(void)r;
	return (struct dw_value){.type = DW_V_NAME, .text = path, .len = strlen(path)};
}

struct dw_value dw_value_number(int64_t number)
{
	return (struct dw_value){.type = DW_V_NUMBER, .number = number};
}

struct dw_value dw_value_part(uint32_t part)
{
	return (struct dw_value){.type = DW_V_PART, .part = part};
}

struct dw_value dw_value_join(struct dw_reading *r, struct dw_value a, struct dw_value b)
{
	char text[DW_FOLD_MAX];

	if (a.type != DW_V_TEXT || b.type != DW_V_TEXT || a.len + b.len > sizeof(text))
		return dw_unknown;
	if (a.len > 0)
		memcpy(text, a.text, a.len);
	if (b.len > 0)
		memcpy(text + a.len, b.text, b.len);
	return dw_value_text(r, text, a.len + b.len);
}

#define PATH_MAX_LEN 256U

struct dw_value dw_value_member(struct dw_reading *r, struct dw_value base,
                                const char *member, size_t len)
{
	char path[PATH_MAX_LEN];
	const char *kept;
	int n;

	if (base.type != DW_V_NAME || base.len + len + 2 > sizeof(path))
		return dw_unknown;
	n = snprintf(path, sizeof(path), "%s.%.*s", base.text, (int)len, member);
	kept = n > 0 ? dw_keep(r, path, (size_t)n) : NULL;
	return kept ? dw_value_name(r, kept) : dw_unknown;
}

bool dw_value_is(struct dw_value v, enum dw_value_type type, const char *text)
{
	return v.type == type && v.text && strcmp(v.text, text) == 0;
}

bool dw_value_same(struct dw_value a, struct dw_value b)
{
	return a.type == b.type && a.len == b.len && a.number == b.number &&
	       (!a.text || memcmp(a.text, b.text, a.len) == 0);
}

struct dw_value dw_value_element(struct dw_reading *r, uint32_t list, int64_t index)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t c = dw_child_named(tree, list);

	for (; c && index > 0 && dw_step(r); index--)
		c = dw_next_named(tree, c);
	return index == 0 ? dw_eval(r, c) : dw_unknown;
}

struct dw_value dw_eval(struct dw_reading *r, uint32_t part)
{
	struct dw_value v = dw_unknown;

	if (part == 0 || r->depth >= DW_DEPTH_MAX || !dw_step(r))
		return v;
	r->depth++;
	v = r->reader->eval(r, part);
	r->depth--;
	return v;
}

struct dw_value dw_literal_number(const struct dw_tree *tree, uint32_t part)
{
	size_t len, n = 0;
	const char *text = dw_text(tree, part, &len);
	char plain[32], *end = NULL;
	long long number;
	int base = 10;

	for (size_t i = 0; i < len && n + 1 < sizeof(plain); i++)
		if (text[i] != '_')
			plain[n++] = text[i];
	plain[n] = '\0';
	if (n > 2 && plain[0] == '0' && strchr("xX", plain[1]))
		base = 16;
	else if (n > 2 && plain[0] == '0' && strchr("oO", plain[1]))
		base = 8;
	else if (n > 2 && plain[0] == '0' && strchr("bB", plain[1]))
		base = 2;
	errno = 0;
	number = strtoll(base == 8 || base == 2 ? plain + 2 : plain, &end, base);
	if (errno != 0 || n == 0 || *end != '\0' || len >= sizeof(plain))
		return dw_unknown;
	return dw_value_number(number);
}
