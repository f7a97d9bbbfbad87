/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to find in JavaScript and TypeScript. */
#include "analysis/javascript.h"

#include <string.h>

#include "analysis/fold.h"

static bool is_pattern(enum dw_kind kind)
{
	return kind == DW_K_OBJECT_PATTERN || kind == DW_K_ARRAY_PATTERN ||
	       kind == DW_K_PAIR_PATTERN || kind == DW_K_REST_PATTERN;
}

static bool is_load(const struct dw_tree *tree, uint32_t part)
{
	uint32_t up = dw_part(tree, part)->parent;
	enum dw_field field = (enum dw_field)dw_part(tree, part)->field;

	if (is_pattern(dw_kind(tree, up)))
		return false;
	switch (dw_kind(tree, up)) {
	case DW_K_VARIABLE_DECLARATOR:
	case DW_K_FUNCTION_DECLARATION:
	case DW_K_FUNCTION_EXPRESSION:
	case DW_K_GENERATOR_FUNCTION:
	case DW_K_GENERATOR_DECLARATION:
	case DW_K_CLASS_DECLARATION:
	case DW_K_CLASS:
		return field != DW_F_NAME;
	case DW_K_ASSIGNMENT_EXPRESSION:
	case DW_K_AUGMENTED_ASSIGNMENT_EXPRESSION:
	case DW_K_ASSIGNMENT_PATTERN:
	case DW_K_FOR_IN_STATEMENT:
		return field != DW_F_LEFT;
	case DW_K_REQUIRED_PARAMETER:
	case DW_K_OPTIONAL_PARAMETER:
		return field != DW_F_PATTERN;
	case DW_K_ARROW_FUNCTION:
	case DW_K_CATCH_CLAUSE:
		return field != DW_F_PARAMETER;
	case DW_K_FORMAL_PARAMETERS:
	case DW_K_IMPORT_CLAUSE:
	case DW_K_NAMESPACE_IMPORT:
	case DW_K_IMPORT_SPECIFIER:
	case DW_K_IMPORT_REQUIRE_CLAUSE:
		return false;
	default:
		return true;
	}
}

static void check_source(struct dw_reading *r, uint32_t part)
{
	uint32_t source = dw_child_in(&r->tree, part, DW_F_SOURCE);
	struct dw_value v = dw_eval(r, source);

	if (v.type == DW_V_TEXT && !dw_javascript_is_type_only(&r->tree, part) &&
	    !(v.len > 0 && v.text[0] == '.'))
		dw_check_module(r, part, v.text, v.len);
}

/* require(x) and import(x). */
static void check_required(struct dw_reading *r, uint32_t part)
{
	uint32_t name = dw_javascript_argument(&r->tree, part, 0);
	struct dw_value v = dw_eval(r, name);
	bool plain = name && (dw_kind(&r->tree, name) == DW_K_STRING);

	if (v.type != DW_V_TEXT)
		dw_found(r, part, DW_SEVERITY_ERROR, "dynamic:import",
		         "which module is loaded is known at run time only");
	else if (!plain)
		dw_found(r, part, DW_SEVERITY_WARNING, "dynamic:import",
		         "module %.100s is put together from pieces", v.text);
	if (v.type == DW_V_TEXT && v.len > 0 && v.text[0] != '.')
		dw_check_module(r, part, v.text, v.len);
}

static struct dw_value as_command(struct dw_reading *r, uint32_t call)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value all = dw_eval(r, dw_javascript_argument(tree, call, 0));
	struct dw_value list = dw_eval(r, dw_javascript_argument(tree, call, 1));

	if (all.type != DW_V_TEXT || list.type != DW_V_PART ||
	    dw_kind(tree, list.part) != DW_K_ARRAY)
		return all;
	return dw_fold_command(r, all, dw_child_named(tree, list.part));
}

static void check_call(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t function = dw_child_in(tree, part, DW_F_FUNCTION);
	const struct dw_danger *d;
	struct dw_value f, a;

	if (!function)
		function = dw_child_in(tree, part, DW_F_CONSTRUCTOR);
	if (!function)
		return;
	if (dw_kind(tree, function) == DW_K_IMPORT) {
		check_required(r, part);
		return;
	}
	f = dw_eval(r, function);
	if (f.type != DW_V_NAME)
		return;
	if (dw_javascript_is_require(f))
		check_required(r, part);
	if (strcmp(f.text, "setTimeout") == 0 || strcmp(f.text, "setInterval") == 0) {
		a = dw_eval(r, dw_javascript_argument(tree, part, 0));
		if (a.type == DW_V_TEXT) {
			dw_found(r, part, DW_SEVERITY_ERROR, "dynamic:timer",
			         "%s runs a text as code", f.text);
			dw_check_inner(r, part, DW_CODE_SELF, a);
		}
	}
	if (strcmp(f.text, "Reflect.get") == 0 &&
	    dw_eval(r, dw_javascript_argument(tree, part, 0)).type == DW_V_NAME)
		dw_found(r, part, DW_SEVERITY_ERROR, "reflection:Reflect.get",
		         "Reflect.get reaches for something by its name");
	if (strcmp(f.text, "Function") == 0) {
		/* The last of its arguments is the code. */
		a = dw_eval(r,
		            dw_child_last(tree, dw_child_in(tree, part, DW_F_ARGUMENTS)));
		dw_check_inner(r, part, DW_CODE_SELF, a);
	}
	d = dw_danger_find(r->reader, f.text);
	if (d && d->code == DW_CODE_SHELL)
		dw_check_inner(r, part, d->code, as_command(r, part));
	else if (d && d->code != DW_CODE_NONE)
		dw_check_inner(r, part, d->code,
		               dw_eval(r, dw_javascript_argument(tree, part, 0)));
}

/* globalThis[x], process[x], require("fs")[x] */
static void check_subscript(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v = dw_eval(r, dw_child_in(tree, part, DW_F_OBJECT));
	struct dw_value key;
	bool module = false;

	if (v.type != DW_V_NAME)
		return;
	for (const char *const *m = dw_javascript_modules; *m; m++)
		module = module || strcmp(*m, v.text) == 0;
	if (!module && strcmp(v.text, "globalThis") != 0)
		return;
	key = dw_eval(r, dw_child_in(tree, part, DW_F_INDEX));
	if (key.type != DW_V_TEXT && key.type != DW_V_NUMBER)
		dw_found(r, part, DW_SEVERITY_ERROR, "reflection:subscript",
		         "what is taken from %s is known at run time only", v.text);
}

static bool is_true(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v;
	uint32_t c;

	switch (dw_kind(tree, part)) {
	case DW_K_TRUE:
		return true;
	case DW_K_PARENTHESIZED_EXPRESSION:
		c = dw_child_named(tree, part);
		return c && is_true(r, c);
	case DW_K_UNARY_EXPRESSION:
		c = dw_child_in(tree, part, DW_F_ARGUMENT);
		if (!c || !dw_child_of(tree, part, DW_K_T_NOT))
			return false;
		v = dw_eval(r, c);
		return dw_kind(tree, c) == DW_K_FALSE ||
		       (v.type == DW_V_NUMBER && v.number == 0) ||
		       (dw_kind(tree, c) == DW_K_UNARY_EXPRESSION &&
		        dw_child_in(tree, c, DW_F_ARGUMENT) &&
		        is_true(r, dw_child_in(tree, c, DW_F_ARGUMENT)));
	case DW_K_NUMBER:
		v = dw_eval(r, part);
		return v.type == DW_V_NUMBER && v.number != 0;
	case DW_K_STRING:
		v = dw_eval(r, part);
		return v.type == DW_V_TEXT && v.len > 0;
	case DW_K_ARRAY:
	case DW_K_OBJECT:
		return true;
	default:
		return false;
	}
}

static int leaves(struct dw_reading *r, uint32_t part)
{
	struct dw_value f;

	if (!(dw_part(&r->tree, part)->flags & DW_PART_NAMED))
		return 0;
	switch (dw_kind(&r->tree, part)) {
	case DW_K_BREAK_STATEMENT:
		return dw_child_in(&r->tree, part, DW_F_LABEL) ? 2 : 1;
	case DW_K_RETURN_STATEMENT:
	case DW_K_THROW_STATEMENT:
	case DW_K_YIELD_EXPRESSION:
	case DW_K_AWAIT_EXPRESSION:
		return 2;
	case DW_K_CALL_EXPRESSION:
		f = dw_eval(r, dw_child_in(&r->tree, part, DW_F_FUNCTION));
		return dw_value_is(f, DW_V_NAME, "process.exit") ||
		                       dw_value_is(f, DW_V_NAME, "process.abort")
		               ? 2
		               : 0;
	case DW_K_WHILE_STATEMENT:
	case DW_K_DO_STATEMENT:
	case DW_K_FOR_STATEMENT:
	case DW_K_FOR_IN_STATEMENT:
	case DW_K_SWITCH_STATEMENT:
		return -1;
	default:
		return dw_javascript_is_function(dw_kind(&r->tree, part)) ? -2 : 0;
	}
}

static void check_loop(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t condition = dw_child_in(tree, part, DW_F_CONDITION);
	bool is_for = dw_kind(tree, part) == DW_K_FOR_STATEMENT;

	if (condition && !(is_for && dw_kind(tree, condition) == DW_K_EMPTY_STATEMENT) &&
	    !is_true(r, condition))
		return;
	if ((condition || is_for) && !dw_loop_ends(r, part, leaves))
		dw_found(r, part, DW_SEVERITY_WARNING, "loop:unbounded",
		         "this loop has no break, return, throw, yield or await");
}

static void check(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;

	if (!(dw_part(tree, part)->flags & DW_PART_NAMED))
		return;
	switch (dw_kind(tree, part)) {
	case DW_K_IMPORT_STATEMENT:
	case DW_K_EXPORT_STATEMENT:
	case DW_K_IMPORT_REQUIRE_CLAUSE:
		check_source(r, part);
		break;
	case DW_K_IDENTIFIER:
	case DW_K_SHORTHAND_PROPERTY:
	case DW_K_MEMBER_EXPRESSION:
		if (is_load(tree, part))
			(void)dw_check_danger(r, part, dw_eval(r, part));
		break;
	case DW_K_SUBSCRIPT_EXPRESSION:
		check_subscript(r, part);
		if (is_load(tree, part))
			(void)dw_check_danger(r, part, dw_eval(r, part));
		break;
	case DW_K_CALL_EXPRESSION:
	case DW_K_NEW_EXPRESSION:
		check_call(r, part);
		(void)dw_check_danger(r, part, dw_eval(r, part));
		break;
	case DW_K_SHORTHAND_PROPERTY_PATTERN:
		break;
	case DW_K_WHILE_STATEMENT:
	case DW_K_DO_STATEMENT:
	case DW_K_FOR_STATEMENT:
		check_loop(r, part);
		break;
	default:
		break;
	}
}

const struct dw_reader dw_reader_javascript = {
	.name = "javascript",
	.aliases = {"js", "node", "nodejs"},
	.grammar = "javascript",
	.modules = dw_javascript_modules,
	.dangers = dw_javascript_dangers,
	.is_scope = dw_javascript_is_scope,
	.bind = dw_javascript_bind,
	.eval = dw_javascript_eval,
	.member = dw_javascript_member,
	.check = check,
};

const struct dw_reader dw_reader_typescript = {
	.name = "typescript",
	.aliases = {"ts"},
	.grammar = "typescript",
	.modules = dw_javascript_modules,
	.dangers = dw_javascript_dangers,
	.is_scope = dw_javascript_is_scope,
	.bind = dw_javascript_bind,
	.eval = dw_javascript_eval,
	.member = dw_javascript_member,
	.check = check,
};
