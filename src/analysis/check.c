/* SPDX-License-Identifier: Apache-2.0 */
/* The second pass: reports findings by the table of the language. */
#include "analysis/reader.h"

#include <string.h>
#include <strings.h>

enum truth {
	MAYBE = 0,
	ALWAYS,
	NEVER
};

/* Returns whether the condition is always, never or perhaps true. */
static enum truth truth_of(struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v;
	enum truth inside;
	uint32_t c, argument;

	if (!part)
		return MAYBE;
	c = dw_child_named(tree, part);
	switch (dw_node(r, part)->truth) {
	case DW_TRUTH_NONE:
		return MAYBE;
	case DW_TRUTH_YES:
		return ALWAYS;
	case DW_TRUTH_NO:
		return NEVER;
	case DW_TRUTH_WORD:
		return strncasecmp(tree->code + dw_part(tree, part)->start, "true", 4) ==
		                       0
		               ? ALWAYS
		               : NEVER;
	case DW_TRUTH_VALUE:
		v = dw_eval(r, part);
		if (v.type == DW_V_NUMBER)
			return v.number != 0 ? ALWAYS : NEVER;
		return v.type != DW_V_TEXT ? MAYBE : v.len > 0 ? ALWAYS : NEVER;
	case DW_TRUTH_INSIDE:
		return truth_of(r, c);
	case DW_TRUTH_NOT:
		/* Other unary operators may have the same kind. */
		if (!dw_child_of(tree, part, DW_K_T_NOT) &&
		    dw_kind(tree, part) != DW_K_NOT_OPERATOR)
			return MAYBE;
		argument = dw_child_in(tree, part, DW_F_ARGUMENT);
		if (argument)
			c = argument;
		inside = truth_of(r, c);
		v = dw_eval(r, c);
		if (inside == NEVER || (v.type == DW_V_NUMBER && v.number == 0) ||
		    (v.type == DW_V_TEXT && v.len == 0))
			return ALWAYS;
		return inside == ALWAYS ? NEVER : MAYBE;
	case DW_TRUTH_HOOK:
		return r->language->is_true(r, part) ? ALWAYS : MAYBE;
	}
	return MAYBE;
}

/* Returns true if code in the loop can leave it. Skips functions defined in it. */
static bool loop_ends(struct dw_reading *r, uint32_t loop)
{
	const struct dw_tree *tree = &r->tree;
	uint32_t inner = 0; /* where the nested loops seen so far end */
	struct dw_value f;
	uint8_t field;

	for (uint32_t i = loop + 1; i < dw_part(tree, loop)->past; i++) {
		if (!dw_step(r))
			return true;
		/* In code that does not parse, "await" and "yield" may be mere tokens. */
		if (!(dw_part(tree, i)->flags & DW_PART_NAMED) &&
		    dw_kind(tree, i) != DW_K_AWAIT && dw_kind(tree, i) != DW_K_YIELD)
			continue;
		switch (dw_node(r, i)->flow) {
		case DW_FLOW_NONE:
			break;
		case DW_FLOW_BREAK_TO:
			field = dw_node(r, i)->a;
			if (i >= inner ||
			    (field ? dw_side(r, i, field) : dw_child_named(tree, i)))
				return true;
			break;
		case DW_FLOW_BREAK:
			if (i >= inner)
				return true;
			break;
		case DW_FLOW_EXIT:
			return true;
		case DW_FLOW_CALL:
			f = dw_callee(r, i);
			if (dw_value_in(f, r->language->exits))
				return true;
			break;
		case DW_FLOW_WORD:
			if (dw_text_in(tree, i, r->language->bare_exits))
				return true;
			break;
		case DW_FLOW_LOOP:
			if (dw_part(tree, i)->past > inner)
				inner = dw_part(tree, i)->past;
			break;
		case DW_FLOW_FUNCTION:
			i = dw_part(tree, i)->past - 1;
			break;
		}
	}
	return false;
}

void dw_check_endless(struct dw_reading *r, uint32_t loop, uint32_t body)
{
	if (!loop_ends(r, body))
		dw_found(r, loop, W, "loop:unbounded", "%s", r->language->loop_message);
}

static void check_loop(struct dw_reading *r, uint32_t part, const struct dw_node *node)
{
	uint32_t condition = dw_side(r, part, node->a);
	bool absent = !condition || dw_kind(&r->tree, condition) == DW_K_EMPTY_STATEMENT;
	enum truth wanted = node->check == DW_CHECK_UNTIL ? NEVER : ALWAYS;

	if (absent ? node->check == DW_CHECK_FOR : truth_of(r, condition) == wanted)
		dw_check_endless(r, part, part);
}

/* Returns true if the name is read and not assigned to. */
static bool is_load(const struct dw_reading *r, uint32_t part)
{
	const struct dw_tree *tree = &r->tree;
	uint8_t field = dw_part(tree, part)->field;
	uint32_t up = dw_part(tree, part)->parent;

	while (dw_node(r, up)->stores == DW_STORES_UP && up > 0) {
		field = dw_part(tree, up)->field;
		up = dw_part(tree, up)->parent;
	}
	switch (dw_node(r, up)->stores) {
	case DW_F_NONE:
	case DW_STORES_UP:
		return true;
	case DW_STORES_ALL:
		return false;
	default:
		return field != dw_node(r, up)->stores;
	}
}

void dw_check_run(struct dw_reading *r, uint32_t call, const struct dw_danger *d,
                  unsigned first)
{
	const struct dw_tree *tree = &r->tree;
	struct dw_value v, list;

	if (!d || d->code == DW_CODE_NONE)
		return;
	v = dw_eval_argument(r, call, first);
	if (d->code == DW_CODE_SHELL) {
		switch (r->language->command) {
		case DW_COMMAND_LINE:
			break;
		case DW_COMMAND_LIST:
			if (v.type == DW_V_PART && dw_node(r, v.part)->sequence)
				v = dw_fold_command(r, dw_value_text(r, "", 0),
				                    dw_child_named(tree, v.part));
			break;
		case DW_COMMAND_THEN_LIST:
			list = dw_eval_argument(r, call, first + 1);
			if (v.type == DW_V_TEXT && list.type == DW_V_PART &&
			    dw_node(r, list.part)->sequence)
				v = dw_fold_command(r, v,
				                    dw_child_named(tree, list.part));
			break;
		case DW_COMMAND_WORDS:
			if (v.type == DW_V_TEXT)
				v = dw_fold_command(r, v,
				                    dw_argument(r, call, first + 1));
			break;
		}
	}
	dw_check_inner(r, call, d->code, v);
}

void dw_check_backticks(struct dw_reading *r, uint32_t part)
{
	dw_found(r, part, E, "shell:backtick", "backticks run another program");
	dw_check_inner(r, part, DW_CODE_SHELL, dw_eval_string(r, part));
}

void dw_check_part(struct dw_reading *r, uint32_t part)
{
	const struct dw_node *node = dw_node(r, part);

	if (!(dw_part(&r->tree, part)->flags & DW_PART_NAMED))
		return;
	if (node->check_by)
		node->check_by(r, part);
	switch (node->check) {
	case DW_CHECK_NONE:
		break;
	case DW_CHECK_LOAD:
		if (!is_load(r, part))
			break;
		__attribute__((fallthrough));
	case DW_CHECK_VALUE:
		(void)dw_check_danger(r, part, dw_eval(r, part));
		break;
	case DW_CHECK_WHILE:
	case DW_CHECK_UNTIL:
	case DW_CHECK_FOR:
		check_loop(r, part, node);
		break;
	}
}
