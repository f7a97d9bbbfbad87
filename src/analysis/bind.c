/* SPDX-License-Identifier: Apache-2.0 */
/* The first pass: binds names by the table of the language. */
#include "analysis/reader.h"

/* How deep nested patterns are followed. */
#define PATTERN_DEPTH_MAX 20U

/* a, (b, c) = x, y: binds by position if the value is a literal list. */
static void bind_list(struct dw_reading *r, uint32_t pattern, uint32_t value, uint32_t at,
                      enum dw_binding_kind otherwise)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t v = value && dw_node(r, value)->sequence ? dw_child_named(tree, value)
	                                                  : 0;

	for (uint32_t c = dw_child_named(tree, pattern); c; c = dw_next_named(tree, c)) {
		dw_bind_pattern(r, c, v, at, otherwise);
		v = v ? dw_next_named(tree, v) : 0;
	}
}

void dw_bind_pattern(struct dw_reading *r, uint32_t pattern, uint32_t value, uint32_t at,
                     enum dw_binding_kind otherwise)
{
	const struct dw_node *node;
	uint32_t c;

	if (!pattern || r->depth > PATTERN_DEPTH_MAX)
		return;
	node = dw_node(r, pattern);
	r->depth++;
	switch (node->pattern) {
	case DW_PATTERN_NONE:
		break;
	case DW_PATTERN_NAME:
		dw_bind_name(r, pattern, at, value ? DW_BIND_VALUE : otherwise, value,
		             NULL);
		break;
	case DW_PATTERN_LIST:
		bind_list(r, pattern, value, at, otherwise);
		break;
	case DW_PATTERN_DEFAULT:
		c = dw_side(r, pattern, node->a);
		dw_bind_pattern(r, c, value ? value : dw_side(r, pattern, node->b), at,
		                otherwise);
		break;
	case DW_PATTERN_REST:
		dw_bind_pattern(r, dw_child_named(&r->tree, pattern), 0, at, otherwise);
		break;
	case DW_PATTERN_HOOK:
		r->language->bind_pattern(r, pattern, value, at, otherwise);
		break;
	}
	r->depth--;
}

static void bind_parameters(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;

	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c)) {
		uint32_t name = dw_node(r, c)->pattern == DW_PATTERN_NAME
		                        ? c
		                        : dw_child_in(tree, c, DW_F_NAME);
		uint32_t value = dw_child_in(tree, c, DW_F_VALUE);

		if (!name && dw_node(r, part)->pattern)
			name = dw_child_of(tree, c, DW_K_IDENTIFIER);
		if (name)
			dw_bind_name(r, name, dw_part(tree, c)->start,
			             value ? DW_BIND_VALUE : DW_BIND_OTHER, value, NULL);
	}
}

static void bind_definition(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t name = dw_child_in(tree, part, DW_F_NAME);
	size_t len;
	const char *text;

	if (!name)
		return;
	text = dw_text(tree, name, &len);
	dw_bind(r, dw_part(tree, part)->scope, text, len,
	        r->language->hoists ? 0 : dw_part(tree, part)->start,
	        r->language->is_sure(r, part) ? DW_BIND_OTHER : DW_BIND_OPAQUE, 0, NULL);
}

void dw_bind_part(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	const struct dw_node *node = dw_node(r, part);
	uint32_t at = dw_part(tree, part)->end, left, right;
	bool is_name;

	if (!(dw_part(tree, part)->flags & DW_PART_NAMED))
		return;
	if (node->bind_by)
		node->bind_by(r, part);
	if (!node->bind)
		return;
	left = dw_side(r, part, node->a);
	right = dw_side(r, part, node->b);
	is_name = left && dw_node(r, left)->pattern == DW_PATTERN_NAME;
	switch (node->bind) {
	case DW_BINDS_NOTHING:
		break;
	case DW_BINDS_ASSIGN:
	case DW_BINDS_ASSIGN_SURE:
	case DW_BINDS_DECLARE:
		if (!right && node->bind != DW_BINDS_DECLARE)
			break;
		if (right && is_name && node->bind != DW_BINDS_ASSIGN &&
		    r->language->is_sure(r, dw_part(tree, part)->parent))
			dw_bind_name(r, left, at, DW_BIND_OTHER, 0, NULL);
		dw_bind_pattern(r, left, right, at, DW_BIND_OPAQUE);
		break;
	case DW_BINDS_AUGMENT:
		if (!is_name || !right)
			break;
		dw_bind_name(r, left, at,
		             dw_child_of(tree, part, r->language->append) ? DW_BIND_APPEND
		             : r->language->augment_opaque                ? DW_BIND_OPAQUE
		                                                          : DW_BIND_VALUE,
		             right, NULL);
		break;
	case DW_BINDS_DEFINITION:
		bind_definition(r, part);
		break;
	case DW_BINDS_EACH:
		dw_bind_pattern(r, left, 0, left ? dw_part(tree, left)->start : 0,
		                DW_BIND_OPAQUE);
		break;
	case DW_BINDS_TARGET:
		dw_bind_pattern(r, left, 0, 0, DW_BIND_OPAQUE);
		break;
	case DW_BINDS_PARAMETER:
		dw_bind_pattern(r, left, right, 0, DW_BIND_OTHER);
		break;
	case DW_BINDS_PARAMETERS:
		bind_parameters(r, part);
		break;
	case DW_BINDS_PATTERNS:
		bind_list(r, part, 0, 0, DW_BIND_OTHER);
		break;
	}
}
