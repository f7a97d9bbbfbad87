/* SPDX-License-Identifier: Apache-2.0 */
/* What gives names something in JavaScript: imports, patterns, definitions. */
#include "analysis/javascript.h"

#include <stdio.h>
#include <string.h>

bool dw_javascript_is_function(enum dw_kind kind)
{
	switch (kind) {
	case DW_K_FUNCTION_DECLARATION:
	case DW_K_FUNCTION_EXPRESSION:
	case DW_K_ARROW_FUNCTION:
	case DW_K_GENERATOR_FUNCTION:
	case DW_K_GENERATOR_DECLARATION:
	case DW_K_METHOD_DEFINITION:
		return true;
	default:
		return false;
	}
}

bool dw_javascript_is_scope(const struct dw_tree *tree, uint32_t part)
{
	return dw_javascript_is_function(dw_kind(tree, part));
}

static void bind_pattern(struct dw_reading *r, uint32_t pattern, uint32_t value,
                         uint32_t at, enum dw_binding_kind otherwise);

/* {a, b: c, d = 1, ...e} = value */
static void bind_object(struct dw_reading *r, uint32_t pattern, uint32_t value,
                        uint32_t at, enum dw_binding_kind otherwise)
{
	const struct dw_tree *tree = &r->tree;

	for (uint32_t c = dw_child_named(tree, pattern); c; c = dw_next_named(tree, c)) {
		uint32_t name = c, key = c;

		if (dw_kind(tree, c) == DW_K_PAIR_PATTERN) {
			key = dw_child_in(tree, c, DW_F_KEY);
			name = dw_child_in(tree, c, DW_F_VALUE);
		} else if (dw_kind(tree, c) == DW_K_OBJECT_ASSIGNMENT_PATTERN) {
			key = name = dw_child_in(tree, c, DW_F_LEFT);
		}
		if (name && dw_kind(tree, name) == DW_K_ASSIGNMENT_PATTERN)
			name = dw_child_in(tree, name, DW_F_LEFT);
		if (!name || !key)
			continue;
		if (value && (dw_kind(tree, name) == DW_K_IDENTIFIER ||
		              dw_kind(tree, name) == DW_K_SHORTHAND_PROPERTY_PATTERN)) {
			const char *path = dw_javascript_key_of(r, key);

			dw_bind_name(r, name, at, path ? DW_BIND_MEMBER : DW_BIND_OPAQUE,
			             value, path);
		} else {
			bind_pattern(r, name, 0, at, otherwise);
		}
	}
}

static void bind_pattern(struct dw_reading *r, uint32_t pattern, uint32_t value,
                         uint32_t at, enum dw_binding_kind otherwise)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t c, v;

	if (r->depth > 20)
		return;
	r->depth++;
	switch (dw_kind(tree, pattern)) {
	case DW_K_IDENTIFIER:
	case DW_K_SHORTHAND_PROPERTY_PATTERN:
		dw_bind_name(r, pattern, at, value ? DW_BIND_VALUE : otherwise, value,
		             NULL);
		break;
	case DW_K_OBJECT_PATTERN:
		bind_object(r, pattern, value, at, otherwise);
		break;
	case DW_K_ARRAY_PATTERN:
		v = value && dw_kind(tree, value) == DW_K_ARRAY
		            ? dw_child_named(tree, value)
		            : 0;
		for (c = dw_child_named(tree, pattern); c; c = dw_next_named(tree, c)) {
			bind_pattern(r, c, v, at, otherwise);
			v = v ? dw_next_named(tree, v) : 0;
		}
		break;
	case DW_K_ASSIGNMENT_PATTERN:
		c = dw_child_in(tree, pattern, DW_F_LEFT);
		if (c)
			bind_pattern(r, c,
			             value ? value
			                   : dw_child_in(tree, pattern, DW_F_RIGHT),
			             at, otherwise);
		break;
	case DW_K_REQUIRED_PARAMETER:
	case DW_K_OPTIONAL_PARAMETER:
		c = dw_child_in(tree, pattern, DW_F_PATTERN);
		if (c)
			bind_pattern(r, c, dw_child_in(tree, pattern, DW_F_VALUE), at,
			             otherwise);
		break;
	case DW_K_REST_PATTERN:
		c = dw_child_named(tree, pattern);
		if (c)
			bind_pattern(r, c, 0, at, otherwise);
		break;
	default:
		break;
	}
	r->depth--;
}

bool dw_javascript_is_type_only(const struct dw_tree *tree, uint32_t part)
{
	uint32_t type = dw_child_of(tree, part, DW_K_TYPE);

	return type && !(dw_part(tree, type)->flags & DW_PART_NAMED);
}

static void bind_import(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t source = dw_child_in(tree, part, DW_F_SOURCE);
	uint32_t required = dw_child_of(tree, part, DW_K_IMPORT_REQUIRE_CLAUSE);
	uint32_t at = 0; /* imports are there before all else */
	char path[256];
	const char *module;
	struct dw_value v;

	if (required)
		source = dw_child_in(tree, required, DW_F_SOURCE);
	v = dw_eval(r, source);
	if (v.type != DW_V_TEXT || dw_javascript_is_type_only(tree, part))
		return;
	module = dw_javascript_module_path(r, v);
	if (!module)
		return;
	for (uint32_t i = part + 1; i < dw_part(tree, part)->past; i++) {
		uint32_t name, alias;
		size_t len;
		const char *text;

		switch (dw_kind(tree, dw_part(tree, i)->parent)) {
		case DW_K_IMPORT_CLAUSE:
		case DW_K_NAMESPACE_IMPORT:
		case DW_K_IMPORT_REQUIRE_CLAUSE:
			if (dw_kind(tree, i) == DW_K_IDENTIFIER)
				dw_bind_name(r, i, at, DW_BIND_NAME, 0, module);
			break;
		case DW_K_NAMED_IMPORTS:
			name = dw_child_in(tree, i, DW_F_NAME);
			alias = dw_child_in(tree, i, DW_F_ALIAS);
			if (!name)
				break;
			text = dw_text(tree, name, &len);
			(void)snprintf(path, sizeof(path), "%s.%.*s", module,
			               (int)(len < 100 ? len : 100), text);
			if (dw_text_is(tree, name, "default"))
				(void)snprintf(path, sizeof(path), "%s", module);
			text = dw_keep(r, path, strlen(path));
			if (text)
				dw_bind_name(r, alias ? alias : name, at, DW_BIND_NAME, 0,
				             text);
			break;
		default:
			break;
		}
	}
}

/* In a branch that is never taken, or in a block, a definition hides nothing. */
static enum dw_binding_kind definition_kind(const struct dw_tree *tree, uint32_t part)
{
	uint32_t up = dw_part(tree, part)->parent;

	if (dw_kind(tree, up) == DW_K_EXPORT_STATEMENT)
		up = dw_part(tree, up)->parent;
	if (dw_kind(tree, up) == DW_K_STATEMENT_BLOCK)
		return dw_javascript_is_function(dw_kind(tree, dw_part(tree, up)->parent))
		               ? DW_BIND_OTHER
		               : DW_BIND_OPAQUE;
	return up == 0 ? DW_BIND_OTHER : DW_BIND_OPAQUE;
}

void dw_javascript_bind(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t left, right, at = dw_part(tree, part)->end;
	size_t len;
	const char *text;

	if (!(dw_part(tree, part)->flags & DW_PART_NAMED))
		return;
	switch (dw_kind(tree, part)) {
	case DW_K_IMPORT_STATEMENT:
		bind_import(r, part);
		break;
	case DW_K_VARIABLE_DECLARATOR:
		left = dw_child_in(tree, part, DW_F_NAME);
		right = dw_child_in(tree, part, DW_F_VALUE);
		if (left && right && dw_kind(tree, left) == DW_K_IDENTIFIER &&
		    definition_kind(tree, dw_part(tree, part)->parent) == DW_BIND_OTHER)
			dw_bind_name(r, left, at, DW_BIND_OTHER, 0, NULL);
		if (left)
			bind_pattern(r, left, right, at, DW_BIND_OPAQUE);
		break;
	case DW_K_ASSIGNMENT_EXPRESSION:
		left = dw_child_in(tree, part, DW_F_LEFT);
		right = dw_child_in(tree, part, DW_F_RIGHT);
		if (left && right)
			bind_pattern(r, left, right, at, DW_BIND_OPAQUE);
		break;
	case DW_K_AUGMENTED_ASSIGNMENT_EXPRESSION:
		left = dw_child_in(tree, part, DW_F_LEFT);
		right = dw_child_in(tree, part, DW_F_RIGHT);
		if (left && right && dw_kind(tree, left) == DW_K_IDENTIFIER)
			dw_bind_name(r, left, at,
			             dw_child_of(tree, part, DW_K_T_PLUS_EQUAL)
			                     ? DW_BIND_APPEND
			                     : DW_BIND_VALUE,
			             right, NULL);
		break;
	case DW_K_FUNCTION_DECLARATION:
	case DW_K_GENERATOR_DECLARATION:
	case DW_K_CLASS_DECLARATION:
		left = dw_child_in(tree, part, DW_F_NAME);
		if (!left)
			break;
		text = dw_text(tree, left, &len);
		dw_bind(r, dw_part(tree, part)->scope, text, len, 0,
		        definition_kind(tree, part), 0, NULL);
		break;
	case DW_K_FORMAL_PARAMETERS:
		for (uint32_t c = dw_child_named(tree, part); c;
		     c = dw_next_named(tree, c))
			bind_pattern(r, c, 0, 0, DW_BIND_OTHER);
		break;
	case DW_K_ARROW_FUNCTION:
		left = dw_child_in(tree, part, DW_F_PARAMETER);
		if (left)
			bind_pattern(r, left, 0, 0, DW_BIND_OTHER);
		break;
	case DW_K_CATCH_CLAUSE:
		left = dw_child_in(tree, part, DW_F_PARAMETER);
		if (left)
			bind_pattern(r, left, 0, 0, DW_BIND_OPAQUE);
		break;
	case DW_K_FOR_IN_STATEMENT:
		left = dw_child_in(tree, part, DW_F_LEFT);
		if (left)
			bind_pattern(r, left, 0, 0, DW_BIND_OPAQUE);
		break;
	default:
		break;
	}
}
