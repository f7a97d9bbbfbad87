/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the script: first its variables, then every command, in source order. If a
 * command runs code from a string (sh -c, eval), the code is parsed and read in the same
 * way; its findings have the place of that command.
 */
#include "analysis/shell.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shell_read.h"
#include "base/cleanup.h"

#define FUEL (1U << 20)

/* Variables that decide which programs run, or what runs before them. */
static const char decisive[] =
	" PATH LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT BASH_ENV ENV IFS PROMPT_COMMAND PS4 "
	"SHELLOPTS BASHOPTS PYTHONPATH PYTHONSTARTUP NODE_OPTIONS PERL5OPT RUBYOPT "
	"GIT_SSH_COMMAND GIT_EXTERNAL_DIFF PAGER GIT_PAGER EDITOR ";

void dw_shell_finish(struct dw_shell *shell)
{
	dw_arena_free(shell->arena);
	free(shell->commands);
	free(shell->redirects);
	free(shell->notes);
	*shell = (struct dw_shell){0};
}

void dw_shell_place(struct dw_script *s, uint32_t part, uint32_t *line, uint32_t *column)
{
	uint32_t byte = dw_part(&s->tree, part)->start;

	if (s->inner > 0) {
		*line = s->line;
		*column = s->column;
		return;
	}
	/* Parts are mostly read in order, so go on from the last place. */
	if (byte < s->last_byte)
		s->last_byte = s->last_line = s->last_column = 0;
	for (; s->last_byte < byte; s->last_byte++) {
		uint8_t c = (uint8_t)s->tree.code[s->last_byte];

		s->last_column = c == '\n' ? 0 : s->last_column + ((c & 0xc0) != 0x80);
		s->last_line += c == '\n';
	}
	*line = s->last_line + 1;
	*column = s->last_column + 1;
}

void dw_shell_note(struct dw_script *s, uint32_t part, enum dw_shell_remark remark,
                   const char *fmt, ...)
{
	struct dw_shell_note note = {.remark = remark};
	char text[DW_MESSAGE_MAX];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	dw_shell_place(s, part, &note.line, &note.column);
	note.text = dw_shell_keep(s, text, strlen(text));
	if (note.text)
		(void)DW_SHELL_APPEND(s, s->shell->notes, s->shell->n_notes, note);
}

void dw_shell_doubt(struct dw_script *s, uint32_t part, const char *name)
{
	dw_shell_note(s, part, DW_SHELL_DOUBT,
	              "the command that %s runs cannot be determined", name);
}

void dw_shell_sets(struct dw_script *s, uint32_t part, const char *name, size_t len)
{
	if (dw_word_in(decisive, name, len))
		dw_shell_note(s, part, DW_SHELL_ENVIRONMENT,
		              "%.*s decides which programs run", (int)len, name);
}

/*
 * A quoted command substitution in a value does not run on assignment, but arithmetic
 * expansion and ${x@P} run it later.
 */
static void check_sleeper(struct dw_script *s, uint32_t value)
{
	enum dw_kind kind = value ? dw_kind(&s->tree, value) : DW_K_OTHER;
	size_t len;
	const char *text;

	if (kind != DW_K_RAW_STRING && kind != DW_K_ANSI_C_STRING && kind != DW_K_WORD)
		return;
	text = dw_text(&s->tree, value, &len);
	if (memmem(text, len, "$(", 2) || memchr(text, '`', len) ||
	    (kind == DW_K_ANSI_C_STRING && memchr(text, '\\', len)))
		dw_shell_note(s, value, DW_SHELL_DOUBT,
		              "this text has a command in it, which may be run later");
}

static void add_variable(struct dw_script *s, uint32_t part)
{
	const struct dw_tree *tree = &s->tree;
	uint32_t name = dw_child_in(tree, part, DW_F_NAME);
	uint32_t value = dw_child_in(tree, part, DW_F_VALUE);
	struct dw_variable v = {0};

	if (!name)
		return;
	v.name = dw_text(tree, name, &v.len);
	v.at = dw_part(tree, part)->end;
	v.value = dw_child_of(tree, part, DW_K_T_PLUS_EQUAL) ? 0 : value;
	dw_shell_sets(s, part, v.name, v.len);
	check_sleeper(s, value);
	if (!DW_APPEND(s->variables, s->n_variables, v))
		*s->no_memory = true;
}

/* Returns true if text that the grammar took as plain contains a command substitution. */
static bool has_hidden(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\\')
			i++;
		else if (text[i] == '`' ||
		         (text[i] == '$' && i + 1 < len && text[i + 1] == '('))
			return true;
	}
	return false;
}

/*
 * In double quotes and here-documents, text outside the named parts must be plain text.
 * The grammar misses, for example, a command substitution after the tabs of <<-.
 */
static void check_text(struct dw_script *s, uint32_t part)
{
	const struct dw_tree *tree = &s->tree;
	uint32_t at = dw_part(tree, part)->start, start;
	bool hidden = false;

	if (dw_kind(tree, part) == DW_K_HEREDOC_BODY) {
		start = dw_child_of(tree, dw_part(tree, part)->parent,
		                    DW_K_HEREDOC_START);
		if (start && strchr("'\"\\", tree->code[dw_part(tree, start)->start]))
			return;
	}
	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c)) {
		if (dw_kind(tree, c) == DW_K_STRING_CONTENT ||
		    dw_kind(tree, c) == DW_K_HEREDOC_CONTENT)
			continue;
		if (dw_part(tree, c)->start > at)
			hidden = hidden || has_hidden(tree->code + at,
			                              dw_part(tree, c)->start - at);
		at = dw_part(tree, c)->end;
	}
	if (dw_part(tree, part)->end > at)
		hidden = hidden ||
		         has_hidden(tree->code + at, dw_part(tree, part)->end - at);
	/* An unquoted newline inside a word: the grammar missed the end of a command. */
	if (dw_kind(tree, part) == DW_K_WORD)
		for (uint32_t i = dw_part(tree, part)->start + 1;
		     i < dw_part(tree, part)->end; i++)
			hidden = hidden ||
			         (tree->code[i] == '\n' && tree->code[i - 1] != '\\');
	if (hidden)
		dw_shell_note(s, part, DW_SHELL_DOUBT,
		              "this text has a command in it that cannot be parsed");
}

/* for PATH in ... */
static void check_name(struct dw_script *s, uint32_t part, uint32_t name)
{
	size_t len;
	const char *text = name ? dw_text(&s->tree, name, &len) : NULL;

	if (text)
		dw_shell_sets(s, part, text, len);
}

static void check_for(struct dw_script *s, uint32_t part)
{
	check_name(s, part, dw_child_in(&s->tree, part, DW_F_VARIABLE));
}

/* ${PATH:=/tmp}, ${x@P} */
static void check_expansion(struct dw_script *s, uint32_t part)
{
	size_t len;
	const char *text = dw_text(&s->tree, part, &len);

	if (memchr(text, '=', len))
		check_name(s, part, dw_child_of(&s->tree, part, DW_K_VARIABLE_NAME));
	if (len > 3 && memcmp(text + len - 3, "@P}", 3) == 0)
		dw_shell_note(s, part, DW_SHELL_DOUBT,
		              "this expansion runs the commands in a variable");
}

/*
 * Detect a fork bomb: a function that starts itself twice, in a pipe or with &.
 * Example: :(){ :|:& };:
 */
static void check_bomb(struct dw_script *s, uint32_t part)
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

/* Returns true if the loop's body has a command that may end it: break, exit, ... */
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

static void check_loop(struct dw_script *s, uint32_t part)
{
	const struct dw_tree *tree = &s->tree;
	uint32_t body = dw_child_in(tree, part, DW_F_BODY);
	uint32_t condition = dw_child_in(tree, part, DW_F_CONDITION);
	bool until = strncmp(tree->code + dw_part(tree, part)->start, "until", 5) == 0;

	if (!body)
		return;
	if (dw_kind(tree, part) == DW_K_C_STYLE_FOR_STATEMENT) {
		/* for ((;;)) has nothing between its semicolons. */
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

static void (*const readers[DW_K_COUNT])(struct dw_script *s, uint32_t part) = {
	[DW_K_COMMAND] = dw_shell_add_command,
	[DW_K_C_STYLE_FOR_STATEMENT] = check_loop,
	[DW_K_EXPANSION] = check_expansion,
	[DW_K_FILE_REDIRECT] = dw_shell_add_redirect,
	[DW_K_FOR_STATEMENT] = check_for,
	[DW_K_FUNCTION_DEFINITION] = check_bomb,
	[DW_K_HEREDOC_BODY] = check_text,
	[DW_K_STRING] = check_text,
	[DW_K_WHILE_STATEMENT] = check_loop,
	[DW_K_WORD] = check_text,
};

static void read_parts(struct dw_script *s)
{
	const struct dw_tree *tree = &s->tree;

	dw_shell_find_functions(s);
	for (uint32_t i = 0; i < tree->n_parts && dw_shell_step(s); i++)
		if (dw_kind(tree, i) == DW_K_VARIABLE_ASSIGNMENT)
			add_variable(s, i);
	for (uint32_t i = 0; i < tree->n_parts && dw_shell_step(s); i++) {
		const struct dw_part *p = dw_part(tree, i);

		if ((p->flags & (DW_PART_ERROR | DW_PART_MISSING)) &&
		    !dw_shell_is_read_write(tree, i))
			dw_shell_note(s, i, DW_SHELL_SYNTAX, "this is not valid shell");
		if ((p->flags & DW_PART_NAMED) && readers[p->kind])
			readers[p->kind](s, i);
	}
	free(s->variables);
	free(s->functions);
}

void dw_shell_inner(struct dw_script *s, uint32_t part, struct dw_shell_word code,
                    const char *via)
{
	struct dw_script inner = {
		.shell = s->shell,
		.outer = s,
		.inner = s->inner + 1,
		.fuel = s->fuel,
		.no_memory = s->no_memory,
	};
	struct dw_error err = {0};
	int r;

	if (code.guessed)
		dw_shell_note(s, part, DW_SHELL_DOUBT,
		              "the argument of %s may have another value at run time",
		              via);
	if (inner.inner > DW_SHELL_INNER_MAX) {
		dw_shell_note(s, part, DW_SHELL_DOUBT,
		              "scripts nested more than %u deep are not analysed",
		              DW_SHELL_INNER_MAX);
		return;
	}
	/* Charge for the parser. */
	if (*s->fuel < 256) {
		*s->fuel = 0;
		return;
	}
	*s->fuel -= 256;
	dw_shell_place(s, part, &inner.line, &inner.column);
	inner.via = dw_shell_keep(s, via, strlen(via));
	r = dw_tree_parse(&inner.tree, "bash", code.text, strlen(code.text),
	                  DW_ANALYSE_TIMEOUT_MS, &err);
	if (r < 0)
		*s->no_memory = true;
	else if (r == DW_PARSE_WHOLE)
		read_parts(&inner);
	else
		*s->fuel = 0;
	dw_tree_finish(&inner.tree);
}

/* Add a note that a bound was reached, whatever the bound on notes. */
static int add_bound(struct dw_shell *shell)
{
	struct dw_shell_note *list = realloc(shell->notes,
	                                     (shell->n_notes + 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	shell->notes = list;
	list[shell->n_notes++] = (struct dw_shell_note){
		.remark = DW_SHELL_BOUND,
		.text = "this script is too large or complex: not all of it was analysed",
		.line = 1,
		.column = 1,
	};
	return 0;
}

int dw_shell_read_tree(struct dw_shell *shell, const struct dw_tree *tree,
                       struct dw_error *err)
{
	uint64_t fuel = tree ? FUEL : 0;
	bool no_memory = false;
	struct dw_script script = {.shell = shell,
	                           .fuel = &fuel,
	                           .no_memory = &no_memory};

	*shell = (struct dw_shell){0};
	if (tree) {
		script.tree = *tree;
		read_parts(&script);
	}
	if (fuel == 0 && add_bound(shell) < 0)
		no_memory = true;
	if (!no_memory)
		return 0;
	dw_shell_finish(shell);
	return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot read the shell script");
}

int dw_shell_read(struct dw_shell *shell, const char *code, size_t len,
                  struct dw_error *err)
{
	struct dw_tree tree = {0};
	int r = DW_PARSE_TOO_MANY;

	*shell = (struct dw_shell){0};
	if (len <= DW_ANALYSE_CODE_MAX)
		r = dw_tree_parse(&tree, "bash", code, len, DW_ANALYSE_TIMEOUT_MS, err);
	if (r >= 0)
		r = dw_shell_read_tree(shell, r == DW_PARSE_WHOLE ? &tree : NULL, err);
	dw_tree_finish(&tree);
	return r;
}
