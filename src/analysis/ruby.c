/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to find in Ruby. */
#include "analysis/ruby.h"

#include <stdio.h>
#include <string.h>

#include "analysis/fold.h"

static void check_require(struct dw_reading *r, uint32_t part, bool relative)
{
	uint32_t name = dw_ruby_argument(&r->tree, part, 0);
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

	if (!method || !dw_ruby_argument(tree, part, 0))
		return;
	how = dw_text(tree, method, &len);
	(void)snprintf(rule, sizeof(rule), "reflection:%.*s", (int)len, how);
	name = dw_eval(r, dw_ruby_argument(tree, part, 0));
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
	if (!dw_ruby_is_send(tree, method))
		return;
	if (name.type == DW_V_TEXT) {
		f = dw_ruby_callee(r, part);
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
	struct dw_value all = dw_eval(r, dw_ruby_argument(tree, call, from));

	if (all.type != DW_V_TEXT)
		return dw_unknown;
	return dw_fold_command(r, all, dw_ruby_argument(tree, call, from + 1));
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
		f = dw_ruby_callee(r, part);
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
	struct dw_value f = dw_ruby_callee(r, part), a;
	bool sent = method && dw_ruby_is_send(tree, method);
	const char *name;

	check_send(r, part);
	/* An object's own eval methods are Kernel's: they have no other. */
	if (f.type != DW_V_NAME || !strchr(f.text, '.')) {
		size_t len;
		const char *text = method ? dw_text(tree, method, &len) : NULL;

		if (!text || !dw_word_in(dw_ruby_needs_text, text, len))
			return;
		f = dw_ruby_kernel_method(r, text, len);
	}
	if (f.type == DW_V_NAME && (name = strrchr(f.text, '.')) &&
	    dw_word_in(dw_ruby_needs_text, name + 1, strlen(name + 1))) {
		f = dw_ruby_kernel_method(r, name + 1, strlen(name + 1));
		if (!dw_ruby_argument(tree, part, sent ? 1 : 0) || block)
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
	a = dw_eval(r, dw_ruby_argument(tree, part, sent ? 1 : 0));
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
		dw_check_inner(r, part, DW_CODE_SHELL, dw_ruby_string_value(r, part));
		break;
	case DW_K_ALIAS:
		c = dw_child_in(tree, part, DW_F_ALIAS);
		if (c) {
			size_t len;
			const char *text = dw_text(tree, c, &len);

			(void)dw_check_danger(r, part,
			                      dw_ruby_kernel_method(r, text, len));
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
	.modules = dw_ruby_modules,
	.dangers = dw_ruby_dangers,
	.is_scope = dw_ruby_is_scope,
	.bind = dw_ruby_bind,
	.eval = dw_ruby_eval,
	.member = dw_ruby_member,
	.check = check,
};
