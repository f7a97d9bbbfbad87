/* SPDX-License-Identifier: Apache-2.0 */
/* What Ruby's expressions come to. */
#include "analysis/ruby.h"

#include <stdio.h>
#include <string.h>

#include "analysis/fold.h"

uint32_t dw_ruby_argument(const struct dw_tree *tree, uint32_t call, unsigned index)
{
	uint32_t list = dw_child_in(tree, call, DW_F_ARGUMENTS);

	return list ? dw_child_at(tree, list, index) : 0;
}

struct dw_value dw_ruby_kernel_method(struct dw_reading *r, const char *name, size_t len)
{
	char path[64];

	if (len > 40 || !dw_word_in(dw_ruby_kernel, name, len))
		return dw_unknown;
	(void)snprintf(path, sizeof(path), "Kernel.%.*s", (int)len, name);
	return dw_value_name(r, dw_keep(r, path, strlen(path)) ?: "");
}

/* Has the program a method of that name, seen from here? */
static bool is_own(struct dw_reading *r, uint32_t part, const char *name, size_t len)
{
	char dotted[DW_RUBY_NAME_MAX + 2];
	struct dw_value v;

	if (len > DW_RUBY_NAME_MAX)
		return false;
	(void)snprintf(dotted, sizeof(dotted), ".%.*s", (int)len, name);
	return dw_lookup(r, dw_part(&r->tree, part)->scope, dotted, len + 1,
	                 dw_part(&r->tree, part)->start, &v) == DW_BOUND_SURELY;
}

struct dw_value dw_ruby_member(struct dw_reading *r, struct dw_value base,
                               const char *name, size_t len)
{
	static const char same[] = " call to_proc curry unbind bind public_method ";

	if (base.type != DW_V_NAME)
		return dw_unknown;
	if (dw_word_in(same, name, len))
		return base;
	if (strcmp(base.text, "self") == 0 || strcmp(base.text, "Object") == 0 ||
	    strcmp(base.text, "Kernel") == 0 || strcmp(base.text, "BasicObject") == 0) {
		struct dw_value v = dw_ruby_kernel_method(r, name, len);

		if (v.type == DW_V_NAME)
			return v;
	}
	return dw_value_member(r, base, name, len);
}

bool dw_ruby_is_send(const struct dw_tree *tree, uint32_t method)
{
	return dw_text_is(tree, method, "send") || dw_text_is(tree, method, "__send__") ||
	       dw_text_is(tree, method, "public_send") ||
	       dw_text_is(tree, method, "method") ||
	       dw_text_is(tree, method, "instance_method");
}

struct dw_value dw_ruby_callee(struct dw_reading *r, uint32_t call)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t receiver = dw_child_in(tree, call, DW_F_RECEIVER);
	uint32_t method = dw_child_in(tree, call, DW_F_METHOD);
	struct dw_value base, name;
	size_t len;
	const char *text;

	if (!method) /* x.() */
		return receiver ? dw_eval(r, receiver) : dw_unknown;
	text = dw_text(tree, method, &len);
	base = receiver ? dw_eval(r, receiver) : dw_value_name(r, "self");
	if (dw_ruby_is_send(tree, method)) {
		name = dw_eval(r, dw_ruby_argument(tree, call, 0));
		if (name.type != DW_V_TEXT)
			return dw_unknown;
		/* Whatever it is sent to, it has Kernel's methods. */
		if (base.type == DW_V_NAME)
			return dw_ruby_member(r, base, name.text, name.len);
		return dw_ruby_kernel_method(r, name.text, name.len);
	}
	if (!receiver)
		return is_own(r, call, text, len) ? dw_unknown
		                                  : dw_ruby_kernel_method(r, text, len);
	return dw_ruby_member(r, base, text, len);
}

struct dw_value dw_ruby_string_value(struct dw_reading *r, uint32_t part)
{
	return dw_fold_pieces(r, part, DW_K_STRING_CONTENT, DW_K_INTERPOLATION);
}

/* Methods of texts, numbers and lists. */
static struct dw_value text_method(struct dw_reading *r, uint32_t call, struct dw_value v)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t m = dw_child_in(tree, call, DW_F_METHOD);
	struct dw_value a = dw_eval(r, dw_ruby_argument(tree, call, 0));

	if (!m)
		return dw_unknown;
	if (v.type == DW_V_NUMBER)
		return dw_text_is(tree, m, "chr") ? dw_fold_char(r, v) : dw_unknown;
	if (v.type == DW_V_PART) {
		if (dw_text_is(tree, m, "join"))
			return dw_fold_list(r, v.part,
			                    a.type == DW_V_TEXT
			                            ? a
			                            : dw_value_text(r, "", 0));
		if (dw_text_is(tree, m, "pack")) {
			if (a.type == DW_V_TEXT && strchr("cCU", a.text[0]))
				return dw_fold_chars(r, v.part);
			if (a.type == DW_V_TEXT && a.text[0] == 'H')
				return dw_fold_hex(r, dw_eval(r, dw_child_named(tree,
				                                                v.part)));
		}
		return dw_unknown;
	}
	if (dw_text_is(tree, m, "+") || dw_text_is(tree, m, "concat") ||
	    dw_text_is(tree, m, "<<"))
		return dw_value_join(r, v, a);
	if (dw_text_is(tree, m, "reverse"))
		return dw_fold_reverse(r, v);
	if (dw_text_is(tree, m, "downcase"))
		return dw_fold_case(r, v, false);
	if (dw_text_is(tree, m, "upcase"))
		return dw_fold_case(r, v, true);
	if (dw_text_is(tree, m, "sub") || dw_text_is(tree, m, "gsub") ||
	    dw_text_is(tree, m, "tr"))
		return dw_fold_replace(r, v, a,
		                       dw_eval(r, dw_ruby_argument(tree, call, 1)), true);
	if (dw_text_is(tree, m, "unpack1"))
		return dw_value_is(a, DW_V_TEXT, "m") || dw_value_is(a, DW_V_TEXT, "m0")
		               ? dw_fold_base64(r, v)
		               : dw_unknown;
	if (dw_text_is(tree, m, "to_sym") || dw_text_is(tree, m, "to_s") ||
	    dw_text_is(tree, m, "intern") || dw_text_is(tree, m, "freeze") ||
	    dw_text_is(tree, m, "dup") || dw_text_is(tree, m, "strip") ||
	    dw_text_is(tree, m, "to_str"))
		return v;
	return dw_unknown;
}

static struct dw_value call_value(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t receiver = dw_child_in(tree, part, DW_F_RECEIVER);
	uint32_t method = dw_child_in(tree, part, DW_F_METHOD);
	struct dw_value v, a;

	if (receiver) {
		v = dw_eval(r, receiver);
		if (v.type == DW_V_TEXT || v.type == DW_V_NUMBER || v.type == DW_V_PART)
			return text_method(r, part, v);
	}
	a = dw_eval(r, dw_ruby_argument(tree, part, 0));
	if (method && dw_text_is(tree, method, "const_get") && a.type == DW_V_TEXT)
		return dw_value_name(r, a.text);
	if (method && dw_ruby_is_send(tree, method) &&
	    (dw_text_is(tree, method, "method") ||
	     dw_text_is(tree, method, "instance_method")))
		return dw_ruby_callee(r, part);
	v = dw_ruby_callee(r, part);
	if (dw_value_is(v, DW_V_NAME, "Kernel.binding"))
		return v;
	if (dw_value_is(v, DW_V_NAME, "Base64.decode64") ||
	    dw_value_is(v, DW_V_NAME, "Base64.strict_decode64"))
		return dw_fold_base64(r, a);
	return dw_value_called(r, v);
}

struct dw_value dw_ruby_eval(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t left, right;
	struct dw_value v = dw_unknown;
	size_t len;
	const char *text = dw_text(tree, part, &len);

	switch (dw_kind(tree, part)) {
	case DW_K_IDENTIFIER:
	case DW_K_GLOBAL_VARIABLE:
		if (dw_lookup(r, dw_part(tree, part)->scope, text, len,
		              dw_part(tree, part)->start, &v) == DW_BOUND_NOT &&
		    len == 7 && memcmp(text, "binding", 7) == 0)
			return dw_value_name(r, "Kernel.binding");
		return v;
	case DW_K_CONSTANT:
		if (dw_lookup(r, dw_part(tree, part)->scope, text, len,
		              dw_part(tree, part)->start, &v) != DW_BOUND_NOT)
			return v;
		return dw_value_name(r, dw_keep(r, text, len) ?: "");
	case DW_K_SCOPE_RESOLUTION:
		left = dw_child_in(tree, part, DW_F_SCOPE);
		right = dw_child_in(tree, part, DW_F_NAME);
		if (!right)
			return dw_unknown;
		text = dw_text(tree, right, &len);
		if (!left || dw_text_is(tree, left, "Object"))
			return dw_value_name(r, dw_keep(r, text, len) ?: "");
		return dw_value_member(r, dw_eval(r, left), text, len);
	case DW_K_SELF:
		return dw_value_name(r, "self");
	case DW_K_CALL:
		return call_value(r, part);
	case DW_K_STRING:
	case DW_K_BARE_STRING:
	case DW_K_DELIMITED_SYMBOL:
		return dw_ruby_string_value(r, part);
	case DW_K_CHAINED_STRING:
		return dw_fold_list(r, part, dw_value_text(r, "", 0));
	case DW_K_SIMPLE_SYMBOL:
		return len > 1 ? dw_value_text(r, text + 1, len - 1) : dw_unknown;
	case DW_K_BINARY:
		left = dw_child_in(tree, part, DW_F_LEFT);
		right = dw_child_in(tree, part, DW_F_RIGHT);
		v = dw_eval(r, left);
		if (dw_child_of(tree, part, DW_K_T_PLUS) ||
		    dw_child_of(tree, part, DW_K_T_HEREDOC))
			return dw_fold_plus(r, v, dw_eval(r, right));
		if (dw_child_of(tree, part, DW_K_T_STAR) && right)
			return dw_fold_times(r, v, dw_eval(r, right).number);
		return dw_child_of(tree, part, DW_K_T_OR_OR) ||
		                       dw_child_of(tree, part, DW_K_T_AND_AND)
		               ? dw_either(r, right, left)
		               : dw_unknown;
	case DW_K_INTEGER:
		return dw_literal_number(tree, part);
	case DW_K_PARENTHESIZED_STATEMENTS:
		return dw_eval(r, dw_child_named(tree, part));
	case DW_K_ASSIGNMENT:
		return dw_eval(r, dw_child_in(tree, part, DW_F_RIGHT));
	case DW_K_ELEMENT_REFERENCE:
		/* method(:x)["y"] is a call, too. */
		v = dw_eval(r, dw_child_in(tree, part, DW_F_OBJECT));
		return v.type == DW_V_NAME ? dw_value_called(r, v) : dw_unknown;
	case DW_K_ARRAY:
	case DW_K_STRING_ARRAY:
	case DW_K_SYMBOL_ARRAY:
		return dw_value_part(part);
	default:
		return dw_unknown;
	}
}
