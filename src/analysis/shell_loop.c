/* SPDX-License-Identifier: Apache-2.0 */
/* Find endless loops, and functions that call themselves. */
#include "analysis/shell_read.h"

#include <string.h>

#include "base/cleanup.h"

/* :(){ :|:& };: — in its body, the function starts itself and does not wait. */
void dw_shell_check_bomb(struct dw_script *s, uint32_t part)
{
	const struct dw_tree *tree = &s->tree;
	uint32_t name = dw_child_in(tree, part, DW_F_NAME);
	size_t len, calls = 0;
	const char *text;
	bool apart = false;

	if (!name)
		return;
	text = dw_text(tree, name, &len);
	for (uint32_t i = part + 1; i < dw_part(tree, part)->past; i++) {
		const struct dw_part *p = dw_part(tree, i);

		if (p->kind == DW_K_COMMAND_NAME && p->end - p->start == len &&
		    memcmp(tree->code + p->start, text, len) == 0)
			calls++;
		apart = apart || p->kind == DW_K_T_AND || p->kind == DW_K_T_PIPE;
	}
	if (calls >= 2 && apart)
		dw_shell_note(s, part, DW_SHELL_BOMB,
		              "function %.*s starts itself again and again",
		              (int)(len < 64 ? len : 64), text);
}

static bool is_always(const struct dw_tree *tree, uint32_t part, bool yes)
{
	static const char *const trues[] = {"true",        ":",         "[ 1 ]",
	                                    "/bin/true",   "[[ 1 ]]",   "((1))",
	                                    "(( 1 ))",     "[ 1 = 1 ]", "[ true ]",
	                                    "[ 1 -eq 1 ]", "! false"};
	static const char *const falses[] = {"false", "/bin/false", "! true", "((0))"};
	const char *const *list = yes ? trues : falses;
	size_t n = yes ? ARRAY_SIZE(trues) : ARRAY_SIZE(falses);

	for (size_t i = 0; i < n; i++)
		if (dw_text_is(tree, part, list[i]))
			return true;
	return false;
}

/* break, return, exit, exec: anything that may end it. */
static bool can_end(const struct dw_tree *tree, uint32_t part)
{
	uint32_t inner = 0;

	for (uint32_t i = part + 1; i < dw_part(tree, part)->past; i++) {
		enum dw_kind kind = dw_kind(tree, i);

		if ((kind == DW_K_WHILE_STATEMENT || kind == DW_K_FOR_STATEMENT ||
		     kind == DW_K_C_STYLE_FOR_STATEMENT) &&
		    dw_part(tree, i)->past > inner)
			inner = dw_part(tree, i)->past;
		if (kind == DW_K_FUNCTION_DEFINITION) {
			i = dw_part(tree, i)->past - 1;
			continue;
		}
		if (kind != DW_K_COMMAND_NAME)
			continue;
		if (dw_text_in(tree, i, " return exit exec kill ") ||
		    (dw_text_is(tree, i, "break") &&
		     (i >= inner || dw_next_named(tree, i))))
			return true;
	}
	return false;
}

void dw_shell_check_loop(struct dw_script *s, uint32_t part)
{
	const struct dw_tree *tree = &s->tree;
	uint32_t body = dw_child_in(tree, part, DW_F_BODY);
	uint32_t condition = dw_child_in(tree, part, DW_F_CONDITION);
	bool until = strncmp(tree->code + dw_part(tree, part)->start, "until", 5) == 0;

	if (!body)
		return;
	if (dw_kind(tree, part) == DW_K_C_STYLE_FOR_STATEMENT) {
		/* for ((;;)): nothing between two semicolons. */
		size_t len;
		const char *text = dw_text(tree, part, &len);
		const char *first = memchr(text, ';', len), *p;

		if (!first)
			return;
		for (p = first + 1; p < text + len && strchr(" \t", *p); p++)
			;
		if (p == text + len || *p != ';')
			return;
	} else if (!condition || !is_always(tree, condition, !until)) {
		return;
	}
	if (!can_end(tree, body))
		dw_shell_note(s, part, DW_SHELL_LOOP,
		              "this loop has no break, return, exit or exec");
}
