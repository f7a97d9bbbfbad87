/* SPDX-License-Identifier: Apache-2.0 */
/* What Python's expressions come to. */
#include "analysis/python.h"

#include <stdio.h>
#include <string.h>

#include "analysis/fold.h"

/* Called, a name that was given something else may still be the built-in. */
static struct dw_value name_value(struct dw_reading *r, uint32_t scope, const char *name,
                                  size_t len, uint32_t at, bool called)
{
	enum dw_bound bound;
	struct dw_value v = dw_unknown, star = dw_unknown;
	char path[64];

	bound = dw_lookup(r, scope, name, len, at, &v);
	if (bound == DW_BOUND_SURELY || (bound == DW_BOUND_PERHAPS && !called))
		return v;
	if (len == 12 && memcmp(name, "__builtins__", 12) == 0)
		return dw_value_name(r, "builtins");
	/* from os import * may have brought it. */
	if (dw_lookup(r, 0, "*", 1, at, &star) != DW_BOUND_NOT) {
		star = dw_value_member(r, star, name, len);
		if (star.type == DW_V_NAME && dw_danger_find(r->reader, star.text))
			return star;
	}
	if (len + 10 > sizeof(path) || !dw_word_in(dw_python_builtins, name, len))
		return v;
	(void)snprintf(path, sizeof(path), "builtins.%.*s", (int)len, name);
	return dw_value_name(r, dw_keep(r, path, strlen(path)) ?: "");
}

/* What name is of base, be it asked for with a dot, getattr() or __dict__[]. */
struct dw_value dw_python_member(struct dw_reading *r, struct dw_value base,
                                 const char *name, size_t len)
{
	static const char same[] = " __dict__ __call__ __func__ __wrapped__ __self__ ";
	const char *plain = len > 1 && name[0] == '_' ? name + 1 : name;

	if (len == 12 && memcmp(name, "__builtins__", 12) == 0)
		return dw_value_name(r, "builtins");
	if (base.type != DW_V_NAME)
		return dw_unknown;
	if (dw_word_in(same, name, len))
		return base;
	if (dw_value_is(base, DW_V_NAME, "globals()"))
		return name_value(r, 0, name, len, UINT32_MAX, false);
	if (dw_word_in(dw_python_carried, plain, (size_t)(name + len - plain)) &&
	    strncmp(base.text, plain, (size_t)(name + len - plain)) != 0)
		return dw_value_name(r, dw_keep(r, plain, (size_t)(name + len - plain))
		                                ?: "");
	return dw_value_member(r, base, name, len);
}

uint32_t dw_python_argument(const struct dw_tree *tree, uint32_t call, unsigned index)
{
	uint32_t list = dw_child_in(tree, call, DW_F_ARGUMENTS);
	uint32_t c = list ? dw_child_at(tree, list, index) : 0;

	return c && dw_kind(tree, c) != DW_K_KEYWORD_ARGUMENT ? c : 0;
}

static struct dw_value string_value(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t start = dw_child_of(tree, part, DW_K_STRING_START);
	struct dw_value all = dw_value_text(r, "", 0), piece;
	bool raw = false;
	size_t len;
	const char *text;

	if (!start)
		return dw_unknown;
	text = dw_text(tree, start, &len);
	raw = memchr(text, 'r', len) || memchr(text, 'R', len);
	for (uint32_t c = dw_next(tree, start); c; c = dw_next(tree, c)) {
		text = dw_text(tree, c, &len);
		switch (dw_kind(tree, c)) {
		case DW_K_STRING_CONTENT:
			piece = raw ? dw_value_text(r, text, len)
			            : dw_unescape(r, text, len);
			break;
		case DW_K_INTERPOLATION:
			piece = dw_eval(r, dw_child_named(tree, c));
			break;
		case DW_K_STRING_END:
			continue;
		default:
			return dw_unknown;
		}
		all = dw_value_join(r, all, piece);
	}
	return all;
}

/* Replace each hole ("%s", "{}") by the next of the texts. */
static struct dw_value filled(struct dw_reading *r, struct dw_value form,
                              const char *hole, uint32_t first)
{
	struct dw_value all = dw_value_text(r, "", 0);
	const char *p = form.text, *next;

	while ((next = strstr(p, hole)) && first) {
		all = dw_value_join(r, all, dw_value_text(r, p, (size_t)(next - p)));
		all = dw_value_join(r, all, dw_eval(r, first));
		p = next + strlen(hole);
		first = dw_next_named(&r->tree, first);
	}
	return dw_value_join(r, all, dw_value_text(r, p, strlen(p)));
}

static struct dw_value binary(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t right = dw_child_in(tree, part, DW_F_RIGHT);
	uint32_t operator= dw_child_in(tree, part, DW_F_OPERATOR);
	struct dw_value a = dw_eval(r, dw_child_in(tree, part, DW_F_LEFT)), b;

	if (a.type == DW_V_UNKNOWN || !operator|| !right)
		return dw_unknown;
	switch (dw_kind(tree, operator)) {
	case DW_K_T_PLUS:
		return dw_fold_plus(r, a, dw_eval(r, right));
	case DW_K_T_MINUS:
		b = dw_eval(r, right);
		if (a.type == DW_V_NUMBER && b.type == DW_V_NUMBER)
			return dw_value_number(
				(int64_t)((uint64_t)a.number - (uint64_t)b.number));
		return dw_unknown;
	case DW_K_T_STAR:
		b = dw_eval(r, right);
		return b.type == DW_V_NUMBER ? dw_fold_times(r, a, b.number) : dw_unknown;
	case DW_K_T_PERCENT:
		if (a.type != DW_V_TEXT)
			return dw_unknown;
		return filled(r, a, "%s",
		              dw_kind(tree, right) == DW_K_TUPLE
		                      ? dw_child_named(tree, right)
		                      : right);
	default:
		return dw_unknown;
	}
}

static struct dw_value entry(struct dw_reading *r, uint32_t dictionary,
                             struct dw_value key)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t c = dw_child_named(tree, dictionary);

	for (; c && dw_step(r); c = dw_next_named(tree, c)) {
		struct dw_value k;

		if (dw_kind(tree, c) != DW_K_PAIR)
			continue;
		k = dw_eval(r, dw_child_in(tree, c, DW_F_KEY));
		if (dw_value_same(k, key))
			return dw_eval(r, dw_child_in(tree, c, DW_F_VALUE));
	}
	return dw_unknown;
}

/* text[a:b:c] with constants, or all that may be left out. */
static struct dw_value sliced(struct dw_reading *r, struct dw_value v, uint32_t slice)
{
	const struct dw_tree *tree = &r->tree;
	int64_t bound[3] = {0, (int64_t)v.len, 1}, len = (int64_t)v.len;
	bool given[3] = {false, false, false};
	int place = 0;

	for (uint32_t c = dw_child(tree, slice); c; c = dw_next(tree, c)) {
		if (dw_kind(tree, c) == DW_K_T_COLON) {
			place++;
			continue;
		}
		if (place < 3) {
			struct dw_value b = dw_eval(r, c);

			if (b.type != DW_V_NUMBER || b.number > 100000 ||
			    b.number < -100000)
				return dw_unknown;
			bound[place] = b.number;
			given[place] = true;
		}
	}
	if (bound[2] == 0)
		return dw_unknown;
	for (int i = 0; i < 2; i++)
		if (given[i] && bound[i] < 0)
			bound[i] += len;
	if (bound[2] < 0 && !given[0])
		bound[0] = len - 1;
	if (bound[2] < 0 && !given[1])
		bound[1] = -1;
	return dw_fold_slice(r, v, bound[0], bound[1], bound[2]);
}

static struct dw_value subscript(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v = dw_eval(r, dw_child_in(tree, part, DW_F_VALUE));
	uint32_t index = dw_child_in(tree, part, DW_F_SUBSCRIPT);
	struct dw_value key;

	if (!index || v.type == DW_V_UNKNOWN)
		return dw_unknown;
	if (v.type == DW_V_TEXT && dw_kind(tree, index) == DW_K_SLICE)
		return sliced(r, v, index);
	key = dw_eval(r, index);
	if (v.type == DW_V_NAME && key.type == DW_V_TEXT)
		return dw_value_is(v, DW_V_NAME, "sys.modules")
		               ? dw_value_name(r, key.text)
		               : dw_python_member(r, v, key.text, key.len);
	if (v.type == DW_V_TEXT && key.type == DW_V_NUMBER) {
		int64_t i = key.number < 0 ? key.number + (int64_t)v.len : key.number;

		return i >= 0 && i < (int64_t)v.len ? dw_value_text(r, v.text + i, 1)
		                                    : dw_unknown;
	}
	if (v.type == DW_V_PART && dw_kind(tree, v.part) == DW_K_DICTIONARY)
		return entry(r, v.part, key);
	if (v.type == DW_V_PART && key.type == DW_V_NUMBER && key.number >= 0)
		return dw_value_element(r, v.part, key.number);
	return dw_unknown;
}

/* separator.join(list), and of map(chr, list). */
static struct dw_value join_list(struct dw_reading *r, struct dw_value between,
                                 uint32_t list)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v;

	if (list && dw_kind(tree, list) == DW_K_CALL) {
		v = dw_eval(r, dw_child_in(tree, list, DW_F_FUNCTION));
		if (dw_value_is(v, DW_V_NAME, "builtins.map") &&
		    dw_value_is(dw_eval(r, dw_python_argument(tree, list, 0)), DW_V_NAME,
		                "builtins.chr")) {
			v = dw_eval(r, dw_python_argument(tree, list, 1));
			return v.type == DW_V_PART ? dw_fold_chars(r, v.part)
			                           : dw_unknown;
		}
		if (dw_value_is(v, DW_V_NAME, "builtins.reversed")) {
			return dw_fold_reverse(r,
			                       dw_eval(r, dw_python_argument(tree, list,
			                                                     0)));
		}
	}
	v = dw_eval(r, list);
	if (v.type == DW_V_TEXT && between.len == 0)
		return v;
	if (v.type != DW_V_PART || !dw_python_is_sequence(dw_kind(tree, v.part)))
		return dw_unknown;
	return dw_fold_list(r, v.part, between);
}

/* A method of a text. */
static struct dw_value text_method(struct dw_reading *r, uint32_t call, struct dw_value v,
                                   uint32_t name)
{
	const struct dw_tree *tree = &r->tree;

	if (dw_text_is(tree, name, "join"))
		return join_list(r, v, dw_python_argument(tree, call, 0));
	if (dw_text_is(tree, name, "replace"))
		return dw_fold_replace(r, v,
		                       dw_eval(r, dw_python_argument(tree, call, 0)),
		                       dw_eval(r, dw_python_argument(tree, call, 1)),
		                       true);
	if (dw_text_is(tree, name, "format"))
		return filled(r, v, "{}", dw_python_argument(tree, call, 0));
	if (dw_text_is(tree, name, "lower") || dw_text_is(tree, name, "casefold"))
		return dw_fold_case(r, v, false);
	if (dw_text_is(tree, name, "upper"))
		return dw_fold_case(r, v, true);
	if (dw_text_is(tree, name, "encode") || dw_text_is(tree, name, "decode") ||
	    dw_text_is(tree, name, "strip") || dw_text_is(tree, name, "__str__"))
		return v;
	return dw_unknown;
}

/* What calls of the library's functions come to, where we know. */
static struct dw_value known_call(struct dw_reading *r, uint32_t call, struct dw_value f)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value a = dw_eval(r, dw_python_argument(tree, call, 0));
	struct dw_value b;

	if (strcmp(f.text, "builtins.getattr") == 0) {
		b = dw_eval(r, dw_python_argument(tree, call, 1));
		return b.type == DW_V_TEXT ? dw_python_member(r, a, b.text, b.len)
		                           : dw_unknown;
	}
	if (strcmp(f.text, "builtins.globals") == 0 ||
	    strcmp(f.text, "builtins.locals") == 0)
		return dw_value_name(r, "globals()");
	if (strcmp(f.text, "builtins.vars") == 0)
		return dw_python_argument(tree, call, 0) ? a
		                                         : dw_value_name(r, "globals()");
	if (strcmp(f.text, "builtins.chr") == 0)
		return dw_fold_char(r, a);
	if (strcmp(f.text, "builtins.str") == 0)
		return a;
	if (strcmp(f.text, "builtins.bytes") == 0 ||
	    strcmp(f.text, "builtins.bytearray") == 0)
		return a.type == DW_V_PART ? dw_fold_chars(r, a.part) : a;
	if (strcmp(f.text, "builtins.bytes.fromhex") == 0 ||
	    strcmp(f.text, "binascii.unhexlify") == 0)
		return dw_fold_hex(r, a);
	if (strcmp(f.text, "base64.b64decode") == 0 ||
	    strcmp(f.text, "base64.standard_b64decode") == 0)
		return dw_fold_base64(r, a);
	if (strcmp(f.text, "functools.partial") == 0)
		return a;
	if (strcmp(f.text, "builtins.__import__") == 0 && a.type == DW_V_TEXT)
		return dw_value_name(r, dw_keep(r, a.text, strcspn(a.text, ".")) ?: "");
	if (strcmp(f.text, "importlib.import_module") == 0 && a.type == DW_V_TEXT)
		return dw_value_name(r, a.text);
	/* x.get("name") of a dictionary that is a name space. */
	if (a.type == DW_V_TEXT && f.len > 4 && strcmp(f.text + f.len - 4, ".get") == 0 &&
	    (strncmp(f.text, "builtins", 8) == 0 ||
	     strncmp(f.text, "sys.modules", 11) == 0)) {
		if (f.text[0] == 's')
			return dw_value_name(r, a.text);
		b = dw_value_name(r, dw_keep(r, f.text, f.len - 4) ?: "");
		return dw_python_member(r, b, a.text, a.len);
	}
	if (strcmp(f.text, "codecs.decode") == 0) {
		b = dw_eval(r, dw_python_argument(tree, call, 1));
		return b.type == DW_V_TEXT && strncmp(b.text, "rot", 3) == 0
		               ? dw_fold_rot13(r, a)
		               : dw_unknown;
	}
	return dw_value_called(r, f);
}

static struct dw_value call_value(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t function = dw_child_in(tree, part, DW_F_FUNCTION);
	struct dw_value v;

	if (!function)
		return dw_unknown;
	if (dw_kind(tree, function) == DW_K_ATTRIBUTE) {
		v = dw_eval(r, dw_child_in(tree, function, DW_F_OBJECT));
		if (v.type == DW_V_TEXT)
			return text_method(r, part, v,
			                   dw_child_in(tree, function, DW_F_ATTRIBUTE));
	}
	v = dw_eval(r, function);
	return v.type == DW_V_NAME ? known_call(r, part, v) : dw_unknown;
}

struct dw_value dw_python_eval(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t c;
	struct dw_value v;
	size_t len;
	const char *text;

	switch (dw_kind(tree, part)) {
	case DW_K_IDENTIFIER:
		text = dw_text(tree, part, &len);
		return name_value(r, dw_part(tree, part)->scope, text, len,
		                  dw_part(tree, part)->start,
		                  dw_part(tree, part)->field == DW_F_FUNCTION);
	case DW_K_ATTRIBUTE:
		c = dw_child_in(tree, part, DW_F_ATTRIBUTE);
		if (!c)
			return dw_unknown;
		text = dw_text(tree, c, &len);
		return dw_python_member(r,
		                        dw_eval(r, dw_child_in(tree, part, DW_F_OBJECT)),
		                        text, len);
	case DW_K_SUBSCRIPT:
		return subscript(r, part);
	case DW_K_CALL:
		return call_value(r, part);
	case DW_K_STRING:
		return string_value(r, part);
	case DW_K_CONCATENATED_STRING:
		return dw_fold_list(r, part, dw_value_text(r, "", 0));
	case DW_K_BINARY_OPERATOR:
		return binary(r, part);
	case DW_K_INTEGER:
		return dw_literal_number(tree, part);
	case DW_K_UNARY_OPERATOR:
		v = dw_eval(r, dw_child_in(tree, part, DW_F_ARGUMENT));
		return v.type == DW_V_NUMBER && dw_child_of(tree, part, DW_K_T_MINUS)
		               ? dw_value_number((int64_t) - (uint64_t)v.number)
		               : dw_unknown;
	case DW_K_PARENTHESIZED_EXPRESSION:
	case DW_K_AWAIT:
		return dw_eval(r, dw_child_named(tree, part));
	case DW_K_NAMED_EXPRESSION:
		return dw_eval(r, dw_child_in(tree, part, DW_F_VALUE));
	case DW_K_ASSIGNMENT:
		return dw_eval(r, dw_child_in(tree, part, DW_F_RIGHT));
	case DW_K_AS_PATTERN:
		return dw_eval(r, dw_child_named(tree, part));
	case DW_K_BOOLEAN_OPERATOR:
		return dw_either(r, dw_child_in(tree, part, DW_F_RIGHT),
		                 dw_child_in(tree, part, DW_F_LEFT));
	case DW_K_CONDITIONAL_EXPRESSION:
		c = dw_child_named(tree, part);
		return dw_either(r, c,
		                 c ? dw_next_named(tree, dw_next_named(tree, c)) : 0);
	case DW_K_LIST:
	case DW_K_TUPLE:
	case DW_K_EXPRESSION_LIST:
	case DW_K_DICTIONARY:
		return dw_value_part(part);
	default:
		return dw_unknown;
	}
}
