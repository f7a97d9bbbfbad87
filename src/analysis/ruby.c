/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ruby: its risky names, the roles of its parts, and its hooks. Nearly everything is a
 * method. Kernel's methods can be called anywhere without a receiver, and on any object
 * with send(). Variables are bound by their names, methods with a dot in front.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/reader.h"

#define NAME_LEN_MAX 200

static const char modules[] =
	" socket net open-uri open3 fileutils pty fiddle ffi drb webrick openssl "
	"tempfile etc syslog objspace ripper faraday httparty rest-client excon "
	"typhoeus shell dl win32ole ";

static const struct dw_danger dangers[] = {
	RUNS("builtin:eval", E, SELF,
             " Kernel.eval Kernel.binding.eval TOPLEVEL_BINDING.eval "),
	RUNS("builtin:instance_eval", E, SELF, " Kernel.instance_eval "),
	RUNS("builtin:class_eval", E, SELF, " Kernel.class_eval "),
	RUNS("builtin:module_eval", E, SELF, " Kernel.module_eval "),
	NAMES("builtin:open", W,
              " Kernel.open File.open File.new File.write File.read IO.read IO.write "),
	NAMES("builtin:gets", W, " Kernel.gets "),
	RUNS("shell:system", E, SHELL, " Kernel.system "),
	RUNS("shell:exec", E, SHELL, " Kernel.exec "),
	RUNS("shell:spawn", E, SHELL, " Kernel.spawn "),
	NAMES("shell:fork", W, " Kernel.fork "),
	RUNS("shell:backtick", E, SHELL, " Kernel.` "),
	NAMES("native:syscall", E, " Kernel.syscall "),
	RUNS("shell:", E, SHELL,
             " Process.spawn Process.exec IO.popen Open3.* PTY.spawn PTY.getpty "),
	NAMES("shell:", W, " Process.fork Process.kill "),
	NAMES("delete:", E,
              " File.delete File.unlink File.truncate Dir.rmdir Dir.unlink Dir.delete "
              "FileUtils.rm** FileUtils.remove** FileUtils.safe_unlink "),
	NAMES("delete:Pathname.delete", E, " Pathname.new().delete "),
	NAMES("delete:Pathname.unlink", E, " Pathname.new().unlink "),
	NAMES("delete:Pathname.rmtree", E, " Pathname.new().rmtree "),
	NAMES("network:Net::HTTP", W, " Net.HTTP.* "),
	NAMES("network:Net::FTP", W, " Net.FTP.* "),
	NAMES("network:Net::SMTP", W, " Net.SMTP.* "),
	NAMES("network:Net::SSH", W, " Net.SSH.* "),
	NAMES("network:", W, " URI.open "),
	NAMES("network:*", W,
              " TCPSocket.* TCPServer.* UDPSocket.* UNIXSocket.* Socket.* OpenURI.* Faraday.* "
              "HTTParty.* RestClient.* "),
	NAMES("native:*", E, " Fiddle.* Fiddle.Function.new "),
	NAMES("dynamic:", E, " Marshal.load YAML.unsafe_load "),
	NAMES("dynamic:", W, " YAML.load "),
	NAMES("dynamic:*", E, " RubyVM.InstructionSequence.* "),
	NAMES("reflection:", W, " ObjectSpace.each_object "),
	{0},
};

/* The risky methods that every object has. */
static const char kernel[] =
	" eval instance_eval class_eval module_eval open gets system exec spawn fork syscall "
	"` binding require load require_relative autoload method send __send__ public_send "
	"const_get instance_variable_get loop raise exit exit! abort throw fail ";

/* Called without a block, these methods evaluate a string as code. */
static const char needs_text[] = " instance_eval class_eval module_eval ";

static const struct dw_folder methods[] = {
	{DW_FOLD_CHAR, DW_V_NUMBER, " chr "},
	{DW_FOLD_JOIN_BARE, DW_V_PART, " join "},
	{DW_FOLD_PACK, DW_V_PART, " pack "},
	{DW_FOLD_APPEND, DW_V_TEXT, " + concat << "},
	{DW_FOLD_REVERSE, DW_V_TEXT, " reverse "},
	{DW_FOLD_LOWER, DW_V_TEXT, " downcase "},
	{DW_FOLD_UPPER, DW_V_TEXT, " upcase "},
	{DW_FOLD_REPLACE, DW_V_TEXT, " sub gsub tr "},
	{DW_FOLD_UNPACK, DW_V_TEXT, " unpack1 "},
	{DW_FOLD_SAME, DW_V_TEXT, " to_sym to_s intern freeze dup strip to_str "},
	{0},
};

static const struct dw_folder functions[] = {
	{DW_FOLD_BASE64, DW_V_UNKNOWN, " Base64.decode64 Base64.strict_decode64 "},
	{0},
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
	/* A definition inside a branch may never happen, and then hides no method. */
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

/* x << "text" */
static void bind_append(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t left = dw_child_in(tree, part, DW_F_LEFT);
	uint32_t right = dw_child_in(tree, part, DW_F_RIGHT);

	if (left && right && dw_kind(tree, left) == DW_K_IDENTIFIER &&
	    dw_child_of(tree, part, DW_K_T_HEREDOC))
		dw_bind_name(r, left, dw_part(tree, part)->end, DW_BIND_APPEND, right,
		             NULL);
}

/* Kernel's method of that name; unknown unless it is in the list above. */
static struct dw_value kernel_method(struct dw_reading *r, const char *name, size_t len)
{
	return dw_word_in(kernel, name, len) ? dw_value_path(r, "Kernel", name, len)
	                                     : dw_unknown;
}

/* Returns true if the program defines a method of that name, as seen from part. */
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

/* Returns true if the method calls or returns the method that its argument names. */
static bool is_send(const struct dw_tree *tree, uint32_t method)
{
	return dw_text_in(tree, method,
	                  " send __send__ public_send method instance_method ");
}

/* The method that is called, also through send() or method(). */
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
		/* An unknown object has at least Kernel's methods. */
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
                 struct dw_value a, struct dw_value b, struct dw_value *ret)
{
	uint32_t method = dw_child_in(&r->tree, part, DW_F_METHOD);

	(void)b;
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

static struct dw_value constant(struct dw_reading *r, uint32_t part)
{
	const struct dw_part *p = dw_part(&r->tree, part);
	struct dw_value v;
	size_t len;
	const char *text = dw_text(&r->tree, part, &len);

	return dw_lookup(r, p->scope, text, len, p->start, &v) != DW_BOUND_NOT
	               ? v
	               : dw_value_path(r, NULL, text, len);
}

/* Net::HTTP */
static struct dw_value scope(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t left = dw_child_in(tree, part, DW_F_SCOPE);
	uint32_t right = dw_child_in(tree, part, DW_F_NAME);
	size_t len;
	const char *text = right ? dw_text(tree, right, &len) : NULL;

	if (!text)
		return dw_unknown;
	if (!left || dw_text_is(tree, left, "Object"))
		return dw_value_path(r, NULL, text, len);
	return dw_value_member(r, dw_eval(r, left), text, len);
}

static struct dw_value symbol(struct dw_reading *r, uint32_t part)
{
	size_t len;
	const char *text = dw_text(&r->tree, part, &len);

	return len > 1 ? dw_value_text(r, text + 1, len - 1) : dw_unknown;
}

static struct dw_value self(struct dw_reading *r, uint32_t part)
{
	(void)r;
	(void)part;
	return dw_value_name("self");
}

static void check_require(struct dw_reading *r, uint32_t part, bool relative)
{
	uint32_t name = dw_argument(r, part, 0);
	struct dw_value v = dw_eval(r, name);

	if (v.type != DW_V_TEXT)
		dw_found(r, part, E, "dynamic:import",
		         "the loaded file is chosen at run time");
	else if (dw_kind(&r->tree, name) != DW_K_STRING)
		dw_found(r, part, W, "dynamic:import",
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
	const char *how, *rule;
	size_t len;

	if (!method || !dw_argument(r, part, 0))
		return;
	how = dw_text(tree, method, &len);
	rule = DW_RULE("reflection:%.*s", (int)len, how);
	name = dw_eval_argument(r, part, 0);
	if (dw_text_is(tree, method, "const_get")) {
		if (name.type == DW_V_TEXT &&
		    !strstr(" Kernel Object Process IO File Dir "
		            "FileUtils Open3 Socket TCPSocket ",
		            name.text))
			return;
		dw_found(r, part, E, rule, "a class is looked up by name");
		return;
	}
	if (!is_send(tree, method))
		return;
	if (name.type == DW_V_TEXT) {
		f = callee(r, part);
		if (f.type == DW_V_NAME && dw_danger_find(r->language, f.text))
			dw_found(r, part, E, rule, "%.*s accesses %.100s by name",
			         (int)len, how, name.text);
		return;
	}
	/* Computed names are common for objects of the program: do not report these. */
	base = receiver ? dw_eval(r, receiver) : dw_value_name("self");
	if (base.type == DW_V_NAME && strcmp(base.text, "self") != 0)
		dw_found(r, part, E, rule,
		         "the name passed to %.*s is computed at run time", (int)len,
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
	/* On any object, the eval methods are Kernel's. */
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
	/* open("| command") runs a command, and so do IO.read() and the like. */
	a = dw_eval_argument(r, part, sent ? 1 : 0);
	if (a.type == DW_V_TEXT && a.text[0] == '|' &&
	    (strcmp(f.text, "Kernel.open") == 0 || strncmp(f.text, "IO.", 3) == 0)) {
		dw_found(r, part, E, "shell:open", "open runs another program");
		dw_check_inner(r, part, DW_CODE_SHELL,
		               dw_value_text(r, a.text + 1, a.len - 1));
	}
	if (strcmp(f.text, "Kernel.gets") == 0 && !sent)
		return;
	dw_check_run(r, part, dw_check_danger(r, part, f), sent ? 1 : 0);
}

/* method(:x)["y"] is a call. */
static void check_element(struct dw_reading *r, uint32_t part)
{
	(void)dw_check_danger(r, part,
	                      dw_eval(r, dw_child_in(&r->tree, part, DW_F_OBJECT)));
}

/* each(&m), where m holds a method; a call such as &method(:m) is checked as a call. */
static void check_block(struct dw_reading *r, uint32_t part)
{
	uint32_t c = dw_child_named(&r->tree, part);

	if (c && dw_kind(&r->tree, c) != DW_K_CALL)
		(void)dw_check_danger(r, part, dw_eval(r, c));
}

static void check_alias(struct dw_reading *r, uint32_t part)
{
	uint32_t c = dw_child_in(&r->tree, part, DW_F_ALIAS);
	size_t len;
	const char *text = c ? dw_text(&r->tree, c, &len) : NULL;

	if (text)
		(void)dw_check_danger(r, part, kernel_method(r, text, len));
}

static const struct dw_node nodes[DW_K_COUNT] = {
	[DW_K_ALIAS] = {CHECK_BY(check_alias)},
	[DW_K_ARRAY] = {EVAL(PART), SEQUENCE},
	[DW_K_ASSIGNMENT] = {EVAL(VALUE), BINDS(ASSIGN), OF(LEFT, RIGHT)},
	[DW_K_BARE_STRING] = {EVAL(STRING)},
	[DW_K_BINARY] = {EVAL(BINARY), BIND_BY(bind_append)},
	[DW_K_BLOCK] = {FLOW(LOOP), SCOPE},
	[DW_K_BLOCK_ARGUMENT] = {CHECK_BY(check_block)},
	[DW_K_BLOCK_PARAMETERS] = {BINDS(PARAMETERS)},
	[DW_K_BREAK] = {FLOW(BREAK)},
	[DW_K_CALL] = {EVAL(CALL), FLOW(CALL), OF(RECEIVER, METHOD),
                       CHECK_BY(check_call)},
	[DW_K_CHAINED_STRING] = {EVAL(JOINED)},
	[DW_K_CLASS] = {FLOW(FUNCTION), SCOPE},
	[DW_K_CONSTANT] = {EVAL_BY(constant), PATTERN(NAME)},
	[DW_K_DELIMITED_SYMBOL] = {EVAL(STRING)},
	[DW_K_DO_BLOCK] = {FLOW(LOOP), SCOPE},
	[DW_K_ELEMENT_REFERENCE] = {EVAL(NEW), OF(OBJECT, NONE), CHECK_BY(check_element)},
	[DW_K_FALSE] = {TRUTH(NO)},
	[DW_K_GLOBAL_VARIABLE] = {EVAL(NAME), PATTERN(NAME)},
	[DW_K_IDENTIFIER] = {EVAL(NAME), PATTERN(NAME), FLOW(WORD)},
	[DW_K_INTEGER] = {EVAL(NUMBER), TRUTH(YES)}, /* even 0 */
	[DW_K_INTERPOLATION] = {EVAL(FIRST)},
	[DW_K_LAMBDA] = {FLOW(FUNCTION), SCOPE},
	[DW_K_LAMBDA_PARAMETERS] = {BINDS(PARAMETERS)},
	[DW_K_LEFT_ASSIGNMENT_LIST] = {PATTERN(LIST)},
	[DW_K_METHOD] = {BIND_BY(bind_method), FLOW(FUNCTION), SCOPE},
	[DW_K_METHOD_PARAMETERS] = {BINDS(PARAMETERS)},
	[DW_K_MODULE] = {SCOPE},
	[DW_K_NIL] = {TRUTH(NO)},
	[DW_K_OPERATOR_ASSIGNMENT] = {BINDS(AUGMENT), OF(LEFT, RIGHT)},
	[DW_K_PARENTHESIZED_STATEMENTS] = {EVAL(FIRST), TRUTH(INSIDE)},
	[DW_K_RETURN] = {FLOW(EXIT)},
	[DW_K_RIGHT_ASSIGNMENT_LIST] = {SEQUENCE},
	[DW_K_SCOPE_RESOLUTION] = {EVAL_BY(scope)},
	[DW_K_SELF] = {EVAL_BY(self)},
	[DW_K_SIMPLE_SYMBOL] = {EVAL_BY(symbol)},
	[DW_K_SINGLETON_METHOD] = {SCOPE},
	[DW_K_STRING] = {EVAL(STRING), TRUTH(YES)},
	[DW_K_STRING_ARRAY] = {EVAL(PART)},
	[DW_K_SUBSHELL] = {CHECK_BY(dw_check_backticks)},
	[DW_K_SYMBOL_ARRAY] = {EVAL(PART)},
	[DW_K_TRUE] = {TRUTH(YES)},
	[DW_K_UNTIL] = {CHECK(UNTIL), FLOW(LOOP), OF(CONDITION, NONE)},
	[DW_K_UNTIL_MODIFIER] = {CHECK(UNTIL), FLOW(LOOP), OF(CONDITION, NONE)},
	[DW_K_WHILE] = {CHECK(WHILE), FLOW(LOOP), OF(CONDITION, NONE)},
	[DW_K_WHILE_MODIFIER] = {CHECK(WHILE), FLOW(LOOP), OF(CONDITION, NONE)},
};

const struct dw_syntax dw_syntax_ruby = {
	.name = "ruby",
	.aliases = {"rb"},
	.grammar = "ruby",
	.modules = modules,
	.dangers = dangers,
	.nodes = nodes,
	.operators = " + << * || && ",
	.methods = methods,
	.functions = functions,
	.append = DW_K_T_PLUS_EQUAL,
	.literals_closed = true,
	.command = DW_COMMAND_WORDS,
	.exits = " Kernel.raise Kernel.exit Kernel.exit! Kernel.abort Kernel.throw "
		 "Kernel.fail ",
	.bare_exits = " raise exit abort ",
	.loop_message = "this loop has no break, return, raise, throw or exit",
	.global = global,
	.member = member,
	.callee = callee,
	.call = call,
};
