/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates expressions by the table of the language. */
#include "analysis/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_MAX_LEN 256U

const struct dw_value dw_unknown = {0};

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

struct dw_value dw_value_name(const char *path)
{
	if (!path)
		return dw_unknown;
	return (struct dw_value){.type = DW_V_NAME, .text = path, .len = strlen(path)};
}

struct dw_value dw_value_number(int64_t number)
{
	return (struct dw_value){.type = DW_V_NUMBER, .number = number};
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

struct dw_value dw_value_path(struct dw_reading *r, const char *front, const char *name,
                              size_t len)
{
	char path[PATH_MAX_LEN];
	int n;

	if (!front)
		return dw_value_name(dw_keep(r, name, len));
	if (strlen(front) + len + 2 > sizeof(path))
		return dw_unknown;
	n = snprintf(path, sizeof(path), "%s.%.*s", front, (int)len, name);
	return dw_value_name(dw_keep(r, path, (size_t)n));
}

struct dw_value dw_value_member(struct dw_reading *r, struct dw_value base,
                                const char *member, size_t len)
{
	return base.type == DW_V_NAME ? dw_value_path(r, base.text, member, len)
	                              : dw_unknown;
}

/* The result of calling f: for the name "f", the name "f()". */
static struct dw_value result_of(struct dw_reading *r, struct dw_value f)
{
	char path[PATH_MAX_LEN];

	if (f.type != DW_V_NAME || f.len + 3 > sizeof(path))
		return dw_unknown;
	(void)snprintf(path, sizeof(path), "%s()", f.text);
	return dw_value_name(dw_keep(r, path, f.len + 2));
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

bool dw_value_in(struct dw_value v, const char *words)
{
	return v.type == DW_V_NAME && dw_word_in(words, v.text, v.len);
}

struct dw_value dw_value_element(struct dw_reading *r, uint32_t list, int64_t index)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t c = dw_child_named(tree, list);

	for (; c && index > 0 && dw_step(r); index--)
		c = dw_next_named(tree, c);
	return index == 0 ? dw_eval(r, c) : dw_unknown;
}

struct dw_value dw_value_entry(struct dw_reading *r, uint32_t object, struct dw_value key)
{
	const struct dw_tree *tree = &r->tree;

	for (uint32_t c = dw_child_named(tree, object); c && dw_step(r);
	     c = dw_next_named(tree, c)) {
		uint32_t name = c, value = c;
		struct dw_value k;

		if (dw_kind(tree, c) == DW_K_PAIR) {
			name = dw_child_in(tree, c, DW_F_KEY);
			value = dw_child_in(tree, c, DW_F_VALUE);
		} else if (dw_kind(tree, c) != DW_K_SHORTHAND_PROPERTY) {
			continue;
		}
		k = !name              ? dw_unknown
		    : r->language->key ? r->language->key(r, name)
		                       : dw_eval(r, name);
		if (dw_value_same(k, key))
			return dw_eval(r, value);
	}
	return dw_unknown;
}

uint32_t dw_argument(const struct dw_reading *r, uint32_t call, unsigned index)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t list = dw_child_in(tree, call, DW_F_ARGUMENTS), c;

	if (!list)
		list = dw_child_of(tree, call, DW_K_ARGUMENTS);
	/* In JavaScript, f`text` calls f with a template; it has no list of arguments. */
	if (!list || dw_kind(tree, list) == DW_K_TEMPLATE_STRING)
		return 0;
	c = dw_child_at(tree, list, index);
	if (r->language->wraps_arguments)
		return c && dw_kind(tree, c) == DW_K_ARGUMENT ? dw_child_last(tree, c)
		                                              : 0;
	return c && dw_kind(tree, c) != DW_K_KEYWORD_ARGUMENT ? c : 0;
}

struct dw_value dw_eval_argument(struct dw_reading *r, uint32_t call, unsigned index)
{
	return dw_eval(r, dw_argument(r, call, index));
}

struct dw_value dw_eval_text(struct dw_reading *r, uint32_t part)
{
	size_t len;
	const char *text = dw_text(&r->tree, part, &len);

	return dw_value_text(r, text, len);
}

struct dw_value dw_eval_either(struct dw_reading *r, uint32_t a, uint32_t b)
{
	struct dw_value v = dw_eval(r, a), w = dw_eval(r, b);

	return v.type == DW_V_NAME || w.type == DW_V_UNKNOWN ? v : w;
}

/* 12, 0x41, 1_000 */
static struct dw_value literal_number(const struct dw_tree *tree, uint32_t part)
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
	if (n > 2 && plain[0] == '0')
		base = strchr("xX", plain[1])   ? 16
		       : strchr("oO", plain[1]) ? 8
		       : strchr("bB", plain[1]) ? 2
		                                : 10;
	errno = 0;
	number = strtoll(base == 8 || base == 2 ? plain + 2 : plain, &end, base);
	if (errno != 0 || n == 0 || *end != '\0' || len >= sizeof(plain))
		return dw_unknown;
	return dw_value_number(number);
}

/* A string literal consists of plain text, escapes and interpolated expressions. */
struct dw_value dw_eval_string(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	/* Only in Python: the opening quotes with their prefix, such as r or f. */
	uint32_t start = dw_child_of(tree, part, DW_K_STRING_START);
	bool plain = r->language->plain_quotes && dw_kind(tree, part) == DW_K_STRING;
	struct dw_value all = dw_value_text(r, "", 0), piece;
	size_t len;
	const char *text = start ? dw_text(tree, start, &len) : "";
	bool raw = !start || memchr(text, 'r', len) || memchr(text, 'R', len);

	for (uint32_t c = dw_child_named(tree, part); c && all.type == DW_V_TEXT;
	     c = dw_next_named(tree, c)) {
		text = dw_text(tree, c, &len);
		switch (dw_kind(tree, c)) {
		case DW_K_STRING_START:
		case DW_K_STRING_END:
			continue;
		case DW_K_STRING_CONTENT:
		case DW_K_STRING_FRAGMENT:
			piece = raw ? dw_value_text(r, text, len)
			            : dw_unescape(r, text, len);
			break;
		case DW_K_ESCAPE_SEQUENCE:
			piece = plain ? dw_value_text(r, text + 1, len - 1)
			              : dw_unescape(r, text, len);
			break;
		default:
			piece = dw_eval(r, c);
			break;
		}
		all = dw_value_join(r, all, piece);
	}
	return all;
}

struct dw_value dw_name_value(struct dw_reading *r, uint32_t scope, const char *name,
                              size_t len, uint32_t at, bool called)
{
	struct dw_value v = dw_unknown;
	enum dw_bound bound = dw_lookup(r, scope, name, len, at, &v);

	/* A name that is called may still be the language's own function. */
	if (!r->language->global || bound == DW_BOUND_SURELY ||
	    (bound == DW_BOUND_PERHAPS && !called))
		return v;
	return r->language->global(r, name, len, at, bound, v);
}

static struct dw_value member_value(struct dw_reading *r, uint32_t part,
                                    const struct dw_node *node)
{
	uint32_t name = dw_side(r, part, node->b);
	struct dw_value base;
	size_t len;
	const char *text;

	if (!name)
		return dw_unknown;
	text = dw_text(&r->tree, name, &len);
	base = dw_eval(r, dw_side(r, part, node->a));
	if (base.type == DW_V_PART && dw_kind(&r->tree, base.part) == DW_K_OBJECT)
		return dw_value_entry(r, base.part, dw_eval_text(r, name));
	return r->language->member(r, base, text, len);
}

static enum dw_fold find_folder(const struct dw_folder *list, const char *name,
                                size_t len, enum dw_value_type on)
{
	for (; list && list->words; list++)
		if (list->on == on && dw_word_in(list->words, name, len))
			return list->fold;
	return DW_FOLD_NONE;
}

/* The object and the name of the called method; both 0 if a function is called. */
static void find_method(const struct dw_reading *r, uint32_t call, uint32_t *object,
                        uint32_t *name)
{
	const struct dw_node *node = dw_node(r, call);
	uint32_t from = call;

	*object = *name = 0;
	if (!node->b) {
		from = dw_side(r, call, node->a);
		if (!from || dw_node(r, from)->eval != DW_EVAL_MEMBER)
			return;
		node = dw_node(r, from);
	}
	*object = dw_side(r, from, node->a);
	*name = dw_side(r, from, node->b);
}

struct dw_value dw_callee(struct dw_reading *r, uint32_t call)
{
	return r->language->callee ? r->language->callee(r, call)
	                           : dw_eval(r, dw_side(r, call, dw_node(r, call)->a));
}

static struct dw_value call_value(struct dw_reading *r, uint32_t call)
{
	const struct dw_syntax *language = r->language;
	uint32_t object, name;
	struct dw_value v, ret = dw_unknown;
	enum dw_fold fold = DW_FOLD_NONE;
	size_t len;
	const char *text;

	find_method(r, call, &object, &name);
	v = dw_eval(r, object);
	if (v.type != DW_V_UNKNOWN && v.type != DW_V_NAME) {
		/* Not for object literals: a member may have the name of a method. */
		if (name && (v.type != DW_V_PART || dw_node(r, v.part)->sequence ||
		             language->literals_closed)) {
			text = dw_text(&r->tree, name, &len);
			fold = find_folder(language->methods, text, len, v.type);
		}
		if (fold == DW_FOLD_HOOK)
			return language->method(r, call, v);
		if (fold != DW_FOLD_NONE || v.type == DW_V_TEXT ||
		    language->literals_closed)
			return dw_fold(r, fold, v, call, 0);
	}
	v = dw_callee(r, call);
	if (v.type == DW_V_NAME) {
		fold = find_folder(language->functions, v.text, v.len, DW_V_UNKNOWN);
		if (fold != DW_FOLD_NONE)
			return dw_fold(r, fold, dw_eval_argument(r, call, 0), call, 1);
	}
	if (language->call && language->call(r, call, v, dw_eval_argument(r, call, 0),
	                                     dw_eval_argument(r, call, 1), &ret))
		return ret;
	return language->opaque_calls ? dw_unknown : result_of(r, v);
}

static struct dw_value eval_part(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	const struct dw_node *node = dw_node(r, part);
	const struct dw_part *p = dw_part(tree, part);
	size_t len;
	const char *text;

	switch (node->eval) {
	case DW_EVAL_NONE:
		return node->eval_by ? node->eval_by(r, part) : dw_unknown;
	case DW_EVAL_NAME:
		text = dw_text(tree, part, &len);
		return dw_name_value(r, p->scope, text, len, p->start,
		                     p->field == DW_F_FUNCTION);
	case DW_EVAL_MEMBER:
		return member_value(r, part, node);
	case DW_EVAL_CALL:
		return call_value(r, part);
	case DW_EVAL_NEW:
		return result_of(r, dw_eval(r, dw_side(r, part, node->a)));
	case DW_EVAL_STRING:
		return dw_eval_string(r, part);
	case DW_EVAL_JOINED:
		return dw_fold_list(r, part, dw_value_text(r, "", 0));
	case DW_EVAL_NUMBER:
		return literal_number(tree, part);
	case DW_EVAL_BINARY:
		return dw_fold_binary(r, part);
	case DW_EVAL_FIRST:
		return dw_eval(r, dw_child_named(tree, part));
	case DW_EVAL_LAST:
		return dw_eval(r, dw_child_last(tree, part));
	case DW_EVAL_VALUE:
		return dw_eval(r, dw_side(r, part, node->b));
	case DW_EVAL_EITHER:
		return dw_eval_either(r, dw_side(r, part, node->a),
		                      dw_side(r, part, node->b));
	case DW_EVAL_PART:
		return (struct dw_value){.type = DW_V_PART, .part = part};
	}
	return dw_unknown;
}

struct dw_value dw_eval(struct dw_reading *r, uint32_t part)
{
	struct dw_value v = dw_unknown;

	if (part == 0 || r->depth >= DW_DEPTH_MAX || !dw_step(r))
		return v;
	r->depth++;
	v = eval_part(r, part);
	r->depth--;
	return v;
}
