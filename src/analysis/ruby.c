/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ruby: its names, the roles of its parts, and where it differs. Nearly everything is a
 * method. Those of Kernel may be called from anywhere without naming it, and through
 * send() on any object. Variables are bound as they are, methods with a dot in front.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/reader.h"

#define NAME_LEN_MAX 200

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

/* Methods of every object that matter here. */
static const char kernel[] =
	" eval instance_eval class_eval module_eval open gets system exec spawn fork syscall "
	"` binding require load require_relative autoload method send __send__ public_send "
	"const_get instance_variable_get loop raise exit exit! abort throw fail ";

/* Without a block they run a text. */
static const char needs_text[] = " instance_eval class_eval module_eval ";

static const struct dw_node nodes[DW_K_COUNT] = {
	[DW_K_ALIAS] = {.hook = true},
	[DW_K_ARRAY] = {.eval = DW_EVAL_PART, .sequence = true},
	[DW_K_ASSIGNMENT] = {.eval = DW_EVAL_VALUE,
                             .bind = DW_BINDS_ASSIGN,
                             .a = DW_F_LEFT,
                             .b = DW_F_RIGHT},
	[DW_K_BARE_STRING] = {.eval = DW_EVAL_STRING},
	[DW_K_BINARY] = {.eval = DW_EVAL_BINARY, .bind = DW_BINDS_HOOK},
	[DW_K_BLOCK] = {.flow = DW_FLOW_LOOP, .scope = true},
	[DW_K_BLOCK_ARGUMENT] = {.hook = true},
	[DW_K_BLOCK_PARAMETERS] = {.bind = DW_BINDS_PARAMETERS},
	[DW_K_BREAK] = {.flow = DW_FLOW_BREAK},
	[DW_K_CALL] = {.eval = DW_EVAL_CALL,
                       .flow = DW_FLOW_CALL,
                       .a = DW_F_RECEIVER,
                       .b = DW_F_METHOD,
                       .hook = true},
	[DW_K_CHAINED_STRING] = {.eval = DW_EVAL_JOINED},
	[DW_K_CLASS] = {.flow = DW_FLOW_FUNCTION, .scope = true},
	[DW_K_CONSTANT] = {.eval = DW_EVAL_HOOK, .pattern = DW_PATTERN_NAME},
	[DW_K_DELIMITED_SYMBOL] = {.eval = DW_EVAL_STRING},
	[DW_K_DO_BLOCK] = {.flow = DW_FLOW_LOOP, .scope = true},
	[DW_K_ELEMENT_REFERENCE] = {.eval = DW_EVAL_NEW, .a = DW_F_OBJECT, .hook = true},
	[DW_K_FALSE] = {.truth = DW_TRUTH_NO},
	[DW_K_GLOBAL_VARIABLE] = {.eval = DW_EVAL_NAME, .pattern = DW_PATTERN_NAME},
	[DW_K_IDENTIFIER] = {.eval = DW_EVAL_NAME,
                             .pattern = DW_PATTERN_NAME,
                             .flow = DW_FLOW_WORD},
	[DW_K_INTEGER] = {.eval = DW_EVAL_NUMBER, .truth = DW_TRUTH_YES}, /* 0 too */
	[DW_K_INTERPOLATION] = {.eval = DW_EVAL_FIRST},
	[DW_K_LAMBDA] = {.flow = DW_FLOW_FUNCTION, .scope = true},
	[DW_K_LAMBDA_PARAMETERS] = {.bind = DW_BINDS_PARAMETERS},
	[DW_K_LEFT_ASSIGNMENT_LIST] = {.pattern = DW_PATTERN_LIST},
	[DW_K_METHOD] = {.bind = DW_BINDS_HOOK, .flow = DW_FLOW_FUNCTION, .scope = true},
	[DW_K_METHOD_PARAMETERS] = {.bind = DW_BINDS_PARAMETERS},
	[DW_K_MODULE] = {.scope = true},
	[DW_K_NIL] = {.truth = DW_TRUTH_NO},
	[DW_K_OPERATOR_ASSIGNMENT] = {.bind = DW_BINDS_AUGMENT,
                                      .a = DW_F_LEFT,
                                      .b = DW_F_RIGHT},
	[DW_K_PARENTHESIZED_STATEMENTS] = {.eval = DW_EVAL_FIRST,
                                           .truth = DW_TRUTH_INSIDE},
	[DW_K_RETURN] = {.flow = DW_FLOW_EXIT},
	[DW_K_RIGHT_ASSIGNMENT_LIST] = {.sequence = true},
	[DW_K_SCOPE_RESOLUTION] = {.eval = DW_EVAL_HOOK},
	[DW_K_SELF] = {.eval = DW_EVAL_HOOK},
	[DW_K_SIMPLE_SYMBOL] = {.eval = DW_EVAL_HOOK},
	[DW_K_SINGLETON_METHOD] = {.scope = true},
	[DW_K_STRING] = {.eval = DW_EVAL_STRING, .truth = DW_TRUTH_YES},
	[DW_K_STRING_ARRAY] = {.eval = DW_EVAL_PART},
	[DW_K_SUBSHELL] = {.hook = true},
	[DW_K_SYMBOL_ARRAY] = {.eval = DW_EVAL_PART},
	[DW_K_TRUE] = {.truth = DW_TRUTH_YES},
	[DW_K_UNTIL] = {.check = DW_CHECK_UNTIL,
                        .flow = DW_FLOW_LOOP,
                        .a = DW_F_CONDITION},
	[DW_K_UNTIL_MODIFIER] = {.check = DW_CHECK_UNTIL,
                                 .flow = DW_FLOW_LOOP,
                                 .a = DW_F_CONDITION},
	[DW_K_WHILE] = {.check = DW_CHECK_WHILE,
                        .flow = DW_FLOW_LOOP,
                        .a = DW_F_CONDITION},
	[DW_K_WHILE_MODIFIER] = {.check = DW_CHECK_WHILE,
                                 .flow = DW_FLOW_LOOP,
                                 .a = DW_F_CONDITION},
};

static const struct dw_operator operators[] = {
	{DW_K_T_PLUS, DW_OP_PLUS},      {DW_K_T_HEREDOC, DW_OP_PLUS}, /* << */
	{DW_K_T_STAR, DW_OP_TIMES},     {DW_K_T_OR_OR, DW_OP_EITHER},
	{DW_K_T_AND_AND, DW_OP_EITHER}, {0},
};

static const struct dw_folder methods[] = {
	{"chr", DW_FOLD_CHAR, DW_V_NUMBER},
	{"join", DW_FOLD_JOIN_BARE, DW_V_PART},
	{"pack", DW_FOLD_PACK, DW_V_PART},
	{"+", DW_FOLD_APPEND, DW_V_TEXT},
	{"concat", DW_FOLD_APPEND, DW_V_TEXT},
	{"<<", DW_FOLD_APPEND, DW_V_TEXT},
	{"reverse", DW_FOLD_REVERSE, DW_V_TEXT},
	{"downcase", DW_FOLD_LOWER, DW_V_TEXT},
	{"upcase", DW_FOLD_UPPER, DW_V_TEXT},
	{"sub", DW_FOLD_REPLACE, DW_V_TEXT},
	{"gsub", DW_FOLD_REPLACE, DW_V_TEXT},
	{"tr", DW_FOLD_REPLACE, DW_V_TEXT},
	{"unpack1", DW_FOLD_UNPACK, DW_V_TEXT},
	{"to_sym", DW_FOLD_SAME, DW_V_TEXT},
	{"to_s", DW_FOLD_SAME, DW_V_TEXT},
	{"intern", DW_FOLD_SAME, DW_V_TEXT},
	{"freeze", DW_FOLD_SAME, DW_V_TEXT},
	{"dup", DW_FOLD_SAME, DW_V_TEXT},
	{"strip", DW_FOLD_SAME, DW_V_TEXT},
	{"to_str", DW_FOLD_SAME, DW_V_TEXT},
	{0},
};

static const struct dw_folder functions[] = {
	{.name = "Base64.decode64", .fold = DW_FOLD_BASE64},
	{.name = "Base64.strict_decode64", .fold = DW_FOLD_BASE64},
	{.name = NULL},
};

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

static void bind(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t left, right;

	if (dw_kind(tree, part) == DW_K_METHOD) {
		bind_method(r, part);
		return;
	}
	/* x << "text" */
	left = dw_child_in(tree, part, DW_F_LEFT);
	right = dw_child_in(tree, part, DW_F_RIGHT);
	if (left && right && dw_kind(tree, left) == DW_K_IDENTIFIER &&
	    dw_child_of(tree, part, DW_K_T_HEREDOC))
		dw_bind_name(r, left, dw_part(tree, part)->end, DW_BIND_APPEND, right,
		             NULL);
}

/* Kernel's method of that name; unknown if it does not matter here. */
static struct dw_value kernel_method(struct dw_reading *r, const char *name, size_t len)
{
	return dw_word_in(kernel, name, len) ? dw_value_path(r, "Kernel", name, len)
	                                     : dw_unknown;
}

/* Does the program define a method of that name, seen from here? */
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
	if (dw_value_in(base, " self Object Kernel BasicObject ")) {
		struct dw_value v = kernel_method(r, name, len);

		if (v.type == DW_V_NAME)
			return v;
	}
	return dw_value_member(r, base, name, len);
}

/* Does it call, or get, the method that its argument names? */
static bool is_send(const struct dw_tree *tree, uint32_t method)
{
	size_t len;
	const char *text = dw_text(tree, method, &len);

	return dw_word_in(" send __send__ public_send method instance_method ", text,
	                  len);
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
	base = receiver ? dw_eval(r, receiver) : dw_value_name("self");
	if (is_send(tree, method)) {
		name = dw_eval_argument(r, call, 0);
		if (name.type != DW_V_TEXT)
			return dw_unknown;
		/* Every object has Kernel's methods. */
		if (base.type == DW_V_NAME)
			return member(r, base, name.text, name.len);
		return kernel_method(r, name.text, name.len);
	}
	if (!receiver)
		return is_own(r, call, text, len) ? dw_unknown
		                                  : kernel_method(r, text, len);
	return member(r, base, text, len);
}

static bool call(struct dw_reading *r, uint32_t part, struct dw_value f,
                 struct dw_value *ret)
{
	uint32_t method = dw_child_in(&r->tree, part, DW_F_METHOD);
	struct dw_value a = dw_eval_argument(r, part, 0);

	if (method && dw_text_is(&r->tree, method, "const_get") && a.type == DW_V_TEXT)
		*ret = dw_value_name(a.text);
	else if (dw_value_is(f, DW_V_NAME, "Kernel.binding") ||
	         (method && (dw_text_is(&r->tree, method, "method") ||
	                     dw_text_is(&r->tree, method, "instance_method"))))
		*ret = f;
	else
		return false;
	return true;
}

static struct dw_value global(struct dw_reading *r, const char *name, size_t len,
                              uint32_t at, enum dw_bound bound, struct dw_value v)
{
	(void)r;
	(void)at;
	return bound == DW_BOUND_NOT && len == 7 && memcmp(name, "binding", 7) == 0
	               ? dw_value_name("Kernel.binding")
	               : v;
}

static struct dw_value eval(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t left, right;
	struct dw_value v;
	size_t len;
	const char *text = dw_text(tree, part, &len);

	switch (dw_kind(tree, part)) {
	case DW_K_CONSTANT:
		if (dw_lookup(r, dw_part(tree, part)->scope, text, len,
		              dw_part(tree, part)->start, &v) != DW_BOUND_NOT)
			return v;
		return dw_value_path(r, NULL, text, len);
	case DW_K_SCOPE_RESOLUTION:
		left = dw_child_in(tree, part, DW_F_SCOPE);
		right = dw_child_in(tree, part, DW_F_NAME);
		if (!right)
			return dw_unknown;
		text = dw_text(tree, right, &len);
		if (!left || dw_text_is(tree, left, "Object"))
			return dw_value_path(r, NULL, text, len);
		return dw_value_member(r, dw_eval(r, left), text, len);
	case DW_K_SIMPLE_SYMBOL:
		return len > 1 ? dw_value_text(r, text + 1, len - 1) : dw_unknown;
	default: /* DW_K_SELF */
		return dw_value_name("self");
	}
}

static void check_require(struct dw_reading *r, uint32_t part, bool relative)
{
	uint32_t name = dw_argument(r, part, 0);
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

	if (!method || !dw_argument(r, part, 0))
		return;
	how = dw_text(tree, method, &len);
	(void)snprintf(rule, sizeof(rule), "reflection:%.*s", (int)len, how);
	name = dw_eval_argument(r, part, 0);
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
		if (f.type == DW_V_NAME && dw_danger_find(r->language, f.text))
			dw_found(r, part, DW_SEVERITY_ERROR, rule,
			         "%.*s reaches for %.100s by its name", (int)len, how,
			         name.text);
		return;
	}
	/* An object of the program's own may well be sent what a variable says. */
	base = receiver ? dw_eval(r, receiver) : dw_value_name("self");
	if (base.type == DW_V_NAME && strcmp(base.text, "self") != 0)
		dw_found(r, part, DW_SEVERITY_ERROR, rule,
		         "what %.*s reaches for is known at run time only", (int)len,
		         how);
}

static void check_call(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t method = dw_child_in(tree, part, DW_F_METHOD);
	uint32_t block = dw_child_in(tree, part, DW_F_BLOCK);
	struct dw_value f = callee(r, part), a;
	bool sent = method && is_send(tree, method);
	const char *name;

	check_send(r, part);
	/* Objects have no eval methods but Kernel's. */
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
		if (!dw_argument(r, part, sent ? 1 : 0) || block)
			return;
	}
	if (f.type != DW_V_NAME)
		return;
	if (strcmp(f.text, "Kernel.require") == 0 || strcmp(f.text, "Kernel.load") == 0)
		check_require(r, part, false);
	else if (strcmp(f.text, "Kernel.require_relative") == 0)
		check_require(r, part, true);
	else if (strcmp(f.text, "Kernel.loop") == 0 && block)
		dw_check_endless(r, part, block);
	/* open("| command"), which IO.read() takes, too. */
	a = dw_eval_argument(r, part, sent ? 1 : 0);
	if (a.type == DW_V_TEXT && a.text[0] == '|' &&
	    (strcmp(f.text, "Kernel.open") == 0 || strncmp(f.text, "IO.", 3) == 0)) {
		dw_found(r, part, DW_SEVERITY_ERROR, "shell:open",
		         "open runs another program");
		dw_check_inner(r, part, DW_CODE_SHELL,
		               dw_value_text(r, a.text + 1, a.len - 1));
	}
	if (strcmp(f.text, "Kernel.gets") == 0 && !sent)
		return;
	dw_check_run(r, part, dw_check_danger(r, part, f), sent ? 1 : 0);
}

static void check(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	size_t len;
	const char *text;
	uint32_t c;

	switch (dw_kind(tree, part)) {
	case DW_K_CALL:
		check_call(r, part);
		break;
	case DW_K_ELEMENT_REFERENCE: /* method(:x)["y"] is a call, too */
		c = dw_child_in(tree, part, DW_F_OBJECT);
		(void)dw_check_danger(r, part, dw_eval(r, c));
		break;
	case DW_K_BLOCK_ARGUMENT: /* each(&method(:system)) */
		c = dw_child_named(tree, part);
		if (c && dw_kind(tree, c) != DW_K_CALL)
			(void)dw_check_danger(r, part, dw_eval(r, c));
		break;
	case DW_K_SUBSHELL:
		dw_found(r, part, DW_SEVERITY_ERROR, "shell:backtick",
		         "backticks run another program");
		dw_check_inner(r, part, DW_CODE_SHELL, dw_eval_string(r, part));
		break;
	default: /* DW_K_ALIAS */
		c = dw_child_in(tree, part, DW_F_ALIAS);
		if (!c)
			break;
		text = dw_text(tree, c, &len);
		(void)dw_check_danger(r, part, kernel_method(r, text, len));
		break;
	}
}

const struct dw_language dw_language_ruby = {
	.name = "ruby",
	.aliases = {"rb"},
	.grammar = "ruby",
	.modules = modules,
	.dangers = dangers,
	.nodes = nodes,
	.operators = operators,
	.methods = methods,
	.functions = functions,
	.append = DW_K_T_PLUS_EQUAL,
	.literals_closed = true,
	.command = DW_COMMAND_WORDS,
	.exits = " Kernel.raise Kernel.exit Kernel.exit! Kernel.abort Kernel.throw "
		 "Kernel.fail ",
	.bare_exits = " raise exit abort ",
	.loop_message = "this loop has no break, return, raise, throw or exit",
	.bind = bind,
	.global = global,
	.eval = eval,
	.member = member,
	.callee = callee,
	.call = call,
	.check = check,
};
