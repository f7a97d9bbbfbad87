/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to find in PHP. */
#include "analysis/php.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static void check_inner(struct dw_reading *r, uint32_t part, struct dw_value code)
{
	/* eval() takes code without its first tag. */
	dw_check_inner(r, part, DW_CODE_SELF,
	               dw_value_join(r, dw_value_text(r, "<?php ", 6), code));
}

/* Does it come from the request, or is it put together at run time? */
static bool is_made(const struct dw_tree *tree, uint32_t part)
{
	size_t len;
	const char *text;

	switch (dw_kind(tree, part)) {
	case DW_K_SUBSCRIPT_EXPRESSION:
		part = dw_child_named(tree, part);
		while (part && dw_kind(tree, part) == DW_K_SUBSCRIPT_EXPRESSION)
			part = dw_child_named(tree, part);
		if (!part)
			return false;
		text = dw_text(tree, part, &len);
		return dw_word_in(dw_php_from_outside, text, len);
	case DW_K_PARENTHESIZED_EXPRESSION:
		part = dw_child_named(tree, part);
		return part && is_made(tree, part);
	case DW_K_BINARY_EXPRESSION:
	case DW_K_ENCAPSED_STRING:
	case DW_K_DYNAMIC_VARIABLE_NAME:
	case DW_K_FUNCTION_CALL:
		return true;
	default:
		return false;
	}
}

static bool is_remote(struct dw_value v)
{
	static const char *const schemes[] = {"http://",  "https://",    "ftp://",
	                                      "ssh2.",    "php://input", "data:",
	                                      "expect://"};

	for (size_t i = 0;
	     v.type == DW_V_TEXT && i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (strncasecmp(v.text, schemes[i], strlen(schemes[i])) == 0)
			return true;
	return false;
}

/* A function's name, given to another function. */
static void check_callbacks(struct dw_reading *r, uint32_t part, const char *caller)
{
	const struct dw_tree *tree = &r->tree;

	for (unsigned i = 0; i < 4 && dw_php_argument(tree, part, i); i++) {
		uint32_t a = dw_php_argument(tree, part, i);
		struct dw_value v = dw_eval(r, a);

		if (v.type == DW_V_TEXT)
			(void)dw_check_danger(r, a,
			                      dw_php_function_named(r, v.text, v.len));
		else if (i == 0 && strncmp(caller, "call_user", 9) == 0 &&
		         is_made(tree, a))
			dw_found(r, part, DW_SEVERITY_ERROR, "dynamic:call",
			         "which function is called is known at run time only");
	}
}

static void check_call(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t function = dw_child_in(tree, part, DW_F_FUNCTION);
	struct dw_value f = dw_php_callee(r, part);
	struct dw_value a = dw_eval(r, dw_php_argument(tree, part, 0));
	const struct dw_danger *d;

	if (dw_value_is(f, DW_V_NAME, DW_PHP_REQUEST) ||
	    (function && f.type != DW_V_NAME && is_made(tree, function)))
		dw_found(r, part, DW_SEVERITY_ERROR, "dynamic:call",
		         "which function is called is known at run time only");
	if (f.type != DW_V_NAME)
		return;
	if (dw_word_in(dw_php_callers, f.text, f.len))
		check_callbacks(r, part, f.text);
	if (strcmp(f.text, "assert") == 0 && a.type == DW_V_TEXT) {
		dw_found(r, part, DW_SEVERITY_ERROR, "builtin:assert",
		         "assert runs a text");
		check_inner(r, part, a);
	}
	if (strncmp(f.text, "preg_", 5) == 0 && a.type == DW_V_TEXT && a.len > 2) {
		const char *end = strrchr(a.text, a.text[0]);

		if (end > a.text && strchr(end, 'e'))
			dw_found(r, part, DW_SEVERITY_ERROR, "dynamic:preg_replace",
			         "the modifier e runs what was matched");
	}
	d = dw_check_danger(r, part, f);
	if (is_remote(a) && d && strncmp(d->rule, "builtin:", 8) == 0)
		dw_found(r, part, DW_SEVERITY_WARNING, "network:url",
		         "%s gets something from elsewhere", f.text);
	if (d && d->code == DW_CODE_SELF && a.type == DW_V_TEXT)
		check_inner(r, part, a);
	else if (d && d->code == DW_CODE_SHELL)
		dw_check_inner(r, part, d->code, a);
}

static void check_include(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t what = dw_child_named(tree, part);
	struct dw_value v = dw_eval(r, what);

	/* __DIR__ . "/x.php" is how it is done. */
	if (what && dw_kind(tree, what) == DW_K_PARENTHESIZED_EXPRESSION)
		what = dw_child_named(tree, what);
	if (what && dw_kind(tree, what) == DW_K_BINARY_EXPRESSION &&
	    dw_child_in(tree, what, DW_F_LEFT) &&
	    dw_text_is(tree, dw_child_in(tree, what, DW_F_LEFT), "__DIR__") &&
	    dw_eval(r, dw_child_in(tree, what, DW_F_RIGHT)).type == DW_V_TEXT)
		return;
	if (v.type != DW_V_TEXT)
		dw_found(r, part, DW_SEVERITY_ERROR, "dynamic:import",
		         "which file is included is known at run time only");
	else if (is_remote(v))
		dw_found(r, part, DW_SEVERITY_ERROR, "dynamic:import",
		         "code is taken from elsewhere");
}

static void check_new(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t name = dw_child_named(tree, part);
	size_t len;
	const char *text = name ? dw_text(tree, name, &len) : "";
	struct dw_value v = name ? dw_php_function_named(r, text, len) : dw_unknown;
	struct dw_value a;

	if (v.type != DW_V_NAME || !dw_word_in(dw_php_reflectors, v.text, v.len))
		return;
	dw_found(r, part, DW_SEVERITY_ERROR, "reflection:Reflection",
	         "a function or class is taken by its name");
	a = dw_eval(r, dw_php_argument(tree, part, 0));
	if (a.type == DW_V_TEXT)
		(void)dw_check_danger(r, part, dw_php_function_named(r, a.text, a.len));
}

static void check_scoped(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t scope = dw_child_in(tree, part, DW_F_SCOPE);
	uint32_t name = dw_child_in(tree, part, DW_F_NAME);
	char path[128];
	size_t n, m;
	const char *a, *b;

	if (!scope || !name)
		return;
	a = dw_text(tree, scope, &n);
	b = dw_text(tree, name, &m);
	if (n + m + 3 > sizeof(path))
		return;
	(void)snprintf(path, sizeof(path), "%.*s::%.*s", (int)n, a, (int)m, b);
	(void)dw_check_danger(r, part, dw_php_function_named(r, path, strlen(path)));
}

static bool is_true(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v;

	switch (dw_kind(tree, part)) {
	case DW_K_PARENTHESIZED_EXPRESSION:
		part = dw_child_named(tree, part);
		return part && is_true(r, part);
	case DW_K_BOOLEAN:
		return strncasecmp(tree->code + dw_part(tree, part)->start, "true", 4) ==
		       0;
	case DW_K_INTEGER:
		v = dw_literal_number(tree, part);
		return v.type == DW_V_NUMBER && v.number != 0;
	case DW_K_UNARY_OP_EXPRESSION:
		part = dw_child_named(tree, part);
		return part &&
		       (dw_text_is(tree, part, "false") || dw_text_is(tree, part, "0"));
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
		return dw_child_named(&r->tree, part) ? 2 : 1;
	case DW_K_RETURN_STATEMENT:
	case DW_K_THROW_EXPRESSION:
	case DW_K_EXIT_STATEMENT:
	case DW_K_YIELD_EXPRESSION:
		return 2;
	case DW_K_NAME:
		return dw_text_is(&r->tree, part, "die") ||
		                       dw_text_is(&r->tree, part, "exit")
		               ? 2
		               : 0;
	case DW_K_FUNCTION_CALL:
		f = dw_php_callee(r, part);
		return dw_value_is(f, DW_V_NAME, "exit") ||
		                       dw_value_is(f, DW_V_NAME, "die")
		               ? 2
		               : 0;
	case DW_K_WHILE_STATEMENT:
	case DW_K_DO_STATEMENT:
	case DW_K_FOR_STATEMENT:
	case DW_K_FOREACH_STATEMENT:
	case DW_K_SWITCH_STATEMENT:
		return -1;
	default:
		return dw_php_is_function(dw_kind(&r->tree, part)) ? -2 : 0;
	}
}

static void check_loop(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t condition = dw_child_in(tree, part, DW_F_CONDITION);
	bool is_for = dw_kind(tree, part) == DW_K_FOR_STATEMENT;

	if (condition ? is_true(r, condition) : is_for)
		if (!dw_loop_ends(r, part, leaves))
			dw_found(r, part, DW_SEVERITY_WARNING, "loop:unbounded",
			         "this loop has no break, return, throw, yield or exit");
}

static void check(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;

	if (!(dw_part(tree, part)->flags & DW_PART_NAMED))
		return;
	switch (dw_kind(tree, part)) {
	case DW_K_FUNCTION_CALL:
		check_call(r, part);
		break;
	case DW_K_SCOPED_CALL:
		check_scoped(r, part);
		break;
	case DW_K_OBJECT_CREATION:
		check_new(r, part);
		break;
	case DW_K_SHELL_COMMAND:
		dw_found(r, part, DW_SEVERITY_ERROR, "shell:backtick",
		         "backticks run another program");
		dw_check_inner(r, part, DW_CODE_SHELL, dw_php_string_value(r, part));
		break;
	case DW_K_INCLUDE_EXPRESSION:
	case DW_K_INCLUDE_ONCE_EXPRESSION:
	case DW_K_REQUIRE_EXPRESSION:
	case DW_K_REQUIRE_ONCE_EXPRESSION:
		check_include(r, part);
		break;
	case DW_K_DYNAMIC_VARIABLE_NAME:
		dw_found(r, part, DW_SEVERITY_WARNING, "reflection:variable",
		         "which variable this is is known at run time only");
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

const struct dw_reader dw_reader_php = {
	.name = "php",
	.grammar = "php",
	.dangers = dw_php_dangers,
	.is_scope = dw_php_is_scope,
	.bind = dw_php_bind,
	.eval = dw_php_eval,
	.member = dw_value_member,
	.check = check,
};
