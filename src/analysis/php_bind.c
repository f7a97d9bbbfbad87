/* SPDX-License-Identifier: Apache-2.0 */
/* What gives names something in PHP: assignments, parameters, functions. */
#include "analysis/php.h"

#include "analysis/fold.h"

bool dw_php_is_function(enum dw_kind kind)
{
	return kind == DW_K_FUNCTION_DEFINITION || kind == DW_K_METHOD_DECLARATION ||
	       kind == DW_K_ANONYMOUS_FUNCTION || kind == DW_K_ARROW_FUNCTION;
}

bool dw_php_is_scope(const struct dw_tree *tree, uint32_t part)
{
	return dw_php_is_function(dw_kind(tree, part));
}

static void bind_function(struct dw_reading *r, uint32_t name)
{
	size_t len;
	const char *text = dw_text(&r->tree, name, &len);
	struct dw_value v = dw_fold_case(r, dw_value_text(r, text, len), false);

	if (v.type == DW_V_TEXT)
		dw_bind(r, 0, v.text, v.len, 0, DW_BIND_OTHER, 0, NULL);
}

static void bind_list(struct dw_reading *r, uint32_t left, uint32_t right, uint32_t at)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t v = right && dw_kind(tree, right) == DW_K_ARRAY_CREATION
	                     ? dw_child_named(tree, right)
	                     : 0;

	for (uint32_t c = dw_child_named(tree, left); c; c = dw_next_named(tree, c)) {
		if (dw_kind(tree, c) == DW_K_VARIABLE_NAME)
			dw_bind_name(r, c, at, v ? DW_BIND_VALUE : DW_BIND_OPAQUE,
			             v ? dw_child_last(tree, v) : 0, NULL);
		v = v ? dw_next_named(tree, v) : 0;
	}
}

void dw_php_bind(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t left, right, at = dw_part(tree, part)->end;

	switch (dw_kind(tree, part)) {
	case DW_K_ASSIGNMENT_EXPRESSION:
		left = dw_child_in(tree, part, DW_F_LEFT);
		right = dw_child_in(tree, part, DW_F_RIGHT);
		if (left && dw_kind(tree, left) == DW_K_VARIABLE_NAME)
			dw_bind_name(r, left, at, DW_BIND_VALUE, right, NULL);
		else if (left && dw_kind(tree, left) == DW_K_LIST_LITERAL)
			bind_list(r, left, right, at);
		break;
	case DW_K_AUGMENTED_ASSIGNMENT_EXPRESSION:
		left = dw_child_in(tree, part, DW_F_LEFT);
		right = dw_child_in(tree, part, DW_F_RIGHT);
		if (left && right && dw_kind(tree, left) == DW_K_VARIABLE_NAME)
			dw_bind_name(r, left, at,
			             dw_child_of(tree, part, DW_K_T_DOT_EQUAL)
			                     ? DW_BIND_APPEND
			                     : DW_BIND_OPAQUE,
			             right, NULL);
		break;
	case DW_K_SIMPLE_PARAMETER:
	case DW_K_VARIADIC_PARAMETER:
		left = dw_child_in(tree, part, DW_F_NAME);
		right = dw_child_in(tree, part, DW_F_DEFAULT_VALUE);
		if (left)
			dw_bind_name(r, left, 0, right ? DW_BIND_VALUE : DW_BIND_OTHER,
			             right, NULL);
		break;
	case DW_K_FUNCTION_DEFINITION:
		/* Only in a name space can a function be called like one of PHP's. */
		left = dw_child_in(tree, part, DW_F_NAME);
		if (left && dw_part(tree, part)->parent == 0 &&
		    dw_child_of(tree, 0, DW_K_NAMESPACE_DEFINITION))
			bind_function(r, left);
		break;
	case DW_K_NAMESPACE_USE_CLAUSE:
		/* use function X\y as z */
		left = dw_child_in(tree, part, DW_F_ALIAS);
		if (!left)
			left = dw_child_last(tree, part);
		if (left && dw_kind(tree, left) == DW_K_QUALIFIED_NAME)
			left = dw_child_last(tree, left);
		if (left && dw_child_of(tree, part, DW_K_T_FUNCTION))
			bind_function(r, left);
		break;
	default:
		break;
	}
}
