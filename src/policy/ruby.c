/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In Ruby nearly everything is a method. Those of Kernel may be called from anywhere
 * without naming it, and through send() on any object at all.
 */
#include <stdio.h>
#include <string.h>

#include "policy/fold.h"
#include "policy/read.h"

static const char *const modules[] = {
	"socket",   "net",    "open-uri", "open3",    "fileutils",   "pty",   "fiddle",
	"ffi",      "drb",    "webrick",  "openssl",  "tempfile",    "etc",   "syslog",
	"objspace", "ripper", "faraday",  "httparty", "rest-client", "excon", "typhoeus",
	"shell",    "dl",     "win32ole", NULL,
};

#define E DW_SEVERITY_ERROR
#define W DW_SEVERITY_WARNING

static const struct dw_danger dangers[] = {
	{"Kernel.eval", "builtin:eval", E, DW_CODE_SELF},
	{"Kernel.binding.eval", "builtin:eval", E, DW_CODE_SELF},
	{"TOPLEVEL_BINDING.eval", "builtin:eval", E, DW_CODE_SELF},
	{"Kernel.instance_eval", "builtin:instance_eval", E, DW_CODE_SELF},
	{"Kernel.class_eval", "builtin:class_eval", E, DW_CODE_SELF},
	{"Kernel.module_eval", "builtin:module_eval", E, DW_CODE_SELF},
	{"Kernel.open", "builtin:open", W, 0},
	{"Kernel.gets", "builtin:gets", W, 0},
	{"File.open", "builtin:open", W, 0},
	{"File.new", "builtin:open", W, 0},
	{"File.write", "builtin:open", W, 0},
	{"File.read", "builtin:open", W, 0},
	{"IO.read", "builtin:open", W, 0},
	{"IO.write", "builtin:open", W, 0},
	{"Kernel.system", "shell:system", E, DW_CODE_SHELL},
	{"Kernel.exec", "shell:exec", E, DW_CODE_SHELL},
	{"Kernel.spawn", "shell:spawn", E, DW_CODE_SHELL},
	{"Kernel.fork", "shell:fork", W, 0},
	{"Kernel.`", "shell:backtick", E, DW_CODE_SHELL},
	{"Kernel.syscall", "native:syscall", E, 0},
	{"Process.spawn", "shell:", E, DW_CODE_SHELL},
	{"Process.exec", "shell:", E, DW_CODE_SHELL},
	{"Process.fork", "shell:", W, 0},
	{"Process.kill", "shell:", W, 0},
	{"IO.popen", "shell:", E, DW_CODE_SHELL},
	{"Open3.*", "shell:", E, DW_CODE_SHELL},
	{"PTY.spawn", "shell:", E, DW_CODE_SHELL},
	{"PTY.getpty", "shell:", E, DW_CODE_SHELL},
	{"File.delete", "delete:", E, 0},
	{"File.unlink", "delete:", E, 0},
	{"File.truncate", "delete:", E, 0},
	{"Dir.rmdir", "delete:", E, 0},
	{"Dir.unlink", "delete:", E, 0},
	{"Dir.delete", "delete:", E, 0},
	{"FileUtils.rm**", "delete:", E, 0},
	{"FileUtils.remove**", "delete:", E, 0},
	{"FileUtils.safe_unlink", "delete:", E, 0},
	{"Pathname.new().delete", "delete:Pathname.delete", E, 0},
	{"Pathname.new().unlink", "delete:Pathname.unlink", E, 0},
	{"Pathname.new().rmtree", "delete:Pathname.rmtree", E, 0},
	{"Net.HTTP.*", "network:Net::HTTP", W, 0},
	{"Net.FTP.*", "network:Net::FTP", W, 0},
	{"Net.SMTP.*", "network:Net::SMTP", W, 0},
	{"Net.SSH.*", "network:Net::SSH", W, 0},
	{"TCPSocket.*", "network:TCPSocket", W, 0},
	{"TCPServer.*", "network:TCPServer", W, 0},
	{"UDPSocket.*", "network:UDPSocket", W, 0},
	{"UNIXSocket.*", "network:UNIXSocket", W, 0},
	{"Socket.*", "network:Socket", W, 0},
	{"URI.open", "network:URI.open", W, 0},
	{"OpenURI.*", "network:OpenURI", W, 0},
	{"Faraday.*", "network:Faraday", W, 0},
	{"HTTParty.*", "network:HTTParty", W, 0},
	{"RestClient.*", "network:RestClient", W, 0},
	{"Fiddle.*", "native:Fiddle", E, 0},
	{"Fiddle.Function.new", "native:Fiddle", E, 0},
	{"Marshal.load", "dynamic:", E, 0},
	{"YAML.load", "dynamic:", W, 0},
	{"YAML.unsafe_load", "dynamic:", E, 0},
	{"RubyVM.InstructionSequence.*", "dynamic:RubyVM", E, 0},
	{"ObjectSpace.each_object", "reflection:", W, 0},
	{0},
};

#undef E
#undef W

/* Methods that every object has, as far as we ask. */
static const char kernel[] =
	" eval instance_eval class_eval module_eval open gets system exec spawn fork syscall "
	"` binding require load require_relative autoload method send __send__ public_send "
	"const_get instance_variable_get loop raise exit exit! abort throw fail ";

/* Without a block they run a text. */
static const char needs_text[] = " instance_eval class_eval module_eval ";

static bool is_scope(const struct dw_tree *tree, uint32_t part)
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

/* Names: variables as they are, methods with a dot in front. */

#define NAME_LEN_MAX 200

static void bind_method(struct dw_reading *r, uint32_t part)
{
	uint32_t name = dw_child_in(&r->tree, part, DW_F_NAME);
	uint32_t up = dw_part(&r->tree, part)->parent;
	size_t len;
	const char *text;
	char dotted[NAME_LEN_MAX + 2];
	char *kept;

	if (!name)
		return;
	/* In a branch that is never taken, a definition hides nothing. */
	if (up != 0 && dw_kind(&r->tree, up) != DW_K_BODY_STATEMENT)
		return;
	text = dw_text(&r->tree, name, &len);
	if (len > NAME_LEN_MAX)
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

static void bind(struct dw_reading *r, uint32_t part)
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

/* What expressions come to. */

static uint32_t argument(const struct dw_tree *tree, uint32_t call, unsigned index)
{
	uint32_t list = dw_child_in(tree, call, DW_F_ARGUMENTS);

	return list ? dw_child_at(tree, list, index) : 0;
}

static struct dw_value kernel_method(struct dw_reading *r, const char *name, size_t len)
{
	char path[64];

	if (len > 40 || !dw_word_in(kernel, name, len))
		return dw_unknown;
	(void)snprintf(path, sizeof(path), "Kernel.%.*s", (int)len, name);
	return dw_value_name(r, dw_keep(r, path, strlen(path)) ?: "");
}

/* Has the program a method of that name, seen from here? */
static bool is_own(struct dw_reading *r, uint32_t part, const char *name, size_t len)
{
	char dotted[NAME_LEN_MAX + 2];
	struct dw_value v;

	if (len > NAME_LEN_MAX)
		return false;
	(void)snprintf(dotted, sizeof(dotted), ".%.*s", (int)len, name);
	return dw_lookup(r, dw_part(&r->tree, part)->scope, dotted, len + 1,
	                 dw_part(&r->tree, part)->start, &v) == DW_BOUND_SURELY;
}

static struct dw_value member(struct dw_reading *r, struct dw_value base,
                              const char *name, size_t len)
{
	static const char same[] = " call to_proc curry unbind bind public_method ";

	if (base.type != DW_V_NAME)
		return dw_unknown;
	if (dw_word_in(same, name, len))
		return base;
	if (strcmp(base.text, "self") == 0 || strcmp(base.text, "Object") == 0 ||
	    strcmp(base.text, "Kernel") == 0 || strcmp(base.text, "BasicObject") == 0) {
		struct dw_value v = kernel_method(r, name, len);

		if (v.type == DW_V_NAME)
			return v;
	}
	return dw_value_member(r, base, name, len);
}

static bool is_send(const struct dw_tree *tree, uint32_t method)
{
	return dw_text_is(tree, method, "send") || dw_text_is(tree, method, "__send__") ||
	       dw_text_is(tree, method, "public_send") ||
	       dw_text_is(tree, method, "method") ||
	       dw_text_is(tree, method, "instance_method");
}

/* The method that a call calls, behind send() and method() too. */
static struct dw_value callee(struct dw_reading *r, uint32_t call)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t receiver = dw_child_in(tree, call, DW_F_RECEIVER);
	uint32_t method = dw_child_in(tree, call, DW_F_METHOD);
	struct dw_value base, name;
	size_t len;
	const char *text;

	if (!method) /* x.() */
		return receiver ? dw_eval(r, receiver) : dw_unknown;
	text = dw_text(tree, method, &len);
	base = receiver ? dw_eval(r, receiver) : dw_value_name(r, "self");
	if (is_send(tree, method)) {
		name = dw_eval(r, argument(tree, call, 0));
		if (name.type != DW_V_TEXT)
			return dw_unknown;
		/* Whatever it is sent to, it has Kernel's methods. */
		if (base.type == DW_V_NAME)
			return member(r, base, name.text, name.len);
		return kernel_method(r, name.text, name.len);
	}
	if (!receiver)
		return is_own(r, call, text, len) ? dw_unknown
		                                  : kernel_method(r, text, len);
	return member(r, base, text, len);
}

static struct dw_value string_value(struct dw_reading *r, uint32_t part)
{
	return dw_fold_pieces(r, part, DW_K_STRING_CONTENT, DW_K_INTERPOLATION);
}

/* Methods of texts, numbers and lists. */
static struct dw_value text_method(struct dw_reading *r, uint32_t call, struct dw_value v)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t m = dw_child_in(tree, call, DW_F_METHOD);
	struct dw_value a = dw_eval(r, argument(tree, call, 0));

	if (!m)
		return dw_unknown;
	if (v.type == DW_V_NUMBER)
		return dw_text_is(tree, m, "chr") ? dw_fold_char(r, v) : dw_unknown;
	if (v.type == DW_V_PART) {
		if (dw_text_is(tree, m, "join"))
			return dw_fold_list(r, v.part,
			                    a.type == DW_V_TEXT
			                            ? a
			                            : dw_value_text(r, "", 0));
		if (dw_text_is(tree, m, "pack")) {
			if (a.type == DW_V_TEXT && strchr("cCU", a.text[0]))
				return dw_fold_chars(r, v.part);
			if (a.type == DW_V_TEXT && a.text[0] == 'H')
				return dw_fold_hex(r, dw_eval(r, dw_child_named(tree,
				                                                v.part)));
		}
		return dw_unknown;
	}
	if (dw_text_is(tree, m, "+") || dw_text_is(tree, m, "concat") ||
	    dw_text_is(tree, m, "<<"))
		return dw_value_join(r, v, a);
	if (dw_text_is(tree, m, "reverse"))
		return dw_fold_reverse(r, v);
	if (dw_text_is(tree, m, "downcase"))
		return dw_fold_case(r, v, false);
	if (dw_text_is(tree, m, "upcase"))
		return dw_fold_case(r, v, true);
	if (dw_text_is(tree, m, "sub") || dw_text_is(tree, m, "gsub") ||
	    dw_text_is(tree, m, "tr"))
		return dw_fold_replace(r, v, a, dw_eval(r, argument(tree, call, 1)),
		                       true);
	if (dw_text_is(tree, m, "unpack1"))
		return dw_value_is(a, DW_V_TEXT, "m") || dw_value_is(a, DW_V_TEXT, "m0")
		               ? dw_fold_base64(r, v)
		               : dw_unknown;
	if (dw_text_is(tree, m, "to_sym") || dw_text_is(tree, m, "to_s") ||
	    dw_text_is(tree, m, "intern") || dw_text_is(tree, m, "freeze") ||
	    dw_text_is(tree, m, "dup") || dw_text_is(tree, m, "strip") ||
	    dw_text_is(tree, m, "to_str"))
		return v;
	return dw_unknown;
}

static struct dw_value call_value(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t receiver = dw_child_in(tree, part, DW_F_RECEIVER);
	uint32_t method = dw_child_in(tree, part, DW_F_METHOD);
	struct dw_value v, a;

	if (receiver) {
		v = dw_eval(r, receiver);
		if (v.type == DW_V_TEXT || v.type == DW_V_NUMBER || v.type == DW_V_PART)
			return text_method(r, part, v);
	}
	a = dw_eval(r, argument(tree, part, 0));
	if (method && dw_text_is(tree, method, "const_get") && a.type == DW_V_TEXT)
		return dw_value_name(r, a.text);
	if (method && is_send(tree, method) &&
	    (dw_text_is(tree, method, "method") ||
	     dw_text_is(tree, method, "instance_method")))
		return callee(r, part);
	v = callee(r, part);
	if (dw_value_is(v, DW_V_NAME, "Kernel.binding"))
		return v;
	if (dw_value_is(v, DW_V_NAME, "Base64.decode64") ||
	    dw_value_is(v, DW_V_NAME, "Base64.strict_decode64"))
		return dw_fold_base64(r, a);
	return dw_value_called(r, v);
}

static struct dw_value eval(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t left, right;
	struct dw_value v = dw_unknown;
	size_t len;
	const char *text = dw_text(tree, part, &len);

	switch (dw_kind(tree, part)) {
	case DW_K_IDENTIFIER:
	case DW_K_GLOBAL_VARIABLE:
		if (dw_lookup(r, dw_part(tree, part)->scope, text, len,
		              dw_part(tree, part)->start, &v) == DW_BOUND_NOT &&
		    len == 7 && memcmp(text, "binding", 7) == 0)
			return dw_value_name(r, "Kernel.binding");
		return v;
	case DW_K_CONSTANT:
		if (dw_lookup(r, dw_part(tree, part)->scope, text, len,
		              dw_part(tree, part)->start, &v) != DW_BOUND_NOT)
			return v;
		return dw_value_name(r, dw_keep(r, text, len) ?: "");
	case DW_K_SCOPE_RESOLUTION:
		left = dw_child_in(tree, part, DW_F_SCOPE);
		right = dw_child_in(tree, part, DW_F_NAME);
		if (!right)
			return dw_unknown;
		text = dw_text(tree, right, &len);
		if (!left || dw_text_is(tree, left, "Object"))
			return dw_value_name(r, dw_keep(r, text, len) ?: "");
		return dw_value_member(r, dw_eval(r, left), text, len);
	case DW_K_SELF:
		return dw_value_name(r, "self");
	case DW_K_CALL:
		return call_value(r, part);
	case DW_K_STRING:
	case DW_K_BARE_STRING:
	case DW_K_DELIMITED_SYMBOL:
		return string_value(r, part);
	case DW_K_CHAINED_STRING:
		return dw_fold_list(r, part, dw_value_text(r, "", 0));
	case DW_K_SIMPLE_SYMBOL:
		return len > 1 ? dw_value_text(r, text + 1, len - 1) : dw_unknown;
	case DW_K_BINARY:
		left = dw_child_in(tree, part, DW_F_LEFT);
		right = dw_child_in(tree, part, DW_F_RIGHT);
		v = dw_eval(r, left);
		if (dw_child_of(tree, part, DW_K_T_PLUS) ||
		    dw_child_of(tree, part, DW_K_T_HEREDOC))
			return dw_fold_plus(r, v, dw_eval(r, right));
		if (dw_child_of(tree, part, DW_K_T_STAR) && right)
			return dw_fold_times(r, v, dw_eval(r, right).number);
		return dw_child_of(tree, part, DW_K_T_OR_OR) ||
		                       dw_child_of(tree, part, DW_K_T_AND_AND)
		               ? dw_either(r, right, left)
		               : dw_unknown;
	case DW_K_INTEGER:
		return dw_literal_number(tree, part);
	case DW_K_PARENTHESIZED_STATEMENTS:
		return dw_eval(r, dw_child_named(tree, part));
	case DW_K_ASSIGNMENT:
		return dw_eval(r, dw_child_in(tree, part, DW_F_RIGHT));
	case DW_K_ELEMENT_REFERENCE:
		/* method(:x)["y"] is a call, too. */
		v = dw_eval(r, dw_child_in(tree, part, DW_F_OBJECT));
		return v.type == DW_V_NAME ? dw_value_called(r, v) : dw_unknown;
	case DW_K_ARRAY:
	case DW_K_STRING_ARRAY:
	case DW_K_SYMBOL_ARRAY:
		return dw_value_part(part);
	default:
		return dw_unknown;
	}
}

/* Findings. */

static void check_require(struct dw_reading *r, uint32_t part, bool relative)
{
	uint32_t name = argument(&r->tree, part, 0);
	struct dw_value v = dw_eval(r, name);

	if (v.type != DW_V_TEXT)
		dw_found(r, part, DW_SEVERITY_ERROR, "dynamic:import",
		         "which file is loaded is known at run time only");
	else if (dw_kind(&r->tree, name) != DW_K_STRING)
		dw_found(r, part, DW_SEVERITY_WARNING, "dynamic:import",
		         "%.100s is put together from pieces", v.text);
	if (v.type == DW_V_TEXT && !relative && v.len > 0 && v.text[0] != '.')
		dw_check_module(r, part, v.text, v.len);
}

static void check_send(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t method = dw_child_in(tree, part, DW_F_METHOD);
	uint32_t receiver = dw_child_in(tree, part, DW_F_RECEIVER);
	struct dw_value name, f, base;
	const char *how;
	size_t len;
	char rule[DW_RULE_MAX];

	if (!method || !argument(tree, part, 0))
		return;
	how = dw_text(tree, method, &len);
	(void)snprintf(rule, sizeof(rule), "reflection:%.*s", (int)len, how);
	name = dw_eval(r, argument(tree, part, 0));
	if (dw_text_is(tree, method, "const_get")) {
		if (name.type == DW_V_TEXT &&
		    !strstr(" Kernel Object Process IO File Dir "
		            "FileUtils Open3 Socket TCPSocket ",
		            name.text))
			return;
		dw_found(r, part, DW_SEVERITY_ERROR, rule,
		         "a class is taken by its name");
		return;
	}
	if (!is_send(tree, method))
		return;
	if (name.type == DW_V_TEXT) {
		f = callee(r, part);
		if (f.type == DW_V_NAME && dw_danger_find(r->reader, f.text))
			dw_found(r, part, DW_SEVERITY_ERROR, rule,
			         "%.*s reaches for %.100s by its name", (int)len, how,
			         name.text);
		return;
	}
	/* An object of the program's own may well be sent what a variable says. */
	base = receiver ? dw_eval(r, receiver) : dw_value_name(r, "self");
	if (base.type == DW_V_NAME && strcmp(base.text, "self") != 0)
		dw_found(r, part, DW_SEVERITY_ERROR, rule,
		         "what %.*s reaches for is known at run time only", (int)len,
		         how);
}

/* A program and its arguments, as one line. */
static struct dw_value as_command(struct dw_reading *r, uint32_t call, unsigned from)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value all = dw_eval(r, argument(tree, call, from));

	if (all.type != DW_V_TEXT)
		return dw_unknown;
	return dw_fold_command(r, all, argument(tree, call, from + 1));
}

static bool ends_loop(const char *path)
{
	return strcmp(path, "Kernel.raise") == 0 || strcmp(path, "Kernel.exit") == 0 ||
	       strcmp(path, "Kernel.exit!") == 0 || strcmp(path, "Kernel.abort") == 0 ||
	       strcmp(path, "Kernel.throw") == 0 || strcmp(path, "Kernel.fail") == 0;
}

static int leaves(struct dw_reading *r, uint32_t part)
{
	struct dw_value f;

	if (!(dw_part(&r->tree, part)->flags & DW_PART_NAMED))
		return 0;
	switch (dw_kind(&r->tree, part)) {
	case DW_K_BREAK:
		return 1;
	case DW_K_RETURN:
		return 2;
	case DW_K_IDENTIFIER:
		return dw_text_is(&r->tree, part, "raise") ||
		                       dw_text_is(&r->tree, part, "exit") ||
		                       dw_text_is(&r->tree, part, "abort")
		               ? 2
		               : 0;
	case DW_K_CALL:
		f = callee(r, part);
		return f.type == DW_V_NAME && ends_loop(f.text) ? 2 : 0;
	case DW_K_WHILE:
	case DW_K_UNTIL:
	case DW_K_BLOCK:
	case DW_K_DO_BLOCK:
	case DW_K_WHILE_MODIFIER:
	case DW_K_UNTIL_MODIFIER:
		return -1;
	case DW_K_METHOD:
	case DW_K_CLASS:
	case DW_K_LAMBDA:
		return -2;
	default:
		return 0;
	}
}

static void check_loop(struct dw_reading *r, uint32_t part, uint32_t body)
{
	if (!dw_loop_ends(r, body, leaves))
		dw_found(r, part, DW_SEVERITY_WARNING, "loop:unbounded",
		         "this loop has no break, return, raise, throw or exit");
}

static bool is_constant(struct dw_reading *r, uint32_t part, bool yes)
{
	enum dw_kind kind = part ? dw_kind(&r->tree, part) : DW_K_OTHER;

	if (kind == DW_K_PARENTHESIZED_STATEMENTS)
		return is_constant(r, dw_child_named(&r->tree, part), yes);
	/* 0 is true here, and only false and nil are not. */
	return yes ? kind == DW_K_TRUE || kind == DW_K_INTEGER || kind == DW_K_STRING
	           : kind == DW_K_FALSE || kind == DW_K_NIL;
}

static void check_call(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t method = dw_child_in(tree, part, DW_F_METHOD);
	uint32_t block = dw_child_in(tree, part, DW_F_BLOCK);
	const struct dw_danger *d;
	struct dw_value f = callee(r, part), a;
	bool sent = method && is_send(tree, method);
	const char *name;

	check_send(r, part);
	/* An object's own eval methods are Kernel's: they have no other. */
	if (f.type != DW_V_NAME || !strchr(f.text, '.')) {
		size_t len;
		const char *text = method ? dw_text(tree, method, &len) : NULL;

		if (!text || !dw_word_in(needs_text, text, len))
			return;
		f = kernel_method(r, text, len);
	}
	if (f.type == DW_V_NAME && (name = strrchr(f.text, '.')) &&
	    dw_word_in(needs_text, name + 1, strlen(name + 1))) {
		f = kernel_method(r, name + 1, strlen(name + 1));
		if (!argument(tree, part, sent ? 1 : 0) || block)
			return;
	}
	if (f.type != DW_V_NAME)
		return;
	if (strcmp(f.text, "Kernel.require") == 0 || strcmp(f.text, "Kernel.load") == 0)
		check_require(r, part, false);
	else if (strcmp(f.text, "Kernel.require_relative") == 0)
		check_require(r, part, true);
	else if (strcmp(f.text, "Kernel.loop") == 0 && block)
		check_loop(r, part, block);
	/* open("| command"), which IO.read() takes, too. */
	a = dw_eval(r, argument(tree, part, sent ? 1 : 0));
	if (a.type == DW_V_TEXT && a.text[0] == '|' &&
	    (strcmp(f.text, "Kernel.open") == 0 || strncmp(f.text, "IO.", 3) == 0)) {
		dw_found(r, part, DW_SEVERITY_ERROR, "shell:open",
		         "open runs another program");
		dw_check_inner(r, part, DW_CODE_SHELL,
		               dw_value_text(r, a.text + 1, a.len - 1));
	}
	if (strcmp(f.text, "Kernel.gets") == 0 && !sent)
		return;
	d = dw_check_danger(r, part, f);
	if (d && d->code == DW_CODE_SHELL)
		dw_check_inner(r, part, d->code, as_command(r, part, sent ? 1 : 0));
	else if (d && d->code != DW_CODE_NONE)
		dw_check_inner(r, part, d->code, a);
}

static void check(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	enum dw_kind kind = dw_kind(tree, part);
	uint32_t body, c;

	if (!(dw_part(tree, part)->flags & DW_PART_NAMED))
		return;
	switch (kind) {
	case DW_K_CALL:
		check_call(r, part);
		break;
	case DW_K_ELEMENT_REFERENCE:
		(void)dw_check_danger(r, part,
		                      dw_eval(r, dw_child_in(tree, part, DW_F_OBJECT)));
		break;
	case DW_K_BLOCK_ARGUMENT:
		/* each(&method(:system)) */
		c = dw_child_named(tree, part);
		if (c && dw_kind(tree, c) != DW_K_CALL)
			(void)dw_check_danger(r, part, dw_eval(r, c));
		break;
	case DW_K_SUBSHELL:
		dw_found(r, part, DW_SEVERITY_ERROR, "shell:backtick",
		         "backticks run another program");
		dw_check_inner(r, part, DW_CODE_SHELL, string_value(r, part));
		break;
	case DW_K_ALIAS:
		c = dw_child_in(tree, part, DW_F_ALIAS);
		if (c) {
			size_t len;
			const char *text = dw_text(tree, c, &len);

			(void)dw_check_danger(r, part, kernel_method(r, text, len));
		}
		break;
	case DW_K_WHILE:
	case DW_K_WHILE_MODIFIER:
	case DW_K_UNTIL:
	case DW_K_UNTIL_MODIFIER:
		body = dw_child_in(tree, part, DW_F_BODY);
		if (body &&
		    is_constant(r, dw_child_in(tree, part, DW_F_CONDITION),
		                kind == DW_K_WHILE || kind == DW_K_WHILE_MODIFIER))
			check_loop(r, part, part);
		break;
	default:
		break;
	}
}

const struct dw_reader dw_reader_ruby = {
	.name = "ruby",
	.aliases = {"rb"},
	.grammar = "ruby",
	.modules = modules,
	.dangers = dangers,
	.is_scope = is_scope,
	.bind = bind,
	.eval = eval,
	.member = member,
	.check = check,
};
