/* SPDX-License-Identifier: Apache-2.0 */
/* JavaScript as Node.js has it, and TypeScript, whose tree only has types besides. */
#include <stdio.h>
#include <string.h>

#include "policy/fold.h"
#include "policy/read.h"

static const char *const modules[] = {
	"child_process",
	"fs",
	"net",
	"http",
	"https",
	"http2",
	"os",
	"vm",
	"worker_threads",
	"cluster",
	"dgram",
	"dns",
	"tls",
	"module",
	"inspector",
	"v8",
	"repl",
	"process",
	"axios",
	"node-fetch",
	"request",
	"got",
	"undici",
	"ws",
	"superagent",
	"shelljs",
	"execa",
	"fs-extra",
	"rimraf",
	"ffi-napi",
	"puppeteer",
	"ssh2",
	"node-pty",
	"cross-spawn",
	"graceful-fs",
	NULL,
};

#define E DW_SEVERITY_ERROR
#define W DW_SEVERITY_WARNING

static const struct dw_danger dangers[] = {
	{"eval", "builtin:", E, DW_CODE_SELF},
	{"Function", "builtin:", E, 0},
	{"child_process.exec", "shell:", E, DW_CODE_SHELL},
	{"child_process.execSync", "shell:", E, DW_CODE_SHELL},
	{"child_process.spawn", "shell:", E, DW_CODE_SHELL},
	{"child_process.spawnSync", "shell:", E, DW_CODE_SHELL},
	{"child_process.execFile", "shell:", E, DW_CODE_SHELL},
	{"child_process.execFileSync", "shell:", E, DW_CODE_SHELL},
	{"child_process.fork", "shell:", E, 0},
	{"shelljs.exec", "shell:", E, DW_CODE_SHELL},
	{"execa.*", "shell:", E, 0},
	{"Deno.run", "shell:", E, 0},
	{"Deno.Command", "shell:", E, 0},
	{"Bun.spawn**", "shell:", E, 0},
	{"process.kill", "shell:", W, 0},
	{"fs.unlink**", "delete:", E, 0},
	{"fs.rm**", "delete:", E, 0},
	{"fs.truncate**", "delete:", E, 0},
	{"fs-extra.remove**", "delete:", E, 0},
	{"fs-extra.emptyDir**", "delete:", E, 0},
	{"rimraf.*", "delete:", E, 0},
	{"Deno.remove**", "delete:", E, 0},
	{"fetch", "network:", W, 0},
	{"XMLHttpRequest", "network:", W, 0},
	{"WebSocket", "network:", W, 0},
	{"EventSource", "network:", W, 0},
	{"navigator.sendBeacon", "network:", W, 0},
	{"net.connect", "network:", W, 0},
	{"net.createConnection", "network:", W, 0},
	{"net.createServer", "network:", W, 0},
	{"net.Socket", "network:", W, 0},
	{"tls.connect", "network:", W, 0},
	{"dgram.createSocket", "network:", W, 0},
	{"dns.resolve**", "network:", W, 0},
	{"dns.lookup", "network:", W, 0},
	{"http.request", "network:", W, 0},
	{"http.get", "network:", W, 0},
	{"http.createServer", "network:", W, 0},
	{"https.request", "network:", W, 0},
	{"https.get", "network:", W, 0},
	{"https.createServer", "network:", W, 0},
	{"http2.connect", "network:", W, 0},
	{"axios.*", "network:", W, 0},
	{"got.*", "network:", W, 0},
	{"undici.*", "network:", W, 0},
	{"vm.runIn**", "dynamic:", E, DW_CODE_SELF},
	{"vm.Script", "dynamic:", E, DW_CODE_SELF},
	{"vm.compileFunction", "dynamic:", E, DW_CODE_SELF},
	{"vm.SourceTextModule", "dynamic:", E, DW_CODE_SELF},
	{"worker_threads.Worker", "dynamic:", W, 0},
	{"Worker", "dynamic:", W, 0},
	{"importScripts", "dynamic:", E, 0},
	{"process.binding", "native:", E, 0},
	{"process._linkedBinding", "native:", E, 0},
	{"process.dlopen", "native:", E, 0},
	{"WebAssembly.*", "native:", W, 0},
	{"v8.setFlagsFromString", "native:", W, 0},
	{0},
};

#undef E
#undef W

/* What is there without an import, as far as we ask. */
static const char globals[] =
	" eval Function require process globalThis module Reflect Object String Buffer atob "
	"fetch XMLHttpRequest WebSocket EventSource Worker importScripts WebAssembly Deno Bun "
	"navigator setTimeout setInterval setImmediate unescape decodeURIComponent decodeURI ";

static const char everything[] = " globalThis global window self top frames ";

/* An object's constructor; the constructor of that one is Function. */
#define MAKER "?.constructor"

static bool is_function(enum dw_kind kind)
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

static bool is_scope(const struct dw_tree *tree, uint32_t part)
{
	return is_function(dw_kind(tree, part));
}

/* "node:fs", "fs/promises": the module's own name. */
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

/* Names. */

static const char *key_of(struct dw_reading *r, uint32_t key)
{
	struct dw_value v;
	size_t len;
	const char *text;

	switch (dw_kind(&r->tree, key)) {
	case DW_K_COMPUTED_PROPERTY_NAME:
		v = dw_eval(r, dw_child_named(&r->tree, key));
		return v.type == DW_V_TEXT ? v.text : NULL;
	case DW_K_STRING:
		v = dw_eval(r, key);
		return v.type == DW_V_TEXT ? v.text : NULL;
	default:
		text = dw_text(&r->tree, key, &len);
		return dw_keep(r, text, len);
	}
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
			const char *path = key_of(r, key);

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

/* import type, import typeof: gone before the program runs. */
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
	uint32_t at = 0; /* imports are there before all else */
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

/* In a branch that is never taken, or in a block, a definition hides nothing. */
static enum dw_binding_kind definition_kind(const struct dw_tree *tree, uint32_t part)
{
	uint32_t up = dw_part(tree, part)->parent;

	if (dw_kind(tree, up) == DW_K_EXPORT_STATEMENT)
		up = dw_part(tree, up)->parent;
	if (dw_kind(tree, up) == DW_K_STATEMENT_BLOCK)
		return is_function(dw_kind(tree, dw_part(tree, up)->parent))
		               ? DW_BIND_OTHER
		               : DW_BIND_OPAQUE;
	return up == 0 ? DW_BIND_OTHER : DW_BIND_OPAQUE;
}

static void bind(struct dw_reading *r, uint32_t part)
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

/* What expressions come to. */

static struct dw_value global(struct dw_reading *r, const char *name, size_t len)
{
	if (dw_word_in(everything, name, len))
		return dw_value_name(r, "globalThis");
	if (dw_word_in(globals, name, len))
		return dw_value_name(r, dw_keep(r, name, len) ?: "");
	return dw_unknown;
}

static struct dw_value name_value(struct dw_reading *r, uint32_t part)
{
	const struct dw_part *p = dw_part(&r->tree, part);
	struct dw_value v = dw_unknown, known;
	enum dw_bound bound;
	size_t len;
	const char *text = dw_text(&r->tree, part, &len);

	bound = dw_lookup(r, p->scope, text, len, p->start, &v);
	if (bound == DW_BOUND_SURELY ||
	    (bound == DW_BOUND_PERHAPS && p->field != DW_F_FUNCTION))
		return v;
	known = global(r, text, len);
	return known.type == DW_V_NAME ? known : v;
}

static struct dw_value member(struct dw_reading *r, struct dw_value base,
                              const char *name, size_t len)
{
	static const char same[] = " default promises call apply bind prototype valueOf ";

	if (len == 11 && memcmp(name, "constructor", 11) == 0) {
		if (dw_value_is(base, DW_V_NAME, MAKER) ||
		    (base.type == DW_V_PART && is_function(dw_kind(&r->tree, base.part))))
			return dw_value_name(r, "Function");
		if (!dw_value_is(base, DW_V_NAME, "module"))
			return dw_value_name(r, base.type == DW_V_NAME &&
			                                        !strchr(base.text, '(')
			                                ? "Function"
			                                : MAKER);
	}
	if (base.type != DW_V_NAME)
		return dw_unknown;
	if (dw_word_in(same, name, len))
		return base;
	if (strcmp(base.text, "globalThis") == 0)
		return global(r, name, len);
	/* The ways to require that are not called so. */
	if ((len == 7 && memcmp(name, "require", 7) == 0) ||
	    (len == 5 && memcmp(name, "_load", 5) == 0))
		return dw_value_name(r, "require");
	return dw_value_member(r, base, name, len);
}

static struct dw_value property(struct dw_reading *r, uint32_t object, const char *name,
                                size_t len)
{
	const struct dw_tree *tree = &r->tree;

	for (uint32_t c = dw_child_named(tree, object); c && dw_step(r);
	     c = dw_next_named(tree, c)) {
		uint32_t key = dw_kind(tree, c) == DW_K_PAIR
		                       ? dw_child_in(tree, c, DW_F_KEY)
		                       : 0;
		const char *text = NULL;

		if (dw_kind(tree, c) == DW_K_SHORTHAND_PROPERTY)
			key = c;
		if (key)
			text = key_of(r, key);
		if (text && strlen(text) == len && memcmp(text, name, len) == 0)
			return dw_eval(r,
			               key == c ? c : dw_child_in(tree, c, DW_F_VALUE));
	}
	return dw_unknown;
}

static uint32_t argument(const struct dw_tree *tree, uint32_t call, unsigned index)
{
	uint32_t list = dw_child_in(tree, call, DW_F_ARGUMENTS);

	if (!list || dw_kind(tree, list) != DW_K_ARGUMENTS)
		return 0;
	return dw_child_at(tree, list, index);
}

static struct dw_value string_value(struct dw_reading *r, uint32_t part)
{
	return dw_fold_pieces(r, part, DW_K_STRING_FRAGMENT, DW_K_TEMPLATE_SUBSTITUTION);
}

/* A method of a text; an array of its characters is the text, as far as we go. */
static struct dw_value text_method(struct dw_reading *r, uint32_t call, struct dw_value v,
                                   uint32_t name)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value a = dw_eval(r, argument(tree, call, 0));
	struct dw_value b = dw_eval(r, argument(tree, call, 1));
	int64_t len = (int64_t)v.len;

	if (dw_text_is(tree, name, "concat")) {
		for (unsigned i = 0; i < 8 && argument(tree, call, i); i++)
			v = dw_value_join(r, v, dw_eval(r, argument(tree, call, i)));
		return v;
	}
	if (dw_text_is(tree, name, "reverse"))
		return dw_fold_reverse(r, v);
	if (dw_text_is(tree, name, "split") || dw_text_is(tree, name, "join"))
		return a.type == DW_V_TEXT && a.len == 0 ? v : dw_unknown;
	if (dw_text_is(tree, name, "replace") || dw_text_is(tree, name, "replaceAll"))
		return dw_fold_replace(r, v, a, b, dw_text_is(tree, name, "replaceAll"));
	if (dw_text_is(tree, name, "toLowerCase"))
		return dw_fold_case(r, v, false);
	if (dw_text_is(tree, name, "toUpperCase"))
		return dw_fold_case(r, v, true);
	if (dw_text_is(tree, name, "repeat"))
		return a.type == DW_V_NUMBER ? dw_fold_times(r, v, a.number) : dw_unknown;
	if (dw_text_is(tree, name, "charAt") || dw_text_is(tree, name, "at"))
		return a.type == DW_V_NUMBER && a.number >= 0 && a.number < len
		               ? dw_fold_slice(r, v, a.number, a.number + 1, 1)
		               : dw_unknown;
	if (dw_text_is(tree, name, "slice") || dw_text_is(tree, name, "substring"))
		return a.type == DW_V_NUMBER && a.number >= 0
		               ? dw_fold_slice(r, v, a.number,
		                               b.type == DW_V_NUMBER ? b.number : len, 1)
		               : dw_unknown;
	if (dw_text_is(tree, name, "trim") || dw_text_is(tree, name, "toString") ||
	    dw_text_is(tree, name, "valueOf"))
		return v;
	return dw_unknown;
}

static bool is_require(struct dw_value f)
{
	return dw_value_is(f, DW_V_NAME, "require") ||
	       dw_value_is(f, DW_V_NAME, "process.getBuiltinModule") ||
	       dw_value_is(f, DW_V_NAME, "module.createRequire()");
}

static struct dw_value known_call(struct dw_reading *r, uint32_t call, struct dw_value f)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value a = dw_eval(r, argument(tree, call, 0)), b;

	if (is_require(f) && a.type == DW_V_TEXT)
		return dw_value_name(r, module_path(r, a) ?: "");
	if (strcmp(f.text, "Reflect.get") == 0) {
		b = dw_eval(r, argument(tree, call, 1));
		return b.type == DW_V_TEXT ? member(r, a, b.text, b.len) : dw_unknown;
	}
	if (strcmp(f.text, "String.fromCharCode") == 0 ||
	    strcmp(f.text, "String.fromCodePoint") == 0)
		return dw_fold_chars(r, dw_child_in(tree, call, DW_F_ARGUMENTS));
	if (strcmp(f.text, "String") == 0)
		return a;
	if (strcmp(f.text, "atob") == 0)
		return dw_fold_base64(r, a);
	if (strcmp(f.text, "unescape") == 0 || strncmp(f.text, "decodeURI", 9) == 0)
		return dw_fold_percent(r, a);
	if (strcmp(f.text, "Buffer.from") == 0) {
		b = dw_eval(r, argument(tree, call, 1));
		if (dw_value_is(b, DW_V_TEXT, "base64"))
			return dw_fold_base64(r, a);
		return dw_value_is(b, DW_V_TEXT, "hex") ? dw_fold_hex(r, a) : a;
	}
	return dw_value_called(r, f);
}

static struct dw_value call_value(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t function = dw_child_in(tree, part, DW_F_FUNCTION);
	uint32_t object, name;
	struct dw_value v;

	if (!function)
		return dw_unknown;
	if (dw_kind(tree, function) == DW_K_IMPORT) {
		v = dw_eval(r, argument(tree, part, 0));
		return v.type == DW_V_TEXT ? dw_value_name(r, module_path(r, v) ?: "")
		                           : dw_unknown;
	}
	if (dw_kind(tree, function) == DW_K_MEMBER_EXPRESSION) {
		object = dw_child_in(tree, function, DW_F_OBJECT);
		name = dw_child_in(tree, function, DW_F_PROPERTY);
		v = dw_eval(r, object);
		if (v.type == DW_V_TEXT && name)
			return text_method(r, part, v, name);
		if (v.type == DW_V_PART && dw_kind(tree, v.part) == DW_K_ARRAY && name &&
		    dw_text_is(tree, name, "join"))
			return dw_fold_list(r, v.part,
			                    dw_eval(r, argument(tree, part, 0)));
	}
	v = dw_eval(r, function);
	return v.type == DW_V_NAME ? known_call(r, part, v) : dw_unknown;
}

static struct dw_value indexed(struct dw_reading *r, struct dw_value v,
                               struct dw_value key)
{
	const struct dw_tree *tree = &r->tree;

	if (key.type == DW_V_TEXT && v.type == DW_V_PART &&
	    dw_kind(tree, v.part) == DW_K_OBJECT)
		return property(r, v.part, key.text, key.len);
	if (key.type == DW_V_TEXT)
		return member(r, v, key.text, key.len);
	if (key.type == DW_V_NUMBER && v.type == DW_V_PART && key.number >= 0)
		return dw_value_element(r, v.part, key.number);
	if (key.type == DW_V_NUMBER && v.type == DW_V_TEXT)
		return dw_fold_slice(r, v, key.number, key.number + 1, 1);
	return dw_unknown;
}

static struct dw_value binary(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t left = dw_child_in(tree, part, DW_F_LEFT);
	uint32_t right = dw_child_in(tree, part, DW_F_RIGHT);
	uint32_t operator= dw_child_in(tree, part, DW_F_OPERATOR);
	struct dw_value a;

	if (operator&& dw_kind(tree, operator) == DW_K_T_PLUS) {
		a = dw_eval(r, left);
		return a.type == DW_V_UNKNOWN ? a : dw_fold_plus(r, a, dw_eval(r, right));
	}
	if (operator&&(dw_text_is(tree, operator, "||") ||
	               dw_text_is(tree, operator, "&&") ||
	               dw_text_is(tree, operator, "??")))
		return dw_either(r, right, left);
	return dw_unknown;
}

static struct dw_value eval(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v;
	uint32_t c;
	size_t len;
	const char *text;

	switch (dw_kind(tree, part)) {
	case DW_K_IDENTIFIER:
	case DW_K_SHORTHAND_PROPERTY:
		return name_value(r, part);
	case DW_K_MEMBER_EXPRESSION:
		c = dw_child_in(tree, part, DW_F_PROPERTY);
		if (!c)
			return dw_unknown;
		text = dw_text(tree, c, &len);
		v = dw_eval(r, dw_child_in(tree, part, DW_F_OBJECT));
		if (v.type == DW_V_PART && dw_kind(tree, v.part) == DW_K_OBJECT)
			return property(r, v.part, text, len);
		return member(r, v, text, len);
	case DW_K_SUBSCRIPT_EXPRESSION:
		return indexed(r, dw_eval(r, dw_child_in(tree, part, DW_F_OBJECT)),
		               dw_eval(r, dw_child_in(tree, part, DW_F_INDEX)));
	case DW_K_CALL_EXPRESSION:
		return call_value(r, part);
	case DW_K_NEW_EXPRESSION:
		return dw_value_called(r, dw_eval(r, dw_child_in(tree, part,
		                                                 DW_F_CONSTRUCTOR)));
	case DW_K_STRING:
	case DW_K_TEMPLATE_STRING:
		return string_value(r, part);
	case DW_K_NUMBER:
		return dw_literal_number(tree, part);
	case DW_K_BINARY_EXPRESSION:
		return binary(r, part);
	case DW_K_PARENTHESIZED_EXPRESSION:
	case DW_K_AWAIT_EXPRESSION:
	case DW_K_AS_EXPRESSION:
	case DW_K_SATISFIES_EXPRESSION:
	case DW_K_NON_NULL_EXPRESSION:
		return dw_eval(r, dw_child_named(tree, part));
	case DW_K_THIS:
		/* In a class or an object it is that; elsewhere it may be everything. */
		for (c = dw_part(tree, part)->parent; c; c = dw_part(tree, c)->parent)
			if (dw_kind(tree, c) == DW_K_CLASS_BODY ||
			    dw_kind(tree, c) == DW_K_OBJECT || !dw_step(r))
				return dw_unknown;
		return dw_value_name(r, "globalThis");
	case DW_K_SEQUENCE_EXPRESSION:
	case DW_K_TYPE_ASSERTION:
		return dw_eval(r, dw_child_last(tree, part));
	case DW_K_TERNARY_EXPRESSION:
		return dw_either(r, dw_child_in(tree, part, DW_F_CONSEQUENCE),
		                 dw_child_in(tree, part, DW_F_ALTERNATIVE));
	case DW_K_ASSIGNMENT_EXPRESSION:
		return dw_eval(r, dw_child_in(tree, part, DW_F_RIGHT));
	case DW_K_ARRAY:
	case DW_K_OBJECT:
	case DW_K_FUNCTION_EXPRESSION:
	case DW_K_ARROW_FUNCTION:
	case DW_K_GENERATOR_FUNCTION:
		return dw_value_part(part);
	default:
		return dw_unknown;
	}
}

/* Findings. */

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

	if (v.type == DW_V_TEXT && !is_type_only(&r->tree, part) &&
	    !(v.len > 0 && v.text[0] == '.'))
		dw_check_module(r, part, v.text, v.len);
}

/* require(x) and import(x). */
static void check_required(struct dw_reading *r, uint32_t part)
{
	uint32_t name = argument(&r->tree, part, 0);
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
	struct dw_value all = dw_eval(r, argument(tree, call, 0));
	struct dw_value list = dw_eval(r, argument(tree, call, 1));

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
	if (is_require(f))
		check_required(r, part);
	if (strcmp(f.text, "setTimeout") == 0 || strcmp(f.text, "setInterval") == 0) {
		a = dw_eval(r, argument(tree, part, 0));
		if (a.type == DW_V_TEXT) {
			dw_found(r, part, DW_SEVERITY_ERROR, "dynamic:timer",
			         "%s runs a text as code", f.text);
			dw_check_inner(r, part, DW_CODE_SELF, a);
		}
	}
	if (strcmp(f.text, "Reflect.get") == 0 &&
	    dw_eval(r, argument(tree, part, 0)).type == DW_V_NAME)
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
		dw_check_inner(r, part, d->code, dw_eval(r, argument(tree, part, 0)));
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
	for (const char *const *m = modules; *m; m++)
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
		return is_function(dw_kind(&r->tree, part)) ? -2 : 0;
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
	.modules = modules,
	.dangers = dangers,
	.is_scope = is_scope,
	.bind = bind,
	.eval = eval,
	.member = member,
	.check = check,
};

const struct dw_reader dw_reader_typescript = {
	.name = "typescript",
	.aliases = {"ts"},
	.grammar = "typescript",
	.modules = modules,
	.dangers = dangers,
	.is_scope = is_scope,
	.bind = bind,
	.eval = eval,
	.member = member,
	.check = check,
};
