/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JavaScript as run by Node.js, and TypeScript, whose tree also has types: their risky
 * names, the roles of their parts, and their hooks.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/reader.h"

/* The constructor of an unknown object. Its own constructor is Function. */
#define MAKER "?.constructor"

static const char modules[] =
	" child_process fs net http https http2 os vm worker_threads cluster dgram dns "
	"tls module inspector v8 repl process axios node-fetch request got undici ws "
	"superagent shelljs execa fs-extra rimraf ffi-napi puppeteer ssh2 node-pty "
	"cross-spawn graceful-fs ";

static const struct dw_danger dangers[] = {
	RUNS("builtin:", E, SELF, " eval "),
	NAMES("builtin:", E, " Function "),
	RUNS("shell:", E, SHELL,
             " child_process.exec child_process.execSync child_process.spawn "
             "child_process.spawnSync child_process.execFile child_process.execFileSync "
             "shelljs.exec "),
	NAMES("shell:", E,
              " child_process.fork execa.* Deno.run Deno.Command Bun.spawn** "),
	NAMES("shell:", W, " process.kill "),
	NAMES("delete:", E,
              " fs.unlink** fs.rm** fs.truncate** fs-extra.remove** fs-extra.emptyDir** "
              "rimraf.* Deno.remove** "),
	NAMES("network:", W,
              " fetch XMLHttpRequest WebSocket EventSource navigator.sendBeacon "
              "net.connect net.createConnection net.createServer net.Socket tls.connect "
              "dgram.createSocket dns.resolve** dns.lookup http.request http.get "
              "http.createServer https.request https.get https.createServer http2.connect "
              "axios.* got.* undici.* "),
	RUNS("dynamic:", E, SELF,
             " vm.runIn** vm.Script vm.compileFunction vm.SourceTextModule "),
	NAMES("dynamic:", W, " worker_threads.Worker Worker "),
	NAMES("dynamic:", E, " importScripts "),
	NAMES("native:", E, " process.binding process._linkedBinding process.dlopen "),
	NAMES("native:", W, " WebAssembly.* v8.setFlagsFromString "),
	{0},
};

/* Global names that matter here. */
static const char globals[] =
	" eval Function require process globalThis module Reflect Object String Buffer atob "
	"fetch XMLHttpRequest WebSocket EventSource Worker importScripts WebAssembly Deno Bun "
	"navigator setTimeout setInterval setImmediate unescape decodeURIComponent decodeURI ";

/* Names of the global object. */
static const char everything[] = " globalThis global window self top frames ";

/* An array of a string's characters is treated as the string. */
static const struct dw_folder methods[] = {
	{DW_FOLD_APPEND_ALL, DW_V_TEXT, " concat "},
	{DW_FOLD_REVERSE, DW_V_TEXT, " reverse "},
	{DW_FOLD_SPLIT, DW_V_TEXT, " split join "},
	{DW_FOLD_REPLACE_FIRST, DW_V_TEXT, " replace "},
	{DW_FOLD_REPLACE, DW_V_TEXT, " replaceAll "},
	{DW_FOLD_LOWER, DW_V_TEXT, " toLowerCase "},
	{DW_FOLD_UPPER, DW_V_TEXT, " toUpperCase "},
	{DW_FOLD_REPEAT, DW_V_TEXT, " repeat "},
	{DW_FOLD_CHAR_AT, DW_V_TEXT, " charAt at "},
	{DW_FOLD_SLICE, DW_V_TEXT, " slice substring "},
	{DW_FOLD_SAME, DW_V_TEXT, " trim toString valueOf "},
	{DW_FOLD_JOIN, DW_V_PART, " join "},
	{0},
};

static const struct dw_folder functions[] = {
	{DW_FOLD_CHARS_OF_CALL, DW_V_UNKNOWN,
         " String.fromCharCode String.fromCodePoint "},
	{DW_FOLD_SAME, DW_V_UNKNOWN, " String "},
	{DW_FOLD_BASE64, DW_V_UNKNOWN, " atob "},
	{DW_FOLD_PERCENT, DW_V_UNKNOWN, " unescape decodeURI decodeURIComponent "},
	{0},
};

/* The plain name of a module: "fs" for "node:fs" and "fs/promises". */
static const char *module_path(struct dw_reading *r, struct dw_value v)
{
	static const char node[] = "node:";
	const char *name = v.text;
	size_t len;

	if (strncmp(name, node, sizeof(node) - 1) == 0)
		name += sizeof(node) - 1;
	len = strlen(name);
	if (len > 9 && strcmp(name + len - 9, "/promises") == 0)
		len -= 9;
	return dw_keep(r, name, len);
}

/* The key of a pair in an object literal or an object pattern. */
static struct dw_value key_of(struct dw_reading *r, uint32_t key)
{
	switch (dw_kind(&r->tree, key)) {
	case DW_K_COMPUTED_PROPERTY_NAME:
		return dw_eval(r, dw_child_named(&r->tree, key));
	case DW_K_STRING:
		return dw_eval(r, key);
	default:
		return dw_eval_text(r, key);
	}
}

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
		if (value && dw_node(r, name)->pattern == DW_PATTERN_NAME) {
			struct dw_value k = key_of(r, key);
			bool known = k.type == DW_V_TEXT;

			dw_bind_name(r, name, at, known ? DW_BIND_MEMBER : DW_BIND_OPAQUE,
			             value, known ? k.text : NULL);
		} else {
			dw_bind_pattern(r, name, 0, at, otherwise);
		}
	}
}

/* Returns true for `import type`, which the compiler removes. */
static bool is_type_only(const struct dw_tree *tree, uint32_t part)
{
	uint32_t type = dw_child_of(tree, part, DW_K_TYPE);

	return type && !(dw_part(tree, type)->flags & DW_PART_NAMED);
}

static void bind_import(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t source = dw_child_in(tree, part, DW_F_SOURCE);
	uint32_t required = dw_child_of(tree, part, DW_K_IMPORT_REQUIRE_CLAUSE);
	uint32_t at = 0; /* imports are valid in the whole program */
	char path[256];
	const char *module;
	struct dw_value v;

	if (required)
		source = dw_child_in(tree, required, DW_F_SOURCE);
	v = dw_eval(r, source);
	if (v.type != DW_V_TEXT || is_type_only(tree, part))
		return;
	module = module_path(r, v);
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

/* A definition inside a branch or a block may not hide a name outside it. */
static bool is_sure(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t up = dw_part(tree, part)->parent;

	if (dw_kind(tree, up) == DW_K_EXPORT_STATEMENT)
		up = dw_part(tree, up)->parent;
	if (dw_kind(tree, up) == DW_K_STATEMENT_BLOCK) {
		up = dw_part(tree, up)->parent;
		return dw_node(r, up)->flow == DW_FLOW_FUNCTION;
	}
	return up == 0;
}

static struct dw_value find_global(struct dw_reading *r, const char *name, size_t len)
{
	if (dw_word_in(everything, name, len))
		return dw_value_name("globalThis");
	return dw_word_in(globals, name, len) ? dw_value_path(r, NULL, name, len)
	                                      : dw_unknown;
}

static struct dw_value global(struct dw_reading *r, const char *name, size_t len,
                              uint32_t at, enum dw_bound bound, struct dw_value v)
{
	struct dw_value known = find_global(r, name, len);

	(void)at;
	(void)bound;
	return known.type == DW_V_NAME ? known : v;
}

static struct dw_value member(struct dw_reading *r, struct dw_value base,
                              const char *name, size_t len)
{
	static const char same[] = " default promises call apply bind prototype valueOf ";

	if (len == 11 && memcmp(name, "constructor", 11) == 0) {
		if (dw_value_is(base, DW_V_NAME, MAKER) ||
		    (base.type == DW_V_PART &&
		     dw_node(r, base.part)->flow == DW_FLOW_FUNCTION))
			return dw_value_name("Function");
		if (!dw_value_is(base, DW_V_NAME, "module"))
			return dw_value_name(base.type == DW_V_NAME &&
			                                     !strchr(base.text, '(')
			                             ? "Function"
			                             : MAKER);
	}
	if (base.type != DW_V_NAME)
		return dw_unknown;
	if (dw_word_in(same, name, len))
		return base;
	if (strcmp(base.text, "globalThis") == 0)
		return find_global(r, name, len);
	/* Members that are require() under another name. */
	if ((len == 7 && memcmp(name, "require", 7) == 0) ||
	    (len == 5 && memcmp(name, "_load", 5) == 0))
		return dw_value_name("require");
	return dw_value_member(r, base, name, len);
}

/* Returns true if f loads a module: require(), import() and the like. */
static bool is_require(struct dw_value f)
{
	return dw_value_in(f, " require import process.getBuiltinModule "
	                      "module.createRequire() ");
}

static bool call(struct dw_reading *r, uint32_t part, struct dw_value f,
                 struct dw_value a, struct dw_value b, struct dw_value *ret)
{
	if (f.type != DW_V_NAME)
		return false;
	if (is_require(f) && a.type == DW_V_TEXT) {
		*ret = dw_value_name(module_path(r, a));
	} else if (strcmp(f.text, "Reflect.get") == 0) {
		*ret = b.type == DW_V_TEXT ? member(r, a, b.text, b.len) : dw_unknown;
	} else if (strcmp(f.text, "Buffer.from") == 0) {
		*ret = dw_value_is(b, DW_V_TEXT, "base64")
		               ? dw_fold(r, DW_FOLD_BASE64, a, part, 1)
		       : dw_value_is(b, DW_V_TEXT, "hex")
		               ? dw_fold(r, DW_FOLD_HEX, a, part, 1)
		               : a;
	} else {
		return strcmp(f.text, "import") == 0;
	}
	return true;
}

static struct dw_value indexed(struct dw_reading *r, struct dw_value v,
                               struct dw_value key)
{
	const struct dw_tree *tree = &r->tree;

	if (key.type == DW_V_TEXT && v.type == DW_V_PART &&
	    dw_kind(tree, v.part) == DW_K_OBJECT)
		return dw_value_entry(r, v.part, key);
	if (key.type == DW_V_TEXT)
		return member(r, v, key.text, key.len);
	if (key.type == DW_V_NUMBER && v.type == DW_V_PART && key.number >= 0)
		return dw_value_element(r, v.part, key.number);
	if (key.type == DW_V_NUMBER && v.type == DW_V_TEXT)
		return dw_fold_slice(r, v, key.number, key.number + 1, 1);
	return dw_unknown;
}

static struct dw_value subscript(struct dw_reading *r, uint32_t part)
{
	return indexed(r, dw_eval(r, dw_child_in(&r->tree, part, DW_F_OBJECT)),
	               dw_eval(r, dw_child_in(&r->tree, part, DW_F_INDEX)));
}

static struct dw_value import(struct dw_reading *r, uint32_t part)
{
	(void)r;
	(void)part;
	return dw_value_name("import");
}

/* Unknown in a class or an object literal; elsewhere it may be the global object. */
static struct dw_value this(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;

	for (uint32_t c = dw_part(tree, part)->parent; c; c = dw_part(tree, c)->parent)
		if (dw_kind(tree, c) == DW_K_CLASS_BODY ||
		    dw_kind(tree, c) == DW_K_OBJECT || !dw_step(r))
			return dw_unknown;
	return dw_value_name("globalThis");
}

static void check_source(struct dw_reading *r, uint32_t part)
{
	uint32_t source = dw_child_in(&r->tree, part, DW_F_SOURCE);
	struct dw_value v = dw_eval(r, source);

	if (v.type == DW_V_TEXT && !is_type_only(&r->tree, part) &&
	    !(v.len > 0 && v.text[0] == '.'))
		dw_check_module(r, part, v.text, v.len);
}

/* require(x), import(x) */
static void check_required(struct dw_reading *r, uint32_t part)
{
	uint32_t name = dw_argument(r, part, 0);
	struct dw_value v = dw_eval(r, name);
	bool plain = name && (dw_kind(&r->tree, name) == DW_K_STRING);

	if (v.type != DW_V_TEXT)
		dw_found(r, part, E, "dynamic:import",
		         "the loaded module is chosen at run time");
	else if (!plain)
		dw_found(r, part, W, "dynamic:import",
		         "module %.100s is put together from pieces", v.text);
	if (v.type == DW_V_TEXT && v.len > 0 && v.text[0] != '.')
		dw_check_module(r, part, v.text, v.len);
}

static void check_call(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t function = dw_child_in(tree, part, DW_F_FUNCTION);
	struct dw_value f, a;

	if (!function)
		function = dw_child_in(tree, part, DW_F_CONSTRUCTOR);
	if (!function)
		return;
	f = dw_eval(r, function);
	if (f.type != DW_V_NAME)
		return;
	if (is_require(f))
		check_required(r, part);
	if (dw_value_in(f, " setTimeout setInterval ")) {
		a = dw_eval_argument(r, part, 0);
		if (a.type == DW_V_TEXT) {
			dw_found(r, part, E, "dynamic:timer", "%s runs text as code",
			         f.text);
			dw_check_inner(r, part, DW_CODE_SELF, a);
		}
	}
	if (strcmp(f.text, "Reflect.get") == 0 &&
	    dw_eval_argument(r, part, 0).type == DW_V_NAME)
		dw_found(r, part, E, "reflection:Reflect.get",
		         "Reflect.get accesses a member by name");
	if (strcmp(f.text, "Function") == 0) {
		/* The last argument is the code. */
		a = dw_eval(r,
		            dw_child_last(tree, dw_child_in(tree, part, DW_F_ARGUMENTS)));
		dw_check_inner(r, part, DW_CODE_SELF, a);
	}
	dw_check_run(r, part, dw_danger_find(r->language, f.text), 0);
}

/* globalThis[x], process[x], require("fs")[x] */
static void check_subscript(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v = dw_eval(r, dw_child_in(tree, part, DW_F_OBJECT));
	struct dw_value key;

	if (!dw_value_in(v, modules) && !dw_value_is(v, DW_V_NAME, "globalThis"))
		return;
	key = dw_eval(r, dw_child_in(tree, part, DW_F_INDEX));
	if (key.type != DW_V_TEXT && key.type != DW_V_NUMBER)
		dw_found(r, part, E, "reflection:subscript",
		         "the name of this member of %s is computed at run time", v.text);
}

static const struct dw_node nodes[DW_K_COUNT] = {
	[DW_K_ARRAY] = {EVAL(PART), TRUTH(YES), SEQUENCE},
	[DW_K_ARRAY_PATTERN] = {PATTERN(LIST), STORES_ALL},
	[DW_K_ARROW_FUNCTION] = {EVAL(PART), BINDS(PARAMETER), FLOW(FUNCTION),
                                 OF(PARAMETER, NONE), STORES(PARAMETER), SCOPE},
	[DW_K_ASSIGNMENT_EXPRESSION] = {EVAL(VALUE), BINDS(ASSIGN), OF(LEFT, RIGHT),
                                        STORES(LEFT)},
	[DW_K_ASSIGNMENT_PATTERN] = {PATTERN(DEFAULT), OF(LEFT, RIGHT), STORES(LEFT)},
	[DW_K_AS_EXPRESSION] = {EVAL(FIRST)},
	[DW_K_AUGMENTED_ASSIGNMENT_EXPRESSION] = {BINDS(AUGMENT), OF(LEFT, RIGHT),
                                                  STORES(LEFT)},
	[DW_K_AWAIT_EXPRESSION] = {EVAL(FIRST), FLOW(EXIT)},
	[DW_K_BINARY_EXPRESSION] = {EVAL(BINARY)},
	[DW_K_BREAK_STATEMENT] = {FLOW(BREAK_TO), OF(LABEL, NONE)},
	[DW_K_CALL_EXPRESSION] = {EVAL(CALL), CHECK(VALUE), FLOW(CALL),
                                  OF(FUNCTION, NONE), CHECK_BY(check_call)},
	[DW_K_CATCH_CLAUSE] = {BINDS(TARGET), OF(PARAMETER, NONE), STORES(PARAMETER)},
	[DW_K_CLASS] = {STORES(NAME)},
	[DW_K_CLASS_DECLARATION] = {BINDS(DEFINITION), STORES(NAME)},
	[DW_K_DO_STATEMENT] = {CHECK(WHILE), FLOW(LOOP), OF(CONDITION, NONE)},
	[DW_K_EXPORT_STATEMENT] = {CHECK_BY(check_source)},
	[DW_K_FALSE] = {TRUTH(NO)},
	[DW_K_FORMAL_PARAMETERS] = {BINDS(PATTERNS), STORES_ALL},
	[DW_K_FOR_IN_STATEMENT] = {BINDS(TARGET), FLOW(LOOP), OF(LEFT, NONE),
                                   STORES(LEFT)},
	[DW_K_FOR_STATEMENT] = {CHECK(FOR), FLOW(LOOP), OF(CONDITION, NONE)},
	[DW_K_FUNCTION_DECLARATION] = {BINDS(DEFINITION), FLOW(FUNCTION), STORES(NAME),
                                       SCOPE},
	[DW_K_FUNCTION_EXPRESSION] = {EVAL(PART), FLOW(FUNCTION), STORES(NAME), SCOPE},
	[DW_K_GENERATOR_DECLARATION] = {BINDS(DEFINITION), FLOW(FUNCTION), STORES(NAME),
                                        SCOPE},
	[DW_K_GENERATOR_FUNCTION] = {EVAL(PART), FLOW(FUNCTION), STORES(NAME), SCOPE},
	[DW_K_IDENTIFIER] = {EVAL(NAME), PATTERN(NAME), CHECK(LOAD)},
	[DW_K_IMPORT] = {EVAL_BY(import)},
	[DW_K_IMPORT_CLAUSE] = {STORES_ALL},
	[DW_K_IMPORT_REQUIRE_CLAUSE] = {STORES_ALL, CHECK_BY(check_source)},
	[DW_K_IMPORT_SPECIFIER] = {STORES_ALL},
	[DW_K_IMPORT_STATEMENT] = {BIND_BY(bind_import), CHECK_BY(check_source)},
	[DW_K_MEMBER_EXPRESSION] = {EVAL(MEMBER), CHECK(LOAD), OF(OBJECT, PROPERTY)},
	[DW_K_METHOD_DEFINITION] = {FLOW(FUNCTION), SCOPE},
	[DW_K_NAMESPACE_IMPORT] = {STORES_ALL},
	[DW_K_NEW_EXPRESSION] = {EVAL(NEW), CHECK(VALUE), OF(CONSTRUCTOR, NONE),
                                 CHECK_BY(check_call)},
	[DW_K_NON_NULL_EXPRESSION] = {EVAL(FIRST)},
	[DW_K_NUMBER] = {EVAL(NUMBER), TRUTH(VALUE)},
	[DW_K_OBJECT] = {EVAL(PART), TRUTH(YES)},
	[DW_K_OBJECT_PATTERN] = {PATTERN(HOOK), STORES_ALL},
	[DW_K_OPTIONAL_PARAMETER] = {PATTERN(DEFAULT), OF(PATTERN, VALUE),
                                     STORES(PATTERN)},
	[DW_K_PAIR_PATTERN] = {STORES_ALL},
	[DW_K_PARENTHESIZED_EXPRESSION] = {EVAL(FIRST), TRUTH(INSIDE)},
	[DW_K_REQUIRED_PARAMETER] = {PATTERN(DEFAULT), OF(PATTERN, VALUE),
                                     STORES(PATTERN)},
	[DW_K_REST_PATTERN] = {PATTERN(REST), STORES_ALL},
	[DW_K_RETURN_STATEMENT] = {FLOW(EXIT)},
	[DW_K_SATISFIES_EXPRESSION] = {EVAL(FIRST)},
	[DW_K_SEQUENCE_EXPRESSION] = {EVAL(LAST)},
	[DW_K_SHORTHAND_PROPERTY] = {EVAL(NAME), CHECK(LOAD)},
	[DW_K_SHORTHAND_PROPERTY_PATTERN] = {PATTERN(NAME)},
	[DW_K_STRING] = {EVAL(STRING), TRUTH(VALUE)},
	[DW_K_SUBSCRIPT_EXPRESSION] = {EVAL_BY(subscript), CHECK(LOAD),
                                       CHECK_BY(check_subscript)},
	[DW_K_SWITCH_STATEMENT] = {FLOW(LOOP)},
	[DW_K_TEMPLATE_STRING] = {EVAL(STRING)},
	[DW_K_TEMPLATE_SUBSTITUTION] = {EVAL(FIRST)},
	[DW_K_TERNARY_EXPRESSION] = {EVAL(EITHER), OF(CONSEQUENCE, ALTERNATIVE)},
	[DW_K_THIS] = {EVAL_BY(this)},
	[DW_K_THROW_STATEMENT] = {FLOW(EXIT)},
	[DW_K_TRUE] = {TRUTH(YES)},
	[DW_K_TYPE_ASSERTION] = {EVAL(LAST)},
	[DW_K_UNARY_EXPRESSION] = {TRUTH(NOT)},
	[DW_K_VARIABLE_DECLARATOR] = {BINDS(DECLARE), OF(NAME, VALUE), STORES(NAME)},
	[DW_K_WHILE_STATEMENT] = {CHECK(WHILE), FLOW(LOOP), OF(CONDITION, NONE)},
	[DW_K_YIELD_EXPRESSION] = {FLOW(EXIT)},
};

/* The fields that both languages share. */
#define JAVASCRIPT                                                                    \
	.modules = modules, .dangers = dangers, .nodes = nodes,                       \
	.operators = " + || && ", .methods = methods, .functions = functions,         \
	.append = DW_K_T_PLUS_EQUAL, .hoists = true, .command = DW_COMMAND_THEN_LIST, \
	.exits = " process.exit process.abort ",                                      \
	.loop_message = "this loop has no break, return, throw, yield or await",      \
	.is_sure = is_sure, .bind_pattern = bind_object, .global = global,            \
	.member = member, .key = key_of, .call = call

const struct dw_syntax dw_syntax_javascript = {
	.name = "javascript",
	.aliases = {"js", "node", "nodejs"},
	.grammar = "javascript",
	JAVASCRIPT,
};

const struct dw_syntax dw_syntax_typescript = {
	.name = "typescript",
	.aliases = {"ts"},
	.grammar = "typescript",
	JAVASCRIPT,
};
