/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to find in Python. */
#include "analysis/python.h"

#include <stdio.h>
#include <string.h>

#include "analysis/fold.h"

static bool is_load(const struct dw_tree *tree, uint32_t part)
{
	uint32_t up = dw_part(tree, part)->parent, at = part;
	enum dw_field field = (enum dw_field)dw_part(tree, part)->field;

	while (dw_python_is_pattern(dw_kind(tree, up)) && up > 0) {
		at = up;
		field = (enum dw_field)dw_part(tree, at)->field;
		up = dw_part(tree, up)->parent;
	}
	switch (dw_kind(tree, up)) {
	case DW_K_ATTRIBUTE:
		return field != DW_F_ATTRIBUTE;
	case DW_K_KEYWORD_ARGUMENT:
	case DW_K_DEFAULT_PARAMETER:
	case DW_K_TYPED_DEFAULT_PARAMETER:
	case DW_K_NAMED_EXPRESSION:
	case DW_K_FUNCTION_DEFINITION:
	case DW_K_CLASS_DEFINITION:
		return field != DW_F_NAME;
	case DW_K_ASSIGNMENT:
	case DW_K_AUGMENTED_ASSIGNMENT:
	case DW_K_FOR_STATEMENT:
	case DW_K_FOR_IN_CLAUSE:
		return field != DW_F_LEFT;
	case DW_K_AS_PATTERN:
		return field != DW_F_ALIAS;
	case DW_K_DOTTED_NAME:
	case DW_K_ALIASED_IMPORT:
	case DW_K_PARAMETERS:
	case DW_K_LAMBDA_PARAMETERS:
	case DW_K_TYPED_PARAMETER:
	case DW_K_LIST_SPLAT_PATTERN:
	case DW_K_DICTIONARY_SPLAT_PATTERN:
	case DW_K_GLOBAL_STATEMENT:
	case DW_K_NONLOCAL_STATEMENT:
		return false;
	default:
		return true;
	}
}

static void check_import(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t module = dw_child_in(tree, part, DW_F_MODULE_NAME);
	size_t len;
	const char *name;

	if (dw_kind(tree, part) == DW_K_IMPORT_FROM_STATEMENT) {
		if (module && dw_kind(tree, module) == DW_K_DOTTED_NAME) {
			name = dw_python_dotted(r, module, &len);
			if (name)
				dw_check_module(r, part, name, len);
		}
		return;
	}
	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c)) {
		uint32_t what = dw_kind(tree, c) == DW_K_ALIASED_IMPORT
		                        ? dw_child_in(tree, c, DW_F_NAME)
		                        : c;

		name = what ? dw_python_dotted(r, what, &len) : NULL;
		if (name)
			dw_check_module(r, c, name, len);
	}
}

/* A program and its arguments as a command line: each in quotes of its own. */
static struct dw_value as_command(struct dw_reading *r, struct dw_value v)
{
	if (v.type != DW_V_PART || !dw_python_is_sequence(dw_kind(&r->tree, v.part)))
		return v;
	return dw_fold_command(r, dw_value_text(r, "", 0),
	                       dw_child_named(&r->tree, v.part));
}

static void check_dynamic_import(struct dw_reading *r, uint32_t part, struct dw_value f)
{
	uint32_t name = dw_python_argument(&r->tree, part, 0);
	struct dw_value v;

	if (strcmp(f.text, "builtins.__import__") != 0 &&
	    strcmp(f.text, "importlib.import_module") != 0 &&
	    strcmp(f.text, "importlib.__import__") != 0 &&
	    strcmp(f.text, "importlib.util.spec_from_file_location") != 0 &&
	    strncmp(f.text, "imp.load", 8) != 0 &&
	    strcmp(f.text, "pkgutil.resolve_name") != 0)
		return;
	v = dw_eval(r, name);
	if (v.type == DW_V_TEXT) {
		dw_found(r, part, DW_SEVERITY_WARNING, "dynamic:import",
		         "module %.100s is imported by a call", v.text);
		dw_check_module(r, part, v.text, v.len);
	} else {
		dw_found(r, part, DW_SEVERITY_ERROR, "dynamic:import",
		         "which module is imported is known at run time only");
	}
}

/* Is it a name space that one reaches into by name: a module, the built-ins? */
static bool is_space(struct dw_value v)
{
	return v.type == DW_V_NAME && !strchr(v.text, '.') &&
	       (dw_word_in(dw_python_carried, v.text, v.len) ||
	        strcmp(v.text, "globals()") == 0);
}

static void check_reflection(struct dw_reading *r, uint32_t part, struct dw_value f)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value object, name;
	char rule[DW_RULE_MAX];
	const char *how = f.text + sizeof("builtins.") - 1;

	if (strcmp(f.text, "builtins.getattr") != 0 &&
	    strcmp(f.text, "builtins.setattr") != 0 &&
	    strcmp(f.text, "builtins.delattr") != 0)
		return;
	object = dw_eval(r, dw_python_argument(tree, part, 0));
	name = dw_eval(r, dw_python_argument(tree, part, 1));
	if (!is_space(object) && !(name.type == DW_V_TEXT &&
	                           dw_word_in(dw_python_dunders, name.text, name.len)))
		return;
	(void)snprintf(rule, sizeof(rule), "reflection:%s", how);
	if (name.type == DW_V_TEXT)
		dw_found(r, part, DW_SEVERITY_ERROR, rule,
		         "%s reaches for %.100s by its name", how, name.text);
	else
		dw_found(r, part, DW_SEVERITY_ERROR, rule,
		         "what %s reaches for is known at run time only", how);
}

/* operator.attrgetter("system")(os) */
static void check_getter(struct dw_reading *r, uint32_t part, struct dw_value f)
{
	static const char suspicious[] =
		" system popen eval exec open remove unlink rmtree ";
	struct dw_value name;

	if (strcmp(f.text, "operator.attrgetter") != 0 &&
	    strcmp(f.text, "operator.methodcaller") != 0)
		return;
	name = dw_eval(r, dw_python_argument(&r->tree, part, 0));
	if (name.type == DW_V_TEXT &&
	    (dw_word_in(suspicious, name.text, name.len) ||
	     dw_word_in(dw_python_dunders, name.text, name.len)))
		dw_found(r, part, DW_SEVERITY_WARNING, "reflection:attrgetter",
		         "something called %.100s is reached for by its name", name.text);
}

/* "{0.__class__.__globals__}".format(x) */
static void check_format(struct dw_reading *r, uint32_t part, uint32_t function)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t name = dw_child_in(tree, function, DW_F_ATTRIBUTE);
	struct dw_value v;

	if (!name ||
	    (!dw_text_is(tree, name, "format") && !dw_text_is(tree, name, "format_map")))
		return;
	v = dw_eval(r, dw_child_in(tree, function, DW_F_OBJECT));
	if (v.type == DW_V_TEXT && (strstr(v.text, ".__") || strstr(v.text, "[__")))
		dw_found(r, part, DW_SEVERITY_ERROR, "reflection:format",
		         "this format reaches for attributes by name");
}

static void check_call(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t function = dw_child_in(tree, part, DW_F_FUNCTION);
	const struct dw_danger *d;
	struct dw_value f, key;

	if (!function)
		return;
	if (dw_kind(tree, function) == DW_K_ATTRIBUTE)
		check_format(r, part, function);
	f = dw_eval(r, function);
	if (f.type != DW_V_NAME)
		return;
	check_dynamic_import(r, part, f);
	check_reflection(r, part, f);
	check_getter(r, part, f);
	if (strcmp(f.text, "sys.modules.get") == 0) {
		dw_found(r, part, DW_SEVERITY_ERROR, "dynamic:import",
		         "a module is taken from sys.modules");
		key = dw_eval(r, dw_python_argument(tree, part, 0));
		if (key.type == DW_V_TEXT)
			dw_check_module(r, part, key.text, key.len);
	}
	d = dw_danger_find(r->reader, f.text);
	if (d && d->code != DW_CODE_NONE)
		dw_check_inner(r, part, d->code,
		               as_command(r,
		                          dw_eval(r, dw_python_argument(tree, part, 0))));
}

/* sys.modules["os"], globals()["eval"], __builtins__.__dict__[x] */
static void check_subscript(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v = dw_eval(r, dw_child_in(tree, part, DW_F_VALUE));
	struct dw_value key;

	if (v.type == DW_V_UNKNOWN) {
		/* f.__globals__["__builtins__"] */
		key = dw_eval(r, dw_child_in(tree, part, DW_F_SUBSCRIPT));
		if (dw_value_is(key, DW_V_TEXT, "__builtins__") ||
		    dw_value_is(key, DW_V_TEXT, "__import__"))
			dw_found(r, part, DW_SEVERITY_ERROR, "reflection:__builtins__",
			         "this leads to all built-in functions");
		return;
	}
	if (!is_space(v) && !dw_value_is(v, DW_V_NAME, "sys.modules"))
		return;
	key = dw_eval(r, dw_child_in(tree, part, DW_F_SUBSCRIPT));
	if (!is_space(v)) {
		dw_found(r, part, DW_SEVERITY_ERROR, "dynamic:import",
		         "a module is taken from sys.modules");
		if (key.type == DW_V_TEXT)
			dw_check_module(r, part, key.text, key.len);
	} else if (key.type != DW_V_TEXT && strcmp(v.text, "globals()") != 0) {
		dw_found(r, part, DW_SEVERITY_ERROR, "reflection:subscript",
		         "what is taken from %s is known at run time only", v.text);
	}
}

/* Does it always hold? */
static bool is_true(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v;

	switch (dw_kind(tree, part)) {
	case DW_K_TRUE:
		return true;
	case DW_K_PARENTHESIZED_EXPRESSION:
		part = dw_child_named(tree, part);
		return part && is_true(r, part);
	case DW_K_NOT_OPERATOR:
		part = dw_child_in(tree, part, DW_F_ARGUMENT);
		if (!part)
			return false;
		v = dw_eval(r, part);
		return dw_kind(tree, part) == DW_K_FALSE ||
		       dw_kind(tree, part) == DW_K_NONE ||
		       (v.type == DW_V_NUMBER && v.number == 0) ||
		       (v.type == DW_V_TEXT && v.len == 0);
	case DW_K_COMPARISON_OPERATOR: {
		/* 1 == 1, "a" == "a" */
		uint32_t a = dw_child_named(tree, part),
			 b = a ? dw_next_named(tree, a) : 0;
		size_t len;
		const char *text;

		if (!b || dw_next_named(tree, b) || dw_kind(tree, a) != DW_K_INTEGER)
			return false;
		text = dw_text(tree, a, &len);
		return len == dw_part(tree, b)->end - dw_part(tree, b)->start &&
		       memcmp(text, tree->code + dw_part(tree, b)->start, len) == 0 &&
		       memmem(text, dw_part(tree, b)->start - dw_part(tree, a)->start,
		              "==", 2);
	}
	case DW_K_INTEGER:
	case DW_K_STRING:
	case DW_K_IDENTIFIER:
		v = dw_eval(r, part);
		return (v.type == DW_V_NUMBER && v.number != 0 &&
		        dw_kind(tree, part) != DW_K_IDENTIFIER) ||
		       (v.type == DW_V_TEXT && v.len > 0 &&
		        dw_kind(tree, part) != DW_K_IDENTIFIER);
	default:
		return false;
	}
}

static int leaves(struct dw_reading *r, uint32_t part)
{
	struct dw_value f;

	switch (dw_kind(&r->tree, part)) {
	case DW_K_BREAK_STATEMENT:
		return 1;
	case DW_K_RETURN_STATEMENT:
	case DW_K_RAISE_STATEMENT:
	case DW_K_YIELD:
	case DW_K_AWAIT:
		return 2;
	case DW_K_CALL:
		f = dw_eval(r, dw_child_in(&r->tree, part, DW_F_FUNCTION));
		return f.type == DW_V_NAME && (strcmp(f.text, "sys.exit") == 0 ||
		                               strcmp(f.text, "builtins.exit") == 0 ||
		                               strcmp(f.text, "builtins.quit") == 0 ||
		                               strcmp(f.text, "os._exit") == 0 ||
		                               strcmp(f.text, "os.abort") == 0)
		               ? 2
		               : 0;
	case DW_K_WHILE_STATEMENT:
	case DW_K_FOR_STATEMENT:
		return (dw_part(&r->tree, part)->flags & DW_PART_NAMED) ? -1 : 0;
	case DW_K_FUNCTION_DEFINITION:
	case DW_K_LAMBDA:
	case DW_K_CLASS_DEFINITION:
		return -2;
	default:
		return 0;
	}
}

/* Does it hand out values without end? */
static bool is_endless(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value f;

	if (!part || dw_kind(tree, part) != DW_K_CALL)
		return false;
	f = dw_eval(r, dw_child_in(tree, part, DW_F_FUNCTION));
	return dw_value_is(f, DW_V_NAME, "itertools.count") ||
	       dw_value_is(f, DW_V_NAME, "itertools.cycle") ||
	       (dw_value_is(f, DW_V_NAME, "itertools.repeat") &&
	        !dw_python_argument(tree, part, 1)) ||
	       (dw_value_is(f, DW_V_NAME, "builtins.iter") &&
	        dw_python_argument(tree, part, 1) &&
	        dw_text_is(tree, dw_python_argument(tree, part, 0), "int"));
}

static void check_loop(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t condition = dw_child_in(tree, part, DW_F_CONDITION);
	bool endless = dw_kind(tree, part) == DW_K_WHILE_STATEMENT
	                       ? condition && is_true(r, condition)
	                       : is_endless(r, dw_child_in(tree, part, DW_F_RIGHT));

	if (endless && !dw_loop_ends(r, part, leaves))
		dw_found(r, part, DW_SEVERITY_WARNING, "loop:unbounded",
		         "this loop has no break, return, raise, yield or await");
}

/*
 * Python takes wide, bold and script letters for plain ones (NFKC), so that a name may
 * be spelled in hundreds of ways. Nobody does so by accident.
 */
static void check_letters(struct dw_reading *r, uint32_t part)
{
	size_t len;
	const uint8_t *text = (const uint8_t *)dw_text(&r->tree, part, &len);

	for (size_t i = 0; i + 2 < len; i++) {
		bool bold = text[i] == 0xf0 && text[i + 1] == 0x9d && text[i + 2] >= 0x90;
		bool wide = text[i] == 0xef &&
		            (text[i + 1] == 0xbc || text[i + 1] == 0xbd);
		bool script = text[i] == 0xe2 &&
		              (text[i + 1] == 0x84 || text[i + 1] == 0x92 ||
		               text[i + 1] == 0x93);

		if (bold || wide || script) {
			dw_found(r, part, DW_SEVERITY_ERROR, "reflection:letters",
			         "this name is spelled in letters that mean others");
			return;
		}
	}
}

static void check(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	char rule[DW_RULE_MAX];
	size_t len;
	const char *text;
	uint32_t c;

	if (!(dw_part(tree, part)->flags & DW_PART_NAMED))
		return;
	switch (dw_kind(tree, part)) {
	case DW_K_IMPORT_STATEMENT:
	case DW_K_IMPORT_FROM_STATEMENT:
		check_import(r, part);
		break;
	case DW_K_IDENTIFIER:
		check_letters(r, part);
		if (is_load(tree, part))
			(void)dw_check_danger(r, part, dw_eval(r, part));
		break;
	case DW_K_ATTRIBUTE:
		c = dw_child_in(tree, part, DW_F_ATTRIBUTE);
		text = c ? dw_text(tree, c, &len) : NULL;
		if (text && dw_word_in(dw_python_dunders, text, len)) {
			(void)snprintf(rule, sizeof(rule), "reflection:%.*s", (int)len,
			               text);
			dw_found(r, c, DW_SEVERITY_ERROR, rule,
			         "%.*s leads from an object to all others", (int)len,
			         text);
		}
		if (is_load(tree, part))
			(void)dw_check_danger(r, part, dw_eval(r, part));
		break;
	case DW_K_SUBSCRIPT:
		check_subscript(r, part);
		(void)dw_check_danger(r, part, dw_eval(r, part));
		break;
	case DW_K_CALL:
		check_call(r, part);
		(void)dw_check_danger(r, part, dw_eval(r, part));
		break;
	case DW_K_EXEC_STATEMENT:
		dw_found(r, part, DW_SEVERITY_ERROR, "builtin:exec", "exec runs code");
		dw_check_inner(r, part, DW_CODE_SELF,
		               dw_eval(r, dw_child_in(tree, part, DW_F_CODE)));
		break;
	case DW_K_WHILE_STATEMENT:
	case DW_K_FOR_STATEMENT:
		check_loop(r, part);
		break;
	default:
		break;
	}
}

const struct dw_reader dw_reader_python = {
	.name = "python",
	.aliases = {"python3", "py"},
	.grammar = "python",
	.modules = dw_python_modules,
	.dangers = dw_python_dangers,
	.is_scope = dw_python_is_scope,
	.bind = dw_python_bind,
	.eval = dw_python_eval,
	.member = dw_python_member,
	.check = check,
};
