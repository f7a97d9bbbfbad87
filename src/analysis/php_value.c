/* SPDX-License-Identifier: Apache-2.0 */
/* What PHP's expressions come to. */
#include "analysis/php.h"

#include <string.h>

#include "analysis/fold.h"

uint32_t dw_php_argument(const struct dw_tree *tree, uint32_t call, unsigned index)
{
	uint32_t list = dw_child_in(tree, call, DW_F_ARGUMENTS);
	uint32_t c;

	if (!list)
		list = dw_child_of(tree, call, DW_K_ARGUMENTS);
	c = list ? dw_child_at(tree, list, index) : 0;
	return c && dw_kind(tree, c) == DW_K_ARGUMENT ? dw_child_last(tree, c) : 0;
}

struct dw_value dw_php_function_named(struct dw_reading *r, const char *text, size_t len)
{
	struct dw_value v;

	if (len > 0 && text[0] == '\\') {
		text++;
		len--;
	}
	if (len == 0 || len > 64 || memchr(text, '\\', len))
		return dw_unknown;
	v = dw_fold_case(r, dw_value_text(r, text, len), false);
	if (v.type == DW_V_TEXT)
		v.type = DW_V_NAME;
	return v;
}

struct dw_value dw_php_callee(struct dw_reading *r, uint32_t call)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t function = dw_child_in(tree, call, DW_F_FUNCTION);
	struct dw_value v, own;
	size_t len;
	const char *text;

	if (!function)
		return dw_unknown;
	text = dw_text(tree, function, &len);
	switch (dw_kind(tree, function)) {
	case DW_K_NAME:
		v = dw_php_function_named(r, text, len);
		if (v.type == DW_V_NAME &&
		    dw_lookup(r, 0, v.text, v.len, UINT32_MAX, &own) != DW_BOUND_NOT)
			return dw_unknown;
		return v;
	case DW_K_QUALIFIED_NAME:
		return dw_php_function_named(r, text, len);
	default:
		v = dw_eval(r, function);
		if (dw_value_is(v, DW_V_NAME, DW_PHP_REQUEST))
			return v;
		return v.type == DW_V_TEXT ? dw_php_function_named(r, v.text, v.len)
		                           : dw_unknown;
	}
}

struct dw_value dw_php_string_value(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	bool single = dw_kind(tree, part) == DW_K_STRING;
	struct dw_value all = dw_value_text(r, "", 0), piece;

	for (uint32_t c = dw_child_named(tree, part); c && all.type == DW_V_TEXT;
	     c = dw_next_named(tree, c)) {
		size_t len;
		const char *text = dw_text(tree, c, &len);

		if (dw_kind(tree, c) == DW_K_STRING_CONTENT)
			piece = dw_value_text(r, text, len);
		else if (dw_kind(tree, c) == DW_K_ESCAPE_SEQUENCE)
			piece = single ? dw_value_text(r, text + 1, len - 1)
			               : dw_unescape(r, text, len);
		else
			piece = dw_eval(r, c);
		all = dw_value_join(r, all, piece);
	}
	return all;
}

static struct dw_value known_call(struct dw_reading *r, uint32_t call, const char *f)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value a = dw_eval(r, dw_php_argument(tree, call, 0));
	struct dw_value b = dw_eval(r, dw_php_argument(tree, call, 1));

	if (strcmp(f, "strrev") == 0)
		return dw_fold_reverse(r, a);
	if (strcmp(f, "str_rot13") == 0)
		return dw_fold_rot13(r, a);
	if (strcmp(f, "base64_decode") == 0)
		return dw_fold_base64(r, a);
	if (strcmp(f, "hex2bin") == 0)
		return dw_fold_hex(r, a);
	if (strcmp(f, "urldecode") == 0 || strcmp(f, "rawurldecode") == 0)
		return dw_fold_percent(r, a);
	if (strcmp(f, "chr") == 0)
		return dw_fold_char(r, a);
	if (strcmp(f, "strtolower") == 0 || strcmp(f, "lcfirst") == 0)
		return dw_fold_case(r, a, false);
	if (strcmp(f, "strtoupper") == 0)
		return dw_fold_case(r, a, true);
	if (strcmp(f, "trim") == 0 || strcmp(f, "strval") == 0)
		return a;
	if (strcmp(f, "str_repeat") == 0)
		return b.type == DW_V_NUMBER ? dw_fold_times(r, a, b.number) : dw_unknown;
	if (strcmp(f, "str_replace") == 0)
		return dw_fold_replace(r, dw_eval(r, dw_php_argument(tree, call, 2)), a,
		                       b, true);
	if (strcmp(f, "substr") == 0 && b.type == DW_V_NUMBER && b.number >= 0) {
		struct dw_value n = dw_eval(r, dw_php_argument(tree, call, 2));
		int64_t end = n.type == DW_V_NUMBER && n.number >= 0 &&
		                              n.number < 100000 && b.number < 100000
		                      ? b.number + n.number
		                      : (int64_t)a.len;

		return dw_fold_slice(r, a, b.number, end, 1);
	}
	if (strcmp(f, "implode") == 0 || strcmp(f, "join") == 0) {
		if (a.type == DW_V_PART)
			return dw_fold_list(r, a.part, dw_value_text(r, "", 0));
		return b.type == DW_V_PART ? dw_fold_list(r, b.part, a) : dw_unknown;
	}
	return dw_unknown;
}

static struct dw_value subscript(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t object = dw_child_named(tree, part);
	uint32_t index = object ? dw_next_named(tree, object) : 0;
	struct dw_value v = dw_eval(r, object), key = dw_eval(r, index);
	int64_t at = 0;
	size_t len = 0;
	const char *text = object ? dw_text(tree, object, &len) : "";

	if (dw_word_in(dw_php_from_outside, text, len))
		return dw_value_name(r, DW_PHP_REQUEST);

	if (v.type == DW_V_TEXT && key.type == DW_V_NUMBER)
		return dw_fold_slice(r, v, key.number, key.number + 1, 1);
	if (v.type != DW_V_PART || dw_kind(tree, v.part) != DW_K_ARRAY_CREATION)
		return dw_unknown;
	for (uint32_t c = dw_child_named(tree, v.part); c && dw_step(r);
	     c = dw_next_named(tree, c), at++) {
		uint32_t first = dw_child_named(tree, c), second = 0;
		struct dw_value k;

		if (first)
			second = dw_next_named(tree, first);
		if (!second) {
			if (key.type == DW_V_NUMBER && key.number == at)
				return dw_eval(r, first);
			continue;
		}
		k = dw_eval(r, first);
		if (dw_value_same(k, key))
			return dw_eval(r, second);
	}
	return dw_unknown;
}

struct dw_value dw_php_eval(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v = dw_unknown;
	size_t len;
	const char *text = dw_text(tree, part, &len);

	switch (dw_kind(tree, part)) {
	case DW_K_VARIABLE_NAME:
		(void)dw_lookup(r, dw_part(tree, part)->scope, text, len,
		                dw_part(tree, part)->start, &v);
		return v;
	case DW_K_STRING:
	case DW_K_ENCAPSED_STRING:
	case DW_K_HEREDOC_BODY:
	case DW_K_NOWDOC_BODY:
		return dw_php_string_value(r, part);
	case DW_K_HEREDOC:
	case DW_K_NOWDOC:
		return dw_eval(r, dw_child_in(tree, part, DW_F_VALUE));
	case DW_K_INTEGER:
		return dw_literal_number(tree, part);
	case DW_K_BINARY_EXPRESSION:
		if (dw_child_of(tree, part, DW_K_T_DOT))
			return dw_value_join(r,
			                     dw_eval(r,
			                             dw_child_in(tree, part, DW_F_LEFT)),
			                     dw_eval(r, dw_child_in(tree, part,
			                                            DW_F_RIGHT)));
		/* "a" ^ "b" and the like are left alone. */
		return dw_child_of(tree, part, DW_K_T_PLUS)
		               ? dw_fold_plus(r,
		                              dw_eval(r,
		                                      dw_child_in(tree, part, DW_F_LEFT)),
		                              dw_eval(r, dw_child_in(tree, part,
		                                                     DW_F_RIGHT)))
		               : dw_unknown;
	case DW_K_PARENTHESIZED_EXPRESSION:
	case DW_K_ARRAY_ELEMENT:
		return dw_eval(r, dw_child_last(tree, part));
	case DW_K_CAST_EXPRESSION:
		return dw_eval(r, dw_child_in(tree, part, DW_F_VALUE));
	case DW_K_CONDITIONAL_EXPRESSION:
		return dw_either(r, dw_child_in(tree, part, DW_F_BODY),
		                 dw_child_in(tree, part, DW_F_ALTERNATIVE));
	case DW_K_ASSIGNMENT_EXPRESSION:
		return dw_eval(r, dw_child_in(tree, part, DW_F_RIGHT));
	case DW_K_SUBSCRIPT_EXPRESSION:
		return subscript(r, part);
	case DW_K_FUNCTION_CALL:
		v = dw_php_callee(r, part);
		return v.type == DW_V_NAME ? known_call(r, part, v.text) : dw_unknown;
	case DW_K_ARRAY_CREATION:
	case DW_K_ANONYMOUS_FUNCTION:
	case DW_K_ARROW_FUNCTION:
		return dw_value_part(part);
	default:
		return dw_unknown;
	}
}
