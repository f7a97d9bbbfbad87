/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PHP: its risky names, the roles of its parts, and its hooks. A function can be called
 * by a string with its name, and names of functions ignore case. Variables are bound with
 * the dollar sign, functions without.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "analysis/reader.h"
#include "base/cleanup.h"

/* The value of data from the HTTP request: a name that no function can have. */
#define REQUEST "$request"

static const struct dw_danger dangers[] = {
	RUNS("builtin:", E, SELF, " eval "),
	NAMES("builtin:", E, " create_function "),
	NAMES("builtin:", W, " fopen file_get_contents file_put_contents readfile "),
	RUNS("shell:", E, SHELL, " system exec shell_exec passthru popen proc_open "),
	NAMES("shell:", E, " pcntl_exec "),
	NAMES("shell:", W, " pcntl_fork posix_kill "),
	NAMES("network:", W,
              " mail fsockopen pfsockopen stream_socket_client stream_socket_server "
              "socket_create socket_connect curl_init curl_exec curl_multi_exec "
              "ftp_connect gethostbyname dns_get_record "),
	NAMES("delete:", E, " unlink rmdir ftruncate "),
	NAMES("dynamic:", E, " unserialize "),
	NAMES("reflection:", W, " extract parse_str "),
	NAMES("native:", E, " dl "),
	NAMES("native:", W, " putenv "),
	NAMES("native:FFI", E, " ffi::cdef ffi::load "),
	{0},
};

/* Functions that call a function named by an argument. */
static const char callers[] =
	" call_user_func call_user_func_array array_map array_filter array_walk array_reduce "
	"array_walk_recursive usort uasort uksort register_shutdown_function "
	"register_tick_function ob_start preg_replace_callback iterator_apply "
	"set_error_handler set_exception_handler spl_autoload_register forward_static_call "
	"array_udiff array_uintersect array_diff_ukey is_callable ";

static const char reflectors[] =
	" reflectionfunction reflectionmethod reflectionclass reflectionobject ";

static const char from_outside[] =
	" $_GET $_POST $_REQUEST $_COOKIE $_SERVER $_FILES $GLOBALS ";

static const struct dw_folder functions[] = {
	{DW_FOLD_REVERSE, DW_V_UNKNOWN, " strrev "},
	{DW_FOLD_ROT13, DW_V_UNKNOWN, " str_rot13 "},
	{DW_FOLD_BASE64, DW_V_UNKNOWN, " base64_decode "},
	{DW_FOLD_HEX, DW_V_UNKNOWN, " hex2bin "},
	{DW_FOLD_PERCENT, DW_V_UNKNOWN, " urldecode rawurldecode "},
	{DW_FOLD_CHAR, DW_V_UNKNOWN, " chr "},
	{DW_FOLD_LOWER, DW_V_UNKNOWN, " strtolower lcfirst "},
	{DW_FOLD_UPPER, DW_V_UNKNOWN, " strtoupper "},
	{DW_FOLD_SAME, DW_V_UNKNOWN, " trim strval "},
	{DW_FOLD_REPEAT, DW_V_UNKNOWN, " str_repeat "},
	{0},
};

/* The function named by a string, in lower case and without a leading "\\". */
static struct dw_value function_named(struct dw_reading *r, struct dw_value v)
{
	if (v.type == DW_V_TEXT && v.text[0] == '\\') {
		v.text++;
		v.len--;
	}
	if (v.type != DW_V_TEXT || v.len == 0 || v.len > 64 ||
	    memchr(v.text, '\\', v.len))
		return dw_unknown;
	v = dw_fold_case(r, v, false);
	if (v.type == DW_V_TEXT)
		v.type = DW_V_NAME;
	return v;
}

static struct dw_value callee(struct dw_reading *r, uint32_t call)
{
	uint32_t function = dw_child_in(&r->tree, call, DW_F_FUNCTION);
	struct dw_value v, own;

	if (!function)
		return dw_unknown;
	switch (dw_kind(&r->tree, function)) {
	case DW_K_NAME:
		v = function_named(r, dw_eval_text(r, function));
		if (v.type == DW_V_NAME &&
		    dw_lookup(r, 0, v.text, v.len, UINT32_MAX, &own) != DW_BOUND_NOT)
			return dw_unknown;
		return v;
	case DW_K_QUALIFIED_NAME:
		return function_named(r, dw_eval_text(r, function));
	default:
		v = dw_eval(r, function);
		return dw_value_is(v, DW_V_NAME, REQUEST) ? v : function_named(r, v);
	}
}

/* String functions whose arguments are not in the order of dw_fold(). */
static bool call(struct dw_reading *r, uint32_t part, struct dw_value f,
                 struct dw_value a, struct dw_value b, struct dw_value *ret)
{
	struct dw_value c;

	if (!dw_value_in(f, " str_replace substr implode join "))
		return false;
	c = dw_eval_argument(r, part, 2);
	if (strcmp(f.text, "str_replace") == 0) {
		*ret = dw_fold_replace(r, c, a, b, true);
	} else if (strcmp(f.text, "substr") == 0) {
		bool counts = c.type == DW_V_NUMBER && c.number >= 0 &&
		              c.number < 100000 && b.number < 100000;

		if (b.type == DW_V_NUMBER && b.number >= 0)
			*ret = dw_fold_slice(r, a, b.number,
			                     counts ? b.number + c.number
			                            : (int64_t)a.len,
			                     1);
	} else if (a.type == DW_V_PART) {
		*ret = dw_fold_list(r, a.part, dw_value_text(r, "", 0));
	} else if (b.type == DW_V_PART) {
		*ret = dw_fold_list(r, b.part, a);
	}
	return true;
}

static struct dw_value subscript(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t object = dw_child_named(tree, part);
	uint32_t index = object ? dw_next_named(tree, object) : 0;
	struct dw_value v = dw_eval(r, object), key = dw_eval(r, index);
	int64_t at = 0;

	if (object && dw_text_in(tree, object, from_outside))
		return dw_value_name(REQUEST);
	if (v.type == DW_V_TEXT && key.type == DW_V_NUMBER)
		return dw_fold_slice(r, v, key.number, key.number + 1, 1);
	if (v.type != DW_V_PART || dw_kind(tree, v.part) != DW_K_ARRAY_CREATION)
		return dw_unknown;
	for (uint32_t c = dw_child_named(tree, v.part); c && dw_step(r);
	     c = dw_next_named(tree, c), at++) {
		uint32_t first = dw_child_named(tree, c), second = 0;
		struct dw_value k;

		if (first)
			second = dw_next_named(tree, first);
		if (!second) {
			if (key.type == DW_V_NUMBER && key.number == at)
				return dw_eval(r, first);
			continue;
		}
		k = dw_eval(r, first);
		if (dw_value_same(k, key))
			return dw_eval(r, second);
	}
	return dw_unknown;
}

static void bind_function(struct dw_reading *r, uint32_t name)
{
	struct dw_value v = dw_fold_case(r, dw_eval_text(r, name), false);

	if (v.type == DW_V_TEXT)
		dw_bind(r, 0, v.text, v.len, 0, DW_BIND_OTHER, 0, NULL);
}

/* Only in a namespace may a function have the name of a built-in one. */
static void bind_definition(struct dw_reading *r, uint32_t part)
{
	uint32_t name = dw_child_in(&r->tree, part, DW_F_NAME);

	if (name && dw_part(&r->tree, part)->parent == 0 &&
	    dw_child_of(&r->tree, 0, DW_K_NAMESPACE_DEFINITION))
		bind_function(r, name);
}

/* use function X\y as z */
static void bind_use(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t name = dw_child_in(tree, part, DW_F_ALIAS) ?: dw_child_last(tree, part);

	if (name && dw_kind(tree, name) == DW_K_QUALIFIED_NAME)
		name = dw_child_last(tree, name);
	if (name && dw_child_of(tree, part, DW_K_T_FUNCTION))
		bind_function(r, name);
}

static void check_inner(struct dw_reading *r, uint32_t part, struct dw_value code)
{
	/* The code of eval() has no opening tag. */
	dw_check_inner(r, part, DW_CODE_SELF,
	               dw_value_join(r, dw_value_text(r, "<?php ", 6), code));
}

/* Returns true if the value comes from the HTTP request or is built at run time. */
static bool is_made(const struct dw_tree *tree, uint32_t part)
{
	switch (dw_kind(tree, part)) {
	case DW_K_SUBSCRIPT_EXPRESSION:
		part = dw_child_named(tree, part);
		while (part && dw_kind(tree, part) == DW_K_SUBSCRIPT_EXPRESSION)
			part = dw_child_named(tree, part);
		if (!part)
			return false;
		return dw_text_in(tree, part, from_outside);
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

	for (size_t i = 0; v.type == DW_V_TEXT && i < ARRAY_SIZE(schemes); i++)
		if (strncasecmp(v.text, schemes[i], strlen(schemes[i])) == 0)
			return true;
	return false;
}

/* Report risky functions whose names are passed to the caller as callbacks. */
static void check_callbacks(struct dw_reading *r, uint32_t part, const char *caller)
{
	const struct dw_tree *tree = &r->tree;

	for (unsigned i = 0; i < 4 && dw_argument(r, part, i); i++) {
		uint32_t a = dw_argument(r, part, i);
		struct dw_value v = dw_eval(r, a);

		if (v.type == DW_V_TEXT)
			(void)dw_check_danger(r, a, function_named(r, v));
		else if (i == 0 && strncmp(caller, "call_user", 9) == 0 &&
		         is_made(tree, a))
			dw_found(r, part, E, "dynamic:call",
			         "the called function is chosen at run time");
	}
}

static void check_call(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t function = dw_child_in(tree, part, DW_F_FUNCTION);
	struct dw_value f = callee(r, part);
	struct dw_value a = dw_eval_argument(r, part, 0);
	const struct dw_danger *d;

	if (dw_value_is(f, DW_V_NAME, REQUEST) ||
	    (function && f.type != DW_V_NAME && is_made(tree, function)))
		dw_found(r, part, E, "dynamic:call",
		         "the called function is chosen at run time");
	if (f.type != DW_V_NAME)
		return;
	if (dw_word_in(callers, f.text, f.len))
		check_callbacks(r, part, f.text);
	if (strcmp(f.text, "assert") == 0 && a.type == DW_V_TEXT) {
		dw_found(r, part, E, "builtin:assert", "assert runs text as code");
		check_inner(r, part, a);
	}
	if (strncmp(f.text, "preg_", 5) == 0 && a.type == DW_V_TEXT && a.len > 2) {
		const char *end = strrchr(a.text, a.text[0]);

		if (end > a.text && strchr(end, 'e'))
			dw_found(r, part, E, "dynamic:preg_replace",
			         "the modifier e runs the replacement as code");
	}
	d = dw_check_danger(r, part, f);
	if (is_remote(a) && d && strncmp(d->rule, "builtin:", 8) == 0)
		dw_found(r, part, W, "network:url", "%s reads from a URL", f.text);
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

	/* __DIR__ . "/x.php" is the usual way to include a file. */
	if (what && dw_kind(tree, what) == DW_K_PARENTHESIZED_EXPRESSION)
		what = dw_child_named(tree, what);
	if (what && dw_kind(tree, what) == DW_K_BINARY_EXPRESSION &&
	    dw_child_in(tree, what, DW_F_LEFT) &&
	    dw_text_is(tree, dw_child_in(tree, what, DW_F_LEFT), "__DIR__") &&
	    dw_eval(r, dw_child_in(tree, what, DW_F_RIGHT)).type == DW_V_TEXT)
		return;
	if (v.type != DW_V_TEXT)
		dw_found(r, part, E, "dynamic:import",
		         "the included file is chosen at run time");
	else if (is_remote(v))
		dw_found(r, part, E, "dynamic:import", "code is included from a URL");
}

static void check_new(struct dw_reading *r, uint32_t part)
{
	uint32_t name = dw_child_named(&r->tree, part);

	if (!name || !dw_value_in(function_named(r, dw_eval_text(r, name)), reflectors))
		return;
	dw_found(r, part, E, "reflection:Reflection",
	         "a function or class is looked up by name");
	(void)dw_check_danger(r, part, function_named(r, dw_eval_argument(r, part, 0)));
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
	(void)dw_check_danger(r, part,
	                      function_named(r, dw_value_text(r, path, strlen(path))));
}

static void check_variable(struct dw_reading *r, uint32_t part)
{
	dw_found(r, part, W, "reflection:variable",
	         "the name of this variable is computed at run time");
}

static const struct dw_node nodes[DW_K_COUNT] = {
	[DW_K_ANONYMOUS_FUNCTION] = {EVAL(PART), FLOW(FUNCTION), SCOPE},
	[DW_K_ARRAY_CREATION] = {EVAL(PART), SEQUENCE},
	[DW_K_ARRAY_ELEMENT] = {EVAL(LAST)},
	[DW_K_ARROW_FUNCTION] = {EVAL(PART), FLOW(FUNCTION), SCOPE},
	[DW_K_ASSIGNMENT_EXPRESSION] = {EVAL(VALUE), BINDS(ASSIGN), OF(LEFT, RIGHT)},
	[DW_K_AUGMENTED_ASSIGNMENT_EXPRESSION] = {BINDS(AUGMENT), OF(LEFT, RIGHT)},
	[DW_K_BINARY_EXPRESSION] = {EVAL(BINARY)},
	[DW_K_BOOLEAN] = {TRUTH(WORD)},
	[DW_K_BREAK_STATEMENT] = {FLOW(BREAK_TO)},
	[DW_K_CAST_EXPRESSION] = {EVAL(VALUE), OF(NONE, VALUE)},
	[DW_K_CONDITIONAL_EXPRESSION] = {EVAL(EITHER), OF(BODY, ALTERNATIVE)},
	[DW_K_DO_STATEMENT] = {CHECK(WHILE), FLOW(LOOP), OF(CONDITION, NONE)},
	[DW_K_DYNAMIC_VARIABLE_NAME] = {CHECK_BY(check_variable)},
	[DW_K_ENCAPSED_STRING] = {EVAL(STRING)},
	[DW_K_EXIT_STATEMENT] = {FLOW(EXIT)},
	[DW_K_FOREACH_STATEMENT] = {FLOW(LOOP)},
	[DW_K_FOR_STATEMENT] = {CHECK(FOR), FLOW(LOOP), OF(CONDITION, NONE)},
	[DW_K_FUNCTION_CALL] = {EVAL(CALL), FLOW(CALL), OF(FUNCTION, NONE),
                                CHECK_BY(check_call)},
	[DW_K_FUNCTION_DEFINITION] = {BIND_BY(bind_definition), FLOW(FUNCTION), SCOPE},
	[DW_K_HEREDOC] = {EVAL(VALUE), OF(NONE, VALUE)},
	[DW_K_HEREDOC_BODY] = {EVAL(STRING)},
	[DW_K_INCLUDE_EXPRESSION] = {CHECK_BY(check_include)},
	[DW_K_INCLUDE_ONCE_EXPRESSION] = {CHECK_BY(check_include)},
	[DW_K_INTEGER] = {EVAL(NUMBER), TRUTH(VALUE)},
	[DW_K_LIST_LITERAL] = {PATTERN(LIST)},
	[DW_K_METHOD_DECLARATION] = {FLOW(FUNCTION), SCOPE},
	[DW_K_NAME] = {FLOW(WORD)},
	[DW_K_NAMESPACE_USE_CLAUSE] = {BIND_BY(bind_use)},
	[DW_K_NOWDOC] = {EVAL(VALUE), OF(NONE, VALUE)},
	[DW_K_NOWDOC_BODY] = {EVAL(STRING)},
	[DW_K_OBJECT_CREATION] = {CHECK_BY(check_new)},
	[DW_K_PARENTHESIZED_EXPRESSION] = {EVAL(LAST), TRUTH(INSIDE)},
	[DW_K_REQUIRE_EXPRESSION] = {CHECK_BY(check_include)},
	[DW_K_REQUIRE_ONCE_EXPRESSION] = {CHECK_BY(check_include)},
	[DW_K_RETURN_STATEMENT] = {FLOW(EXIT)},
	[DW_K_SCOPED_CALL] = {CHECK_BY(check_scoped)},
	[DW_K_SHELL_COMMAND] = {CHECK_BY(dw_check_backticks)},
	[DW_K_SIMPLE_PARAMETER] = {BINDS(PARAMETER), OF(NAME, DEFAULT_VALUE)},
	[DW_K_STRING] = {EVAL(STRING)},
	[DW_K_SUBSCRIPT_EXPRESSION] = {EVAL_BY(subscript)},
	[DW_K_SWITCH_STATEMENT] = {FLOW(LOOP)},
	[DW_K_THROW_EXPRESSION] = {FLOW(EXIT)},
	[DW_K_UNARY_OP_EXPRESSION] = {TRUTH(NOT)},
	[DW_K_VARIABLE_NAME] = {EVAL(NAME), PATTERN(NAME)},
	[DW_K_VARIADIC_PARAMETER] = {BINDS(PARAMETER), OF(NAME, DEFAULT_VALUE)},
	[DW_K_WHILE_STATEMENT] = {CHECK(WHILE), FLOW(LOOP), OF(CONDITION, NONE)},
	[DW_K_YIELD_EXPRESSION] = {FLOW(EXIT)},
};

const struct dw_syntax dw_syntax_php = {
	.name = "php",
	.grammar = "php",
	.dangers = dangers,
	.builtins = " assert ",
	.nodes = nodes,
	/* Other operators on strings, such as "a" ^ "b", are not evaluated. */
	.operators = " . + ",
	.functions = functions,
	.append = DW_K_T_DOT_EQUAL,
	.augment_opaque = true,
	.plain_quotes = true,
	.opaque_calls = true,
	.wraps_arguments = true,
	.command = DW_COMMAND_LINE,
	.exits = " exit die ",
	.bare_exits = " exit die ",
	.loop_message = "this loop has no break, return, throw, yield or exit",
	.member = dw_value_member,
	.callee = callee,
	.call = call,
};
