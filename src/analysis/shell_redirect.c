/* SPDX-License-Identifier: Apache-2.0 */
/* Redirections and pipes: files that a script opens, and the input of its commands. */
#include "analysis/shell_read.h"

#include <string.h>

/* Returns true for <>FILE. */
static bool opens_both(const struct dw_tree *tree, uint32_t redirect)
{
	uint32_t target = dw_child_in(tree, redirect, DW_F_DESTINATION);
	uint32_t start = dw_part(tree, redirect)->start;

	return target &&
	       memmem(tree->code + start, dw_part(tree, target)->start - start, "<>", 2);
}

void dw_shell_add_redirect(struct dw_script *s, uint32_t part)
{
	const struct dw_tree *tree = &s->tree;
	uint32_t target = dw_child_in(tree, part, DW_F_DESTINATION);
	struct dw_shell_redirect r = {0};
	bool copies = false;

	if (!target || dw_kind(tree, target) == DW_K_PROCESS_SUBSTITUTION)
		return;
	for (uint32_t c = dw_child(tree, part); c; c = dw_next(tree, c)) {
		const char *token = dw_kind_name(dw_kind(tree, c));

		r.writes = r.writes || dw_is_any(token, " > >> >| &> &>> >& ");
		copies = copies || dw_is_any(token, " >& <& ");
	}
	if (opens_both(tree, part))
		r.writes = true;
	r.target = dw_shell_word(s, target);
	/* A backslash-newline may join the next word to the target. */
	if (dw_part(tree, target)->end < tree->len &&
	    tree->code[dw_part(tree, target)->end] == '\\')
		r.target.text = NULL;
	/* 2>&1 and 2>&- name no file. */
	if (copies && r.target.text && !r.target.guessed &&
	    strspn(r.target.text, "0123456789-") == strlen(r.target.text))
		return;
	dw_shell_place(s, part, &r.line, &r.column);
	(void)DW_SHELL_APPEND(s, s->shell->redirects, s->shell->n_redirects, r);
}

/* The text of a here-document; a guess if the shell expands something in it. */
static struct dw_shell_word heredoc(struct dw_script *s, uint32_t redirect)
{
	const struct dw_tree *tree = &s->tree;
	uint32_t start = dw_child_of(tree, redirect, DW_K_HEREDOC_START);
	uint32_t body = dw_child_of(tree, redirect, DW_K_HEREDOC_BODY);
	struct dw_shell_word word = {0};
	size_t len;
	const char *text = start ? dw_text(tree, start, &len) : "";
	bool quoted = start && len > 0 && strchr("'\"\\", text[0]);

	if (!body)
		return word;
	for (uint32_t c = dw_child_named(tree, body); c && !quoted;
	     c = dw_next_named(tree, c))
		if (dw_kind(tree, c) != DW_K_HEREDOC_CONTENT)
			word.guessed = true;
	text = dw_text(tree, body, &len);
	word.text = dw_shell_keep(s, text, len);
	return word;
}

static uint32_t command_of(const struct dw_tree *tree, uint32_t part)
{
	if (part && dw_kind(tree, part) == DW_K_REDIRECTED_STATEMENT)
		part = dw_child_in(tree, part, DW_F_BODY);
	return part && dw_kind(tree, part) == DW_K_COMMAND ? part : 0;
}

/* The output of the previous command of a pipe, if it is echo, printf or cat. */
static struct dw_shell_word printed(struct dw_script *s, uint32_t part)
{
	const struct dw_tree *tree = &s->tree;
	struct dw_shell_word word = {0}, arg;
	uint32_t command = command_of(tree, part), name;
	char text[4096];
	size_t n = 0;

	name = command ? dw_child_of(tree, command, DW_K_COMMAND_NAME) : 0;
	if (!name)
		return word;
	if (dw_text_is(tree, name, "cat"))
		return dw_shell_stdin(s, command);
	if (!dw_text_in(tree, name, " echo printf "))
		return word;
	for (uint32_t c = dw_next_named(tree, name); c; c = dw_next_named(tree, c)) {
		size_t len;

		if (dw_part(tree, c)->field != DW_F_ARGUMENT)
			continue;
		arg = dw_shell_word(s, c);
		if (!arg.text)
			return word;
		if (arg.text[0] == '-' || dw_is_any(arg.text, " %s %s\\n "))
			continue;
		len = strlen(arg.text);
		if (n + len + 1 >= sizeof(text))
			return word;
		if (n > 0)
			text[n++] = ' ';
		memcpy(text + n, arg.text, len);
		n += len;
	}
	word.text = dw_shell_keep(s, text, n);
	word.guessed = true;
	return word;
}

struct dw_shell_word dw_shell_stdin(struct dw_script *s, uint32_t part)
{
	const struct dw_tree *tree = &s->tree;
	uint32_t up = dw_part(tree, part)->parent, at = part, c, before = 0;

	if (dw_kind(tree, part) != DW_K_COMMAND)
		return (struct dw_shell_word){0};
	c = dw_child_of(tree, part, DW_K_HERESTRING_REDIRECT);
	if (c)
		return dw_shell_word(s, dw_child_named(tree, c));
	if (dw_kind(tree, up) == DW_K_REDIRECTED_STATEMENT) {
		for (c = dw_child(tree, up); c; c = dw_next(tree, c)) {
			if (dw_kind(tree, c) == DW_K_HEREDOC_REDIRECT)
				return heredoc(s, c);
			if (dw_kind(tree, c) == DW_K_HERESTRING_REDIRECT)
				return dw_shell_word(s, dw_child_named(tree, c));
			if (dw_kind(tree, c) == DW_K_FILE_REDIRECT &&
			    dw_child_of(tree, c, DW_K_T_LESS))
				return (struct dw_shell_word){0};
		}
		at = up;
		up = dw_part(tree, up)->parent;
	}
	if (dw_kind(tree, up) != DW_K_PIPELINE)
		return (struct dw_shell_word){0};
	for (c = dw_child_named(tree, up); c && c != at; c = dw_next_named(tree, c))
		before = c;
	if (before)
		return printed(s, before);
	/* cat <<EOF | sh: the grammar puts the pipe inside the redirection. */
	up = dw_part(tree, up)->parent;
	if (dw_kind(tree, up) == DW_K_HEREDOC_REDIRECT)
		return heredoc(s, up);
	return (struct dw_shell_word){0};
}

bool dw_shell_is_read_write(const struct dw_tree *tree, uint32_t part)
{
	uint32_t up = dw_part(tree, part)->parent;

	return dw_kind(tree, up) == DW_K_FILE_REDIRECT && opens_both(tree, up) &&
	       dw_text_in(tree, part, " < > ");
}
