/* SPDX-License-Identifier: Apache-2.0 */
/* What gives names something in Ruby: assignments, parameters, methods. */
#include "analysis/ruby.h"

#include <stdio.h>

bool dw_ruby_is_scope(const struct dw_tree *tree, uint32_t part)
{
	switch (dw_kind(tree, part)) {
	case DW_K_METHOD:
	case DW_K_SINGLETON_METHOD:
	case DW_K_CLASS:
	case DW_K_MODULE:
	case DW_K_BLOCK:
	case DW_K_DO_BLOCK:
	case DW_K_LAMBDA:
		return (dw_part(tree, part)->flags & DW_PART_NAMED) != 0;
	default:
		return false;
	}
}

static void bind_method(struct dw_reading *r, uint32_t part)
{
	uint32_t name = dw_child_in(&r->tree, part, DW_F_NAME);
	uint32_t up = dw_part(&r->tree, part)->parent;
	size_t len;
	const char *text;
	char dotted[DW_RUBY_NAME_MAX + 2];
	char *kept;

	if (!name)
		return;
	/* In a branch that is never taken, a definition hides nothing. */
	if (up != 0 && dw_kind(&r->tree, up) != DW_K_BODY_STATEMENT)
		return;
	text = dw_text(&r->tree, name, &len);
	if (len > DW_RUBY_NAME_MAX)
		return;
	(void)snprintf(dotted, sizeof(dotted), ".%.*s", (int)len, text);
	kept = dw_keep(r, dotted, len + 1);
	if (kept)
		dw_bind(r, dw_part(&r->tree, part)->scope, kept, len + 1,
		        dw_part(&r->tree, part)->start, DW_BIND_OTHER, 0, NULL);
}

static void bind_parameters(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;

	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c)) {
		uint32_t name = dw_kind(tree, c) == DW_K_IDENTIFIER
		                        ? c
		                        : dw_child_in(tree, c, DW_F_NAME);
		uint32_t value = dw_child_in(tree, c, DW_F_VALUE);

		if (name)
			dw_bind_name(r, name, dw_part(tree, c)->start,
			             value ? DW_BIND_VALUE : DW_BIND_OTHER, value, NULL);
	}
}

static bool is_name(enum dw_kind kind)
{
	return kind == DW_K_IDENTIFIER || kind == DW_K_CONSTANT ||
	       kind == DW_K_GLOBAL_VARIABLE;
}

void dw_ruby_bind(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t left, right, c, v, at = dw_part(tree, part)->end;

	if (!(dw_part(tree, part)->flags & DW_PART_NAMED))
		return;
	switch (dw_kind(tree, part)) {
	case DW_K_ASSIGNMENT:
		left = dw_child_in(tree, part, DW_F_LEFT);
		right = dw_child_in(tree, part, DW_F_RIGHT);
		if (!left || !right)
			break;
		if (is_name(dw_kind(tree, left)))
			dw_bind_name(r, left, at, DW_BIND_VALUE, right, NULL);
		if (dw_kind(tree, left) != DW_K_LEFT_ASSIGNMENT_LIST)
			break;
		v = dw_kind(tree, right) == DW_K_RIGHT_ASSIGNMENT_LIST ||
		                    dw_kind(tree, right) == DW_K_ARRAY
		            ? dw_child_named(tree, right)
		            : 0;
		for (c = dw_child_named(tree, left); c; c = dw_next_named(tree, c)) {
			if (is_name(dw_kind(tree, c)))
				dw_bind_name(r, c, at, v ? DW_BIND_VALUE : DW_BIND_OPAQUE,
				             v, NULL);
			v = v ? dw_next_named(tree, v) : 0;
		}
		break;
	case DW_K_OPERATOR_ASSIGNMENT:
		left = dw_child_in(tree, part, DW_F_LEFT);
		right = dw_child_in(tree, part, DW_F_RIGHT);
		if (left && right && is_name(dw_kind(tree, left)))
			dw_bind_name(r, left, at,
			             dw_child_of(tree, part, DW_K_T_PLUS_EQUAL)
			                     ? DW_BIND_APPEND
			                     : DW_BIND_VALUE,
			             right, NULL);
		break;
	case DW_K_BINARY:
		/* x << "text" */
		left = dw_child_in(tree, part, DW_F_LEFT);
		right = dw_child_in(tree, part, DW_F_RIGHT);
		if (left && right && dw_kind(tree, left) == DW_K_IDENTIFIER &&
		    dw_child_of(tree, part, DW_K_T_HEREDOC))
			dw_bind_name(r, left, at, DW_BIND_APPEND, right, NULL);
		break;
	case DW_K_METHOD:
		bind_method(r, part);
		break;
	case DW_K_METHOD_PARAMETERS:
	case DW_K_BLOCK_PARAMETERS:
	case DW_K_LAMBDA_PARAMETERS:
		bind_parameters(r, part);
		break;
	default:
		break;
	}
}
