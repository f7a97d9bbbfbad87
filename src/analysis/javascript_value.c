/* SPDX-License-Identifier: Apache-2.0 */
/* What JavaScript's expressions come to. */
#include "analysis/javascript.h"

#include <string.h>

#include "analysis/fold.h"

/* An object's constructor; the constructor of that one is Function. */
#define MAKER "?.constructor"

const char *dw_javascript_module_path(struct dw_reading *r, struct dw_value v)
{
	static const char node[] = "node:";
	const char *name = v.text;
	size_t len;

	if (strncmp(name, node, sizeof(node) - 1) == 0)
		name += sizeof(node) - 1;
	len = strlen(name);
	if (len > 9 && strcmp(name + len - 9, "/promises") == 0)
		len -= 9;
	return dw_keep(r, name, len);
}

const char *dw_javascript_key_of(struct dw_reading *r, uint32_t key)
{
	struct dw_value v;
	size_t len;
	const char *text;

	switch (dw_kind(&r->tree, key)) {
	case DW_K_COMPUTED_PROPERTY_NAME:
		v = dw_eval(r, dw_child_named(&r->tree, key));
		return v.type == DW_V_TEXT ? v.text : NULL;
	case DW_K_STRING:
		v = dw_eval(r, key);
		return v.type == DW_V_TEXT ? v.text : NULL;
	default:
		text = dw_text(&r->tree, key, &len);
		return dw_keep(r, text, len);
	}
}

static struct dw_value global(struct dw_reading *r, const char *name, size_t len)
{
	if (dw_word_in(dw_javascript_everything, name, len))
		return dw_value_name(r, "globalThis");
	if (dw_word_in(dw_javascript_globals, name, len))
		return dw_value_name(r, dw_keep(r, name, len) ?: "");
	return dw_unknown;
}

static struct dw_value name_value(struct dw_reading *r, uint32_t part)
{
	const struct dw_part *p = dw_part(&r->tree, part);
	struct dw_value v = dw_unknown, known;
	enum dw_bound bound;
	size_t len;
	const char *text = dw_text(&r->tree, part, &len);

	bound = dw_lookup(r, p->scope, text, len, p->start, &v);
	if (bound == DW_BOUND_SURELY ||
	    (bound == DW_BOUND_PERHAPS && p->field != DW_F_FUNCTION))
		return v;
	known = global(r, text, len);
	return known.type == DW_V_NAME ? known : v;
}

struct dw_value dw_javascript_member(struct dw_reading *r, struct dw_value base,
                                     const char *name, size_t len)
{
	static const char same[] = " default promises call apply bind prototype valueOf ";

	if (len == 11 && memcmp(name, "constructor", 11) == 0) {
		if (dw_value_is(base, DW_V_NAME, MAKER) ||
		    (base.type == DW_V_PART &&
		     dw_javascript_is_function(dw_kind(&r->tree, base.part))))
			return dw_value_name(r, "Function");
		if (!dw_value_is(base, DW_V_NAME, "module"))
			return dw_value_name(r, base.type == DW_V_NAME &&
			                                        !strchr(base.text, '(')
			                                ? "Function"
			                                : MAKER);
	}
	if (base.type != DW_V_NAME)
		return dw_unknown;
	if (dw_word_in(same, name, len))
		return base;
	if (strcmp(base.text, "globalThis") == 0)
		return global(r, name, len);
	/* The ways to require that are not called so. */
	if ((len == 7 && memcmp(name, "require", 7) == 0) ||
	    (len == 5 && memcmp(name, "_load", 5) == 0))
		return dw_value_name(r, "require");
	return dw_value_member(r, base, name, len);
}

static struct dw_value property(struct dw_reading *r, uint32_t object, const char *name,
                                size_t len)
{
	const struct dw_tree *tree = &r->tree;

	for (uint32_t c = dw_child_named(tree, object); c && dw_step(r);
	     c = dw_next_named(tree, c)) {
		uint32_t key = dw_kind(tree, c) == DW_K_PAIR
		                       ? dw_child_in(tree, c, DW_F_KEY)
		                       : 0;
		const char *text = NULL;

		if (dw_kind(tree, c) == DW_K_SHORTHAND_PROPERTY)
			key = c;
		if (key)
			text = dw_javascript_key_of(r, key);
		if (text && strlen(text) == len && memcmp(text, name, len) == 0)
			return dw_eval(r,
			               key == c ? c : dw_child_in(tree, c, DW_F_VALUE));
	}
	return dw_unknown;
}

uint32_t dw_javascript_argument(const struct dw_tree *tree, uint32_t call, unsigned index)
{
	uint32_t list = dw_child_in(tree, call, DW_F_ARGUMENTS);

	if (!list || dw_kind(tree, list) != DW_K_ARGUMENTS)
		return 0;
	return dw_child_at(tree, list, index);
}

static struct dw_value string_value(struct dw_reading *r, uint32_t part)
{
	return dw_fold_pieces(r, part, DW_K_STRING_FRAGMENT, DW_K_TEMPLATE_SUBSTITUTION);
}

/* A method of a text; an array of its characters is the text, as far as we go. */
static struct dw_value text_method(struct dw_reading *r, uint32_t call, struct dw_value v,
                                   uint32_t name)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value a = dw_eval(r, dw_javascript_argument(tree, call, 0));
	struct dw_value b = dw_eval(r, dw_javascript_argument(tree, call, 1));
	int64_t len = (int64_t)v.len;

	if (dw_text_is(tree, name, "concat")) {
		for (unsigned i = 0; i < 8 && dw_javascript_argument(tree, call, i); i++)
			v = dw_value_join(r, v,
			                  dw_eval(r,
			                          dw_javascript_argument(tree, call, i)));
		return v;
	}
	if (dw_text_is(tree, name, "reverse"))
		return dw_fold_reverse(r, v);
	if (dw_text_is(tree, name, "split") || dw_text_is(tree, name, "join"))
		return a.type == DW_V_TEXT && a.len == 0 ? v : dw_unknown;
	if (dw_text_is(tree, name, "replace") || dw_text_is(tree, name, "replaceAll"))
		return dw_fold_replace(r, v, a, b, dw_text_is(tree, name, "replaceAll"));
	if (dw_text_is(tree, name, "toLowerCase"))
		return dw_fold_case(r, v, false);
	if (dw_text_is(tree, name, "toUpperCase"))
		return dw_fold_case(r, v, true);
	if (dw_text_is(tree, name, "repeat"))
		return a.type == DW_V_NUMBER ? dw_fold_times(r, v, a.number) : dw_unknown;
	if (dw_text_is(tree, name, "charAt") || dw_text_is(tree, name, "at"))
		return a.type == DW_V_NUMBER && a.number >= 0 && a.number < len
		               ? dw_fold_slice(r, v, a.number, a.number + 1, 1)
		               : dw_unknown;
	if (dw_text_is(tree, name, "slice") || dw_text_is(tree, name, "substring"))
		return a.type == DW_V_NUMBER && a.number >= 0
		               ? dw_fold_slice(r, v, a.number,
		                               b.type == DW_V_NUMBER ? b.number : len, 1)
		               : dw_unknown;
	if (dw_text_is(tree, name, "trim") || dw_text_is(tree, name, "toString") ||
	    dw_text_is(tree, name, "valueOf"))
		return v;
	return dw_unknown;
}

bool dw_javascript_is_require(struct dw_value f)
{
	return dw_value_is(f, DW_V_NAME, "require") ||
	       dw_value_is(f, DW_V_NAME, "process.getBuiltinModule") ||
	       dw_value_is(f, DW_V_NAME, "module.createRequire()");
}

static struct dw_value known_call(struct dw_reading *r, uint32_t call, struct dw_value f)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value a = dw_eval(r, dw_javascript_argument(tree, call, 0)), b;

	if (dw_javascript_is_require(f) && a.type == DW_V_TEXT)
		return dw_value_name(r, dw_javascript_module_path(r, a) ?: "");
	if (strcmp(f.text, "Reflect.get") == 0) {
		b = dw_eval(r, dw_javascript_argument(tree, call, 1));
		return b.type == DW_V_TEXT ? dw_javascript_member(r, a, b.text, b.len)
		                           : dw_unknown;
	}
	if (strcmp(f.text, "String.fromCharCode") == 0 ||
	    strcmp(f.text, "String.fromCodePoint") == 0)
		return dw_fold_chars(r, dw_child_in(tree, call, DW_F_ARGUMENTS));
	if (strcmp(f.text, "String") == 0)
		return a;
	if (strcmp(f.text, "atob") == 0)
		return dw_fold_base64(r, a);
	if (strcmp(f.text, "unescape") == 0 || strncmp(f.text, "decodeURI", 9) == 0)
		return dw_fold_percent(r, a);
	if (strcmp(f.text, "Buffer.from") == 0) {
		b = dw_eval(r, dw_javascript_argument(tree, call, 1));
		if (dw_value_is(b, DW_V_TEXT, "base64"))
			return dw_fold_base64(r, a);
		return dw_value_is(b, DW_V_TEXT, "hex") ? dw_fold_hex(r, a) : a;
	}
	return dw_value_called(r, f);
}

static struct dw_value call_value(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t function = dw_child_in(tree, part, DW_F_FUNCTION);
	uint32_t object, name;
	struct dw_value v;

	if (!function)
		return dw_unknown;
	if (dw_kind(tree, function) == DW_K_IMPORT) {
		v = dw_eval(r, dw_javascript_argument(tree, part, 0));
		return v.type == DW_V_TEXT
		               ? dw_value_name(r, dw_javascript_module_path(r, v) ?: "")
		               : dw_unknown;
	}
	if (dw_kind(tree, function) == DW_K_MEMBER_EXPRESSION) {
		object = dw_child_in(tree, function, DW_F_OBJECT);
		name = dw_child_in(tree, function, DW_F_PROPERTY);
		v = dw_eval(r, object);
		if (v.type == DW_V_TEXT && name)
			return text_method(r, part, v, name);
		if (v.type == DW_V_PART && dw_kind(tree, v.part) == DW_K_ARRAY && name &&
		    dw_text_is(tree, name, "join"))
			return dw_fold_list(r, v.part,
			                    dw_eval(r, dw_javascript_argument(tree, part,
			                                                      0)));
	}
	v = dw_eval(r, function);
	return v.type == DW_V_NAME ? known_call(r, part, v) : dw_unknown;
}

static struct dw_value indexed(struct dw_reading *r, struct dw_value v,
                               struct dw_value key)
{
	const struct dw_tree *tree = &r->tree;

	if (key.type == DW_V_TEXT && v.type == DW_V_PART &&
	    dw_kind(tree, v.part) == DW_K_OBJECT)
		return property(r, v.part, key.text, key.len);
	if (key.type == DW_V_TEXT)
		return dw_javascript_member(r, v, key.text, key.len);
	if (key.type == DW_V_NUMBER && v.type == DW_V_PART && key.number >= 0)
		return dw_value_element(r, v.part, key.number);
	if (key.type == DW_V_NUMBER && v.type == DW_V_TEXT)
		return dw_fold_slice(r, v, key.number, key.number + 1, 1);
	return dw_unknown;
}

static struct dw_value binary(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t left = dw_child_in(tree, part, DW_F_LEFT);
	uint32_t right = dw_child_in(tree, part, DW_F_RIGHT);
	uint32_t operator= dw_child_in(tree, part, DW_F_OPERATOR);
	struct dw_value a;

	if (operator&& dw_kind(tree, operator) == DW_K_T_PLUS) {
		a = dw_eval(r, left);
		return a.type == DW_V_UNKNOWN ? a : dw_fold_plus(r, a, dw_eval(r, right));
	}
	if (operator&&(dw_text_is(tree, operator, "||") ||
	               dw_text_is(tree, operator, "&&") ||
	               dw_text_is(tree, operator, "??")))
		return dw_either(r, right, left);
	return dw_unknown;
}

struct dw_value dw_javascript_eval(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v;
	uint32_t c;
	size_t len;
	const char *text;

	switch (dw_kind(tree, part)) {
	case DW_K_IDENTIFIER:
	case DW_K_SHORTHAND_PROPERTY:
		return name_value(r, part);
	case DW_K_MEMBER_EXPRESSION:
		c = dw_child_in(tree, part, DW_F_PROPERTY);
		if (!c)
			return dw_unknown;
		text = dw_text(tree, c, &len);
		v = dw_eval(r, dw_child_in(tree, part, DW_F_OBJECT));
		if (v.type == DW_V_PART && dw_kind(tree, v.part) == DW_K_OBJECT)
			return property(r, v.part, text, len);
		return dw_javascript_member(r, v, text, len);
	case DW_K_SUBSCRIPT_EXPRESSION:
		return indexed(r, dw_eval(r, dw_child_in(tree, part, DW_F_OBJECT)),
		               dw_eval(r, dw_child_in(tree, part, DW_F_INDEX)));
	case DW_K_CALL_EXPRESSION:
		return call_value(r, part);
	case DW_K_NEW_EXPRESSION:
		return dw_value_called(r, dw_eval(r, dw_child_in(tree, part,
		                                                 DW_F_CONSTRUCTOR)));
	case DW_K_STRING:
	case DW_K_TEMPLATE_STRING:
		return string_value(r, part);
	case DW_K_NUMBER:
		return dw_literal_number(tree, part);
	case DW_K_BINARY_EXPRESSION:
		return binary(r, part);
	case DW_K_PARENTHESIZED_EXPRESSION:
	case DW_K_AWAIT_EXPRESSION:
	case DW_K_AS_EXPRESSION:
	case DW_K_SATISFIES_EXPRESSION:
	case DW_K_NON_NULL_EXPRESSION:
		return dw_eval(r, dw_child_named(tree, part));
	case DW_K_THIS:
		/* In a class or an object it is that; elsewhere it may be everything. */
		for (c = dw_part(tree, part)->parent; c; c = dw_part(tree, c)->parent)
			if (dw_kind(tree, c) == DW_K_CLASS_BODY ||
			    dw_kind(tree, c) == DW_K_OBJECT || !dw_step(r))
				return dw_unknown;
		return dw_value_name(r, "globalThis");
	case DW_K_SEQUENCE_EXPRESSION:
	case DW_K_TYPE_ASSERTION:
		return dw_eval(r, dw_child_last(tree, part));
	case DW_K_TERNARY_EXPRESSION:
		return dw_either(r, dw_child_in(tree, part, DW_F_CONSEQUENCE),
		                 dw_child_in(tree, part, DW_F_ALTERNATIVE));
	case DW_K_ASSIGNMENT_EXPRESSION:
		return dw_eval(r, dw_child_in(tree, part, DW_F_RIGHT));
	case DW_K_ARRAY:
	case DW_K_OBJECT:
	case DW_K_FUNCTION_EXPRESSION:
	case DW_K_ARROW_FUNCTION:
	case DW_K_GENERATOR_FUNCTION:
		return dw_value_part(part);
	default:
		return dw_unknown;
	}
}
