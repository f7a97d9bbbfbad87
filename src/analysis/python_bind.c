/* SPDX-License-Identifier: Apache-2.0 */
/* What gives names something in Python: imports, assignments, definitions. */
#include "analysis/python.h"

#include <stdio.h>
#include <string.h>

static bool is_function(enum dw_kind kind)
{
	return kind == DW_K_FUNCTION_DEFINITION || kind == DW_K_LAMBDA;
}

bool dw_python_is_scope(const struct dw_tree *tree, uint32_t part)
{
	switch (dw_kind(tree, part)) {
	case DW_K_FUNCTION_DEFINITION:
	case DW_K_LAMBDA:
	case DW_K_CLASS_DEFINITION:
	case DW_K_LIST_COMPREHENSION:
	case DW_K_SET_COMPREHENSION:
	case DW_K_DICTIONARY_COMPREHENSION:
	case DW_K_GENERATOR_EXPRESSION:
		return true;
	default:
		return false;
	}
}

bool dw_python_is_pattern(enum dw_kind kind)
{
	return kind == DW_K_PATTERN_LIST || kind == DW_K_TUPLE_PATTERN ||
	       kind == DW_K_LIST_PATTERN || kind == DW_K_LIST_SPLAT_PATTERN ||
	       kind == DW_K_TUPLE || kind == DW_K_LIST || kind == DW_K_AS_PATTERN_TARGET;
}

bool dw_python_is_sequence(enum dw_kind kind)
{
	return kind == DW_K_EXPRESSION_LIST || kind == DW_K_TUPLE || kind == DW_K_LIST;
}

/* a, (b, c) = x, y: by their places where both sides have them. */
static void bind_target(struct dw_reading *r, uint32_t target, uint32_t value,
                        uint32_t at)
{
	const struct dw_tree *tree = &r->tree;
	enum dw_kind kind = dw_kind(tree, target);
	uint32_t c, v;

	if (kind == DW_K_IDENTIFIER) {
		dw_bind_name(r, target, at, value ? DW_BIND_VALUE : DW_BIND_OPAQUE, value,
		             NULL);
		return;
	}
	if (!dw_python_is_pattern(kind) || r->depth > 20)
		return;
	r->depth++;
	c = dw_child_named(tree, target);
	v = value && dw_python_is_sequence(dw_kind(tree, value))
	            ? dw_child_named(tree, value)
	            : 0;
	for (; c; c = dw_next_named(tree, c)) {
		bind_target(r, c, v, at);
		v = v ? dw_next_named(tree, v) : 0;
	}
	r->depth--;
}

const char *dw_python_dotted(struct dw_reading *r, uint32_t part, size_t *ret_len)
{
	const struct dw_tree *tree = &r->tree;
	char path[256];
	size_t n = 0;

	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c)) {
		size_t len;
		const char *text = dw_text(tree, c, &len);

		if (n + len + 2 > sizeof(path))
			break;
		if (n > 0)
			path[n++] = '.';
		memcpy(path + n, text, len);
		n += len;
	}
	*ret_len = n;
	return dw_keep(r, path, n);
}

static void bind_import(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t at = dw_part(tree, part)->end;
	size_t len;

	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c)) {
		uint32_t alias = 0, name = c;
		const char *path;

		if (dw_kind(tree, c) == DW_K_ALIASED_IMPORT) {
			name = dw_child_in(tree, c, DW_F_NAME);
			alias = dw_child_in(tree, c, DW_F_ALIAS);
		}
		if (!name || dw_kind(tree, name) != DW_K_DOTTED_NAME)
			continue;
		path = dw_python_dotted(r, name, &len);
		if (path && alias) {
			dw_bind_name(r, alias, at, DW_BIND_NAME, 0, path);
		} else if (path) {
			/* import a.b gives us a. */
			uint32_t first = dw_child_named(tree, name);
			const char *text = dw_text(tree, first, &len);

			dw_bind_name(r, first, at, DW_BIND_NAME, 0,
			             dw_keep(r, text, len));
		}
	}
}

static void bind_from(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t module = dw_child_in(tree, part, DW_F_MODULE_NAME);
	uint32_t at = dw_part(tree, part)->end;
	const char *from, *what;
	char path[256];
	size_t len;

	if (!module || dw_kind(tree, module) != DW_K_DOTTED_NAME)
		return;
	from = dw_python_dotted(r, module, &len);
	for (uint32_t c = dw_next(tree, module); from && c; c = dw_next(tree, c)) {
		uint32_t name = c, alias = 0;

		if (dw_kind(tree, c) == DW_K_WILDCARD_IMPORT)
			dw_bind(r, 0, "*", 1, at, DW_BIND_NAME, 0, from);
		if (dw_kind(tree, c) == DW_K_ALIASED_IMPORT) {
			name = dw_child_in(tree, c, DW_F_NAME);
			alias = dw_child_in(tree, c, DW_F_ALIAS);
		}
		if (!name || dw_kind(tree, name) != DW_K_DOTTED_NAME)
			continue;
		what = dw_python_dotted(r, name, &len);
		if (!what)
			continue;
		(void)snprintf(path, sizeof(path), "%s.%s", from, what);
		/* from random import _os */
		what += what[0] == '_';
		if (dw_word_in(dw_python_carried, what, strlen(what)) &&
		    strcmp(from, what) != 0)
			(void)snprintf(path, sizeof(path), "%s", what);
		what = dw_keep(r, path, strlen(path));
		if (what)
			dw_bind_name(r, alias ? alias : dw_child_named(tree, name), at,
			             DW_BIND_NAME, 0, what);
	}
}

static void bind_parameters(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;

	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c)) {
		uint32_t name = dw_kind(tree, c) == DW_K_IDENTIFIER
		                        ? c
		                        : dw_child_in(tree, c, DW_F_NAME);
		uint32_t value = dw_child_in(tree, c, DW_F_VALUE);

		if (!name)
			name = dw_child_of(tree, c, DW_K_IDENTIFIER);
		if (name)
			dw_bind_name(r, name, dw_part(tree, c)->start,
			             value ? DW_BIND_VALUE : DW_BIND_OTHER, value, NULL);
	}
}

/* In a branch that is never taken, a definition hides nothing. */
static enum dw_binding_kind definition_kind(const struct dw_tree *tree, uint32_t part)
{
	uint32_t up = dw_part(tree, part)->parent;

	while (dw_kind(tree, up) == DW_K_BLOCK || dw_kind(tree, up) == DW_K_OTHER) {
		if (up == 0)
			break;
		up = dw_part(tree, up)->parent;
	}
	return up == 0 || is_function(dw_kind(tree, up)) ||
	                       dw_kind(tree, up) == DW_K_CLASS_DEFINITION
	               ? DW_BIND_OTHER
	               : DW_BIND_OPAQUE;
}

void dw_python_bind(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t left = 0, right = 0, at = dw_part(tree, part)->end;

	switch (dw_kind(tree, part)) {
	case DW_K_IMPORT_STATEMENT:
		bind_import(r, part);
		break;
	case DW_K_IMPORT_FROM_STATEMENT:
		bind_from(r, part);
		break;
	case DW_K_ASSIGNMENT:
		left = dw_child_in(tree, part, DW_F_LEFT);
		right = dw_child_in(tree, part, DW_F_RIGHT);
		if (left && right && dw_kind(tree, left) == DW_K_IDENTIFIER &&
		    definition_kind(tree, dw_part(tree, part)->parent) == DW_BIND_OTHER)
			dw_bind_name(r, left, at, DW_BIND_OTHER, 0, NULL);
		if (left && right)
			bind_target(r, left, right, at);
		break;
	case DW_K_AUGMENTED_ASSIGNMENT:
		left = dw_child_in(tree, part, DW_F_LEFT);
		right = dw_child_in(tree, part, DW_F_RIGHT);
		if (left && right && dw_kind(tree, left) == DW_K_IDENTIFIER)
			dw_bind_name(r, left, at,
			             dw_child_of(tree, part, DW_K_T_PLUS_EQUAL)
			                     ? DW_BIND_APPEND
			                     : DW_BIND_OPAQUE,
			             right, NULL);
		break;
	case DW_K_NAMED_EXPRESSION:
		left = dw_child_in(tree, part, DW_F_NAME);
		if (left)
			bind_target(r, left, dw_child_in(tree, part, DW_F_VALUE), at);
		break;
	case DW_K_FOR_STATEMENT:
	case DW_K_FOR_IN_CLAUSE:
		left = dw_child_in(tree, part, DW_F_LEFT);
		/* In a comprehension what is said of the name may stand before it. */
		if (left)
			bind_target(r, left, 0,
			            dw_kind(tree, part) == DW_K_FOR_STATEMENT
			                    ? dw_part(tree, left)->start
			                    : 0);
		break;
	case DW_K_AS_PATTERN:
		left = dw_child_in(tree, part, DW_F_ALIAS);
		right = dw_child_named(tree, part);
		if (left && dw_child_named(tree, left))
			bind_target(r, dw_child_named(tree, left), right, at);
		break;
	case DW_K_FUNCTION_DEFINITION:
	case DW_K_CLASS_DEFINITION:
		left = dw_child_in(tree, part, DW_F_NAME);
		if (left) {
			size_t len;
			const char *text = dw_text(tree, left, &len);

			dw_bind(r, dw_part(tree, part)->scope, text, len,
			        dw_part(tree, part)->start, definition_kind(tree, part),
			        0, NULL);
		}
		break;
	case DW_K_PARAMETERS:
	case DW_K_LAMBDA_PARAMETERS:
		bind_parameters(r, part);
		break;
	default:
		break;
	}
}
