/* SPDX-License-Identifier: Apache-2.0 */
/* In PHP a text is as good as a function's name, and no name minds its case. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "policy/fold.h"
#include "policy/read.h"

#define E DW_SEVERITY_ERROR
#define W DW_SEVERITY_WARNING

static const struct dw_danger dangers[] = {
	{"eval", "builtin:", E, DW_CODE_SELF},
	{"create_function", "builtin:", E, 0},
	{"fopen", "builtin:", W, 0},
	{"file_get_contents", "builtin:", W, 0},
	{"file_put_contents", "builtin:", W, 0},
	{"readfile", "builtin:", W, 0},
	{"system", "shell:", E, DW_CODE_SHELL},
	{"exec", "shell:", E, DW_CODE_SHELL},
	{"shell_exec", "shell:", E, DW_CODE_SHELL},
	{"passthru", "shell:", E, DW_CODE_SHELL},
	{"popen", "shell:", E, DW_CODE_SHELL},
	{"proc_open", "shell:", E, DW_CODE_SHELL},
	{"pcntl_exec", "shell:", E, 0},
	{"pcntl_fork", "shell:", W, 0},
	{"posix_kill", "shell:", W, 0},
	{"mail", "network:", W, 0},
	{"unlink", "delete:", E, 0},
	{"rmdir", "delete:", E, 0},
	{"ftruncate", "delete:", E, 0},
	{"fsockopen", "network:", W, 0},
	{"pfsockopen", "network:", W, 0},
	{"stream_socket_client", "network:", W, 0},
	{"stream_socket_server", "network:", W, 0},
	{"socket_create", "network:", W, 0},
	{"socket_connect", "network:", W, 0},
	{"curl_init", "network:", W, 0},
	{"curl_exec", "network:", W, 0},
	{"curl_multi_exec", "network:", W, 0},
	{"ftp_connect", "network:", W, 0},
	{"gethostbyname", "network:", W, 0},
	{"dns_get_record", "network:", W, 0},
	{"unserialize", "dynamic:", E, 0},
	{"extract", "reflection:", W, 0},
	{"parse_str", "reflection:", W, 0},
	{"dl", "native:", E, 0},
	{"putenv", "native:", W, 0},
	{"ffi::cdef", "native:FFI", E, 0},
	{"ffi::load", "native:FFI", E, 0},
	{0},
};

#undef E
#undef W

/* Functions that call what they are given the name of. */
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

/* What comes with a request: a name that no function has. */
#define REQUEST "$request"

static bool is_function(enum dw_kind kind)
{
	return kind == DW_K_FUNCTION_DEFINITION || kind == DW_K_METHOD_DECLARATION ||
	       kind == DW_K_ANONYMOUS_FUNCTION || kind == DW_K_ARROW_FUNCTION;
}

static bool is_scope(const struct dw_tree *tree, uint32_t part)
{
	return is_function(dw_kind(tree, part));
}

/* Names: variables with their dollar, functions without. */

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

static void bind(struct dw_reading *r, uint32_t part)
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

/* What expressions come to. */

static uint32_t argument(const struct dw_tree *tree, uint32_t call, unsigned index)
{
	uint32_t list = dw_child_in(tree, call, DW_F_ARGUMENTS);
	uint32_t c;

	if (!list)
		list = dw_child_of(tree, call, DW_K_ARGUMENTS);
	c = list ? dw_child_at(tree, list, index) : 0;
	return c && dw_kind(tree, c) == DW_K_ARGUMENT ? dw_child_last(tree, c) : 0;
}

/* The function of that name, if it is PHP's: without case, without a first "\". */
static struct dw_value function_named(struct dw_reading *r, const char *text, size_t len)
{
	struct dw_value v;

	if (len > 0 && text[0] == '\\') {
		text++;
		len--;
	}
	if (len == 0 || len > 64 || memchr(text, '\\', len))
		return dw_unknown;
	v = dw_fold_case(r, dw_value_text(r, text, len), false);
	if (v.type == DW_V_TEXT)
		v.type = DW_V_NAME;
	return v;
}

static struct dw_value callee(struct dw_reading *r, uint32_t call)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t function = dw_child_in(tree, call, DW_F_FUNCTION);
	struct dw_value v, own;
	size_t len;
	const char *text;

	if (!function)
		return dw_unknown;
	text = dw_text(tree, function, &len);
	switch (dw_kind(tree, function)) {
	case DW_K_NAME:
		v = function_named(r, text, len);
		if (v.type == DW_V_NAME &&
		    dw_lookup(r, 0, v.text, v.len, UINT32_MAX, &own) != DW_BOUND_NOT)
			return dw_unknown;
		return v;
	case DW_K_QUALIFIED_NAME:
		return function_named(r, text, len);
	default:
		v = dw_eval(r, function);
		if (dw_value_is(v, DW_V_NAME, REQUEST))
			return v;
		return v.type == DW_V_TEXT ? function_named(r, v.text, v.len)
		                           : dw_unknown;
	}
}

static struct dw_value string_value(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	bool single = dw_kind(tree, part) == DW_K_STRING;
	struct dw_value all = dw_value_text(r, "", 0), piece;

	for (uint32_t c = dw_child_named(tree, part); c && all.type == DW_V_TEXT;
	     c = dw_next_named(tree, c)) {
		size_t len;
		const char *text = dw_text(tree, c, &len);

		if (dw_kind(tree, c) == DW_K_STRING_CONTENT)
			piece = dw_value_text(r, text, len);
		else if (dw_kind(tree, c) == DW_K_ESCAPE_SEQUENCE)
			piece = single ? dw_value_text(r, text + 1, len - 1)
			               : dw_unescape(r, text, len);
		else
			piece = dw_eval(r, c);
		all = dw_value_join(r, all, piece);
	}
	return all;
}

static struct dw_value known_call(struct dw_reading *r, uint32_t call, const char *f)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value a = dw_eval(r, argument(tree, call, 0));
	struct dw_value b = dw_eval(r, argument(tree, call, 1));

	if (strcmp(f, "strrev") == 0)
		return dw_fold_reverse(r, a);
	if (strcmp(f, "str_rot13") == 0)
		return dw_fold_rot13(r, a);
	if (strcmp(f, "base64_decode") == 0)
		return dw_fold_base64(r, a);
	if (strcmp(f, "hex2bin") == 0)
		return dw_fold_hex(r, a);
	if (strcmp(f, "urldecode") == 0 || strcmp(f, "rawurldecode") == 0)
		return dw_fold_percent(r, a);
	if (strcmp(f, "chr") == 0)
		return dw_fold_char(r, a);
	if (strcmp(f, "strtolower") == 0 || strcmp(f, "lcfirst") == 0)
		return dw_fold_case(r, a, false);
	if (strcmp(f, "strtoupper") == 0)
		return dw_fold_case(r, a, true);
	if (strcmp(f, "trim") == 0 || strcmp(f, "strval") == 0)
		return a;
	if (strcmp(f, "str_repeat") == 0)
		return b.type == DW_V_NUMBER ? dw_fold_times(r, a, b.number) : dw_unknown;
	if (strcmp(f, "str_replace") == 0)
		return dw_fold_replace(r, dw_eval(r, argument(tree, call, 2)), a, b,
		                       true);
	if (strcmp(f, "substr") == 0 && b.type == DW_V_NUMBER && b.number >= 0) {
		struct dw_value n = dw_eval(r, argument(tree, call, 2));
		int64_t end = n.type == DW_V_NUMBER && n.number >= 0 &&
		                              n.number < 100000 && b.number < 100000
		                      ? b.number + n.number
		                      : (int64_t)a.len;

		return dw_fold_slice(r, a, b.number, end, 1);
	}
	if (strcmp(f, "implode") == 0 || strcmp(f, "join") == 0) {
		if (a.type == DW_V_PART)
			return dw_fold_list(r, a.part, dw_value_text(r, "", 0));
		return b.type == DW_V_PART ? dw_fold_list(r, b.part, a) : dw_unknown;
	}
	return dw_unknown;
}

static struct dw_value subscript(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t object = dw_child_named(tree, part);
	uint32_t index = object ? dw_next_named(tree, object) : 0;
	struct dw_value v = dw_eval(r, object), key = dw_eval(r, index);
	int64_t at = 0;
	size_t len = 0;
	const char *text = object ? dw_text(tree, object, &len) : "";

	if (dw_word_in(from_outside, text, len))
		return dw_value_name(r, REQUEST);

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

static struct dw_value eval(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v = dw_unknown;
	size_t len;
	const char *text = dw_text(tree, part, &len);

	switch (dw_kind(tree, part)) {
	case DW_K_VARIABLE_NAME:
		(void)dw_lookup(r, dw_part(tree, part)->scope, text, len,
		                dw_part(tree, part)->start, &v);
		return v;
	case DW_K_STRING:
	case DW_K_ENCAPSED_STRING:
	case DW_K_HEREDOC_BODY:
	case DW_K_NOWDOC_BODY:
		return string_value(r, part);
	case DW_K_HEREDOC:
	case DW_K_NOWDOC:
		return dw_eval(r, dw_child_in(tree, part, DW_F_VALUE));
	case DW_K_INTEGER:
		return dw_literal_number(tree, part);
	case DW_K_BINARY_EXPRESSION:
		if (dw_child_of(tree, part, DW_K_T_DOT))
			return dw_value_join(r,
			                     dw_eval(r,
			                             dw_child_in(tree, part, DW_F_LEFT)),
			                     dw_eval(r, dw_child_in(tree, part,
			                                            DW_F_RIGHT)));
		/* "a" ^ "b" and the like are left alone. */
		return dw_child_of(tree, part, DW_K_T_PLUS)
		               ? dw_fold_plus(r,
		                              dw_eval(r,
		                                      dw_child_in(tree, part, DW_F_LEFT)),
		                              dw_eval(r, dw_child_in(tree, part,
		                                                     DW_F_RIGHT)))
		               : dw_unknown;
	case DW_K_PARENTHESIZED_EXPRESSION:
	case DW_K_ARRAY_ELEMENT:
		return dw_eval(r, dw_child_last(tree, part));
	case DW_K_CAST_EXPRESSION:
		return dw_eval(r, dw_child_in(tree, part, DW_F_VALUE));
	case DW_K_CONDITIONAL_EXPRESSION:
		return dw_either(r, dw_child_in(tree, part, DW_F_BODY),
		                 dw_child_in(tree, part, DW_F_ALTERNATIVE));
	case DW_K_ASSIGNMENT_EXPRESSION:
		return dw_eval(r, dw_child_in(tree, part, DW_F_RIGHT));
	case DW_K_SUBSCRIPT_EXPRESSION:
		return subscript(r, part);
	case DW_K_FUNCTION_CALL:
		v = callee(r, part);
		return v.type == DW_V_NAME ? known_call(r, part, v.text) : dw_unknown;
	case DW_K_ARRAY_CREATION:
	case DW_K_ANONYMOUS_FUNCTION:
	case DW_K_ARROW_FUNCTION:
		return dw_value_part(part);
	default:
		return dw_unknown;
	}
}

/* Findings. */

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
		return dw_word_in(from_outside, text, len);
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

	for (unsigned i = 0; i < 4 && argument(tree, part, i); i++) {
		uint32_t a = argument(tree, part, i);
		struct dw_value v = dw_eval(r, a);

		if (v.type == DW_V_TEXT)
			(void)dw_check_danger(r, a, function_named(r, v.text, v.len));
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
	struct dw_value f = callee(r, part);
	struct dw_value a = dw_eval(r, argument(tree, part, 0));
	const struct dw_danger *d;

	if (dw_value_is(f, DW_V_NAME, REQUEST) ||
	    (function && f.type != DW_V_NAME && is_made(tree, function)))
		dw_found(r, part, DW_SEVERITY_ERROR, "dynamic:call",
		         "which function is called is known at run time only");
	if (f.type != DW_V_NAME)
		return;
	if (dw_word_in(callers, f.text, f.len))
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
	struct dw_value v = name ? function_named(r, text, len) : dw_unknown;
	struct dw_value a;

	if (v.type != DW_V_NAME || !dw_word_in(reflectors, v.text, v.len))
		return;
	dw_found(r, part, DW_SEVERITY_ERROR, "reflection:Reflection",
	         "a function or class is taken by its name");
	a = dw_eval(r, argument(tree, part, 0));
	if (a.type == DW_V_TEXT)
		(void)dw_check_danger(r, part, function_named(r, a.text, a.len));
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
	(void)dw_check_danger(r, part, function_named(r, path, strlen(path)));
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
		f = callee(r, part);
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
		return is_function(dw_kind(&r->tree, part)) ? -2 : 0;
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
		dw_check_inner(r, part, DW_CODE_SHELL, string_value(r, part));
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
	.dangers = dangers,
	.is_scope = is_scope,
	.bind = bind,
	.eval = eval,
	.member = dw_value_member,
	.check = check,
};
