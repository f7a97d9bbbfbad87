/* SPDX-License-Identifier: Apache-2.0 */
/* Builds commands from their words, and finds functions of the script. */
#include "analysis/shell_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

const char *dw_shell_plain_name(const char *name)
{
	const char *last = strrchr(name, '/');

	if (last &&
	    dw_word_in(" /bin /usr/bin /sbin /usr/sbin ", name, (size_t)(last - name)))
		return last + 1;
	return name;
}

/*
 * Returns true if the name is surely a function here: it is defined before, at the top
 * level of the script, and the script has no unset command.
 */
static bool is_function(struct dw_script *s, uint32_t part, const char *name)
{
	const struct dw_tree *tree = &s->tree;

	for (size_t i = 0; i < s->n_functions && dw_shell_step(s); i++) {
		uint32_t f = s->functions[i], its = dw_child_in(tree, f, DW_F_NAME);

		if (dw_part(tree, f)->start >= dw_part(tree, part)->start)
			break;
		if (its && dw_text_is(tree, its, name))
			return true;
	}
	return false;
}

void dw_shell_find_functions(struct dw_script *s)
{
	const struct dw_tree *tree = &s->tree;

	/* Any unset may remove a function. */
	for (uint32_t i = 1; i < tree->n_parts; i++)
		if (dw_kind(tree, i) == DW_K_UNSET_COMMAND &&
		    (dw_part(tree, i)->flags & DW_PART_NAMED))
			return;
	for (uint32_t c = dw_child_named(tree, 0); c; c = dw_next_named(tree, c))
		if (dw_kind(tree, c) == DW_K_FUNCTION_DEFINITION &&
		    !DW_APPEND(s->functions, s->n_functions, c))
			*s->no_memory = true;
}

/*
 * Returns true if only backslash-newline pairs stand between end and start. The shell
 * then joins the two words, but the grammar treats the pairs as a blank.
 */
static bool is_glued(const struct dw_tree *tree, uint32_t end, uint32_t start)
{
	uint32_t i = end;

	while (i + 1 < start && tree->code[i] == '\\' && tree->code[i + 1] == '\n')
		i += 2;
	return i > end && i == start;
}

static struct dw_shell_word glue(struct dw_script *s, struct dw_shell_word a,
                                 struct dw_shell_word b)
{
	struct dw_shell_word both = {.guessed = a.guessed || b.guessed,
	                             .pattern = a.pattern || b.pattern};
	char text[4096];
	int n;

	if (!a.text || !b.text)
		return both;
	n = snprintf(text, sizeof(text), "%s%s", a.text, b.text);
	if (n >= 0 && (size_t)n < sizeof(text))
		both.text = dw_shell_keep(s, text, (size_t)n);
	return both;
}

static void finish_command(struct dw_script *s, uint32_t part,
                           const struct dw_shell_word *words, size_t n, uint32_t flags)
{
	if (n > 0 && words[0].text && !words[0].guessed &&
	    is_function(s, part, words[0].text))
		flags |= DW_SHELL_FUNCTION;
	if (n == 0)
		dw_shell_note(s, part, DW_SHELL_DOUBT,
		              "the command cannot be determined");
	dw_shell_add(s, part, words, n, flags, NULL);
}

void dw_shell_add_command(struct dw_script *s, uint32_t part)
{
	const struct dw_tree *tree = &s->tree;
	uint32_t name = dw_child_of(tree, part, DW_K_COMMAND_NAME);
	struct dw_shell_word *words;
	size_t n, count = 1;
	uint32_t flags = 0, last = name, from = part;

	/* ((x < 3)) is not a command, although the grammar parses it as one. */
	if (!name || (dw_child_of(tree, name, DW_K_ARITHMETIC_EXPANSION) &&
	              tree->code[dw_part(tree, name)->start] == '('))
		return;
	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c))
		count++;
	/* A word may expand to several. */
	count = count + 16 < DW_SHELL_ARGS_MAX ? count + 16 : DW_SHELL_ARGS_MAX;
	words = calloc(count, sizeof(*words));
	if (!words) {
		*s->no_memory = true;
		return;
	}
	n = dw_shell_words(s, name, words, count);
	for (uint32_t c = dw_next_named(tree, name); c; c = dw_next_named(tree, c)) {
		if (dw_part(tree, c)->field != DW_F_ARGUMENT)
			continue;
		/* The grammar put a newline into the word: a new command begins. */
		if (tree->code[dw_part(tree, c)->start] == '\n') {
			finish_command(s, from, words, n, flags);
			from = c;
			n = 0;
			flags = 0;
		}
		if (n == count) {
			flags |= DW_SHELL_MORE;
			break;
		}
		if (n > 0 &&
		    is_glued(tree, dw_part(tree, last)->end, dw_part(tree, c)->start))
			words[n - 1] = glue(s, words[n - 1], dw_shell_word(s, c));
		else
			n += dw_shell_words(s, c, words + n, count - n);
		last = c;
	}
	finish_command(s, from, words, n, flags);
	free(words);
}

void dw_shell_add(struct dw_script *s, uint32_t part, const struct dw_shell_word *words,
                  size_t n, uint32_t flags, const char *via)
{
	struct dw_shell_command command = {.flags = flags, .via = via ? via : s->via};
	const char *name;
	size_t at;

	if (n == 0 || *s->fuel < n || s->depth >= 32) {
		if (n > 0)
			*s->fuel = 0;
		return;
	}
	*s->fuel -= n;
	command.name = words[0];
	command.n_args = n - 1;
	dw_shell_place(s, part, &command.line, &command.column);
	command.args = dw_shell_keep(s, words, n * sizeof(*words));
	if (!command.args)
		return;
	command.args++;
	at = s->shell->n_commands;
	if (!DW_SHELL_APPEND(s, s->shell->commands, s->shell->n_commands, command))
		return;
	if (!command.name.text || command.name.pattern || command.name.guessed)
		dw_shell_note(s, part, DW_SHELL_DOUBT,
		              "the command cannot be determined%s",
		              command.name.text ? " with certainty" : "");
	if (!command.name.text)
		return;

	name = dw_shell_plain_name(command.name.text);
	s->depth++;
	dw_shell_take_code(&s->shell->commands[at], name, words, n);
	if (dw_is_any(name, " read printf mapfile getopts readarray "))
		for (size_t i = 1; i < n; i++)
			if (words[i].text)
				dw_shell_sets(s, part, words[i].text,
				              strcspn(words[i].text, "="));
	if (dw_is_any(name, " cd pushd popd "))
		s->shell->changes_folder = true;
	if (dw_shell_carry(s, part, name, words, n, flags))
		s->shell->commands[at].flags |= DW_SHELL_CARRIER;
	s->depth--;
}
