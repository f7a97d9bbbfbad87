/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over each text: variables first, then every command that stands in it, in
 * the order of the text. A command that is given a text to run makes for another
 * text, read in the same way; where it stands is where that command stands.
 */
#include "policy/shell.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/shell_read.h"

#define STORE_MAX ((size_t)16 << 20)
#define FUEL (1U << 20)

/* Variables that decide which programs run, or what runs before them. */
static const char *const decisive[] = {
	"PATH",          "LD_PRELOAD",      "LD_LIBRARY_PATH",
	"LD_AUDIT",      "BASH_ENV",        "ENV",
	"IFS",           "PROMPT_COMMAND",  "PS4",
	"SHELLOPTS",     "BASHOPTS",        "PYTHONPATH",
	"PYTHONSTARTUP", "NODE_OPTIONS",    "PERL5OPT",
	"RUBYOPT",       "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF",
	"PAGER",         "GIT_PAGER",       "EDITOR",
};

/* Bytes that live as long as the answer. */
struct dw_shell_store {
	struct dw_shell_store *next;
	size_t all;
	_Alignas(max_align_t) char data[];
};

char *dw_shell_keep(struct dw_script *s, const char *text, size_t len)
{
	struct dw_shell_store *old = s->shell->store, *new;
	size_t all = (old ? old->all : 0) + len + sizeof(*new);

	if (all > STORE_MAX) {
		*s->fuel = 0;
		return NULL;
	}
	new = malloc(sizeof(*new) + len + 1);
	if (!new) {
		*s->no_memory = true;
		return NULL;
	}
	new->next = old;
	new->all = all;
	if (len > 0)
		memcpy(new->data, text, len);
	new->data[len] = '\0';
	s->shell->store = new;
	return new->data;
}

void dw_shell_finish(struct dw_shell *shell)
{
	while (shell->store) {
		struct dw_shell_store *next = shell->store->next;

		free(shell->store);
		shell->store = next;
	}
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
	/* Mostly we go forward. */
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

/* Room for one more in a list that doubles. */
static void *one_more(struct dw_script *s, void *list, size_t n, size_t size)
{
	void *larger;

	if (n >= DW_SHELL_COMMANDS_MAX) {
		*s->fuel = 0;
		return NULL;
	}
	if ((n & (n - 1)) != 0)
		return list;
	larger = realloc(list, (n > 0 ? n * 2 : 1) * size);
	if (!larger)
		*s->no_memory = true;
	return larger;
}

void dw_shell_note(struct dw_script *s, uint32_t part, enum dw_shell_remark remark,
                   const char *fmt, ...)
{
	struct dw_shell_note note = {.remark = remark}, *list;
	char text[DW_MESSAGE_MAX];
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	dw_shell_place(s, part, &note.line, &note.column);
	note.text = dw_shell_keep(s, text, strlen(text));
	if (!note.text)
		return;
	list = one_more(s, s->shell->notes, s->shell->n_notes, sizeof(*list));
	if (!list)
		return;
	s->shell->notes = list;
	list[s->shell->n_notes++] = note;
}

/* Variables. */

bool dw_shell_decides(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(decisive); i++)
		if (strlen(decisive[i]) == len && memcmp(decisive[i], name, len) == 0)
			return true;
	return false;
}

/*
 * A text with a substitution in it sleeps until some expansion wakes it: arithmetic does,
 * and ${x@P}.
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
	if (dw_shell_decides(v.name, v.len))
		dw_shell_note(s, part, DW_SHELL_ENVIRONMENT,
		              "%.*s decides which programs run", (int)v.len, v.name);
	check_sleeper(s, value);
	if (s->n_variables == s->room) {
		size_t room = s->room > 0 ? s->room * 2 : 64;
		struct dw_variable *list = realloc(s->variables, room * sizeof(*list));

		if (!list) {
			*s->no_memory = true;
			return;
		}
		s->variables = list;
		s->room = room;
	}
	s->variables[s->n_variables++] = v;
}

/* Functions. */

/*
 * Is that name a function's here? Only if it was surely defined before: at the top of
 * the script, in no branch, and nobody took it back.
 */
static bool is_function(struct dw_script *s, uint32_t part, const char *name)
{
	const struct dw_tree *tree = &s->tree;

	for (size_t i = 0; i<s->n_functions && * s->fuel> 0; i++) {
		uint32_t f = s->functions[i], its = dw_child_in(tree, f, DW_F_NAME);

		--*s->fuel;
		if (dw_part(tree, f)->start >= dw_part(tree, part)->start)
			break;
		if (its && dw_text_is(tree, its, name))
			return true;
	}
	return false;
}

static void find_functions(struct dw_script *s)
{
	const struct dw_tree *tree = &s->tree;
	size_t n = 0;

	for (uint32_t c = dw_child_named(tree, 0); c; c = dw_next_named(tree, c))
		n += dw_kind(tree, c) == DW_K_FUNCTION_DEFINITION;
	s->functions = n > 0 ? calloc(n, sizeof(*s->functions)) : NULL;
	if (n > 0 && !s->functions) {
		*s->no_memory = true;
		return;
	}
	for (uint32_t c = dw_child_named(tree, 0); c && s->functions;
	     c = dw_next_named(tree, c))
		if (dw_kind(tree, c) == DW_K_FUNCTION_DEFINITION)
			s->functions[s->n_functions++] = c;
}

/* Someone says unset -f. */
static bool takes_back(const struct dw_tree *tree)
{
	for (uint32_t i = 1; i < tree->n_parts; i++)
		if (dw_kind(tree, i) == DW_K_UNSET_COMMAND &&
		    (dw_part(tree, i)->flags & DW_PART_NAMED))
			return true;
	return false;
}

/* :(){ :|:& };: — in its body, the function starts itself and does not wait. */
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

/* Loops. */

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
	static const char *const ends[] = {"break", "return", "exit", "exec", "kill"};
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
		for (size_t k = 0; k < ARRAY_SIZE(ends); k++) {
			uint32_t next = dw_next_named(tree, i);

			if (dw_text_is(tree, i, ends[k]) && (k > 0 || i >= inner || next))
				return true;
		}
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

/* Redirections. */

/* <>FILE */
static bool opens_both(const struct dw_tree *tree, uint32_t redirect)
{
	uint32_t target = dw_child_in(tree, redirect, DW_F_DESTINATION);
	uint32_t start = dw_part(tree, redirect)->start;

	return target &&
	       memmem(tree->code + start, dw_part(tree, target)->start - start, "<>", 2);
}

static void add_redirect(struct dw_script *s, uint32_t part)
{
	const struct dw_tree *tree = &s->tree;
	uint32_t target = dw_child_in(tree, part, DW_F_DESTINATION);
	struct dw_shell_redirect r = {0}, *list;
	bool copies = false;

	if (!target || dw_kind(tree, target) == DW_K_PROCESS_SUBSTITUTION)
		return;
	for (uint32_t c = dw_child(tree, part); c; c = dw_next(tree, c)) {
		switch (dw_kind(tree, c)) {
		case DW_K_T_GREATER:
		case DW_K_T_GREATER2:
		case DW_K_T_GREATER_BAR:
		case DW_K_T_AND_GREATER:
		case DW_K_T_AND_GREATER2:
			r.writes = true;
			break;
		case DW_K_T_GREATER_AND:
			r.writes = true;
			copies = true;
			break;
		case DW_K_T_LESS_AND:
			copies = true;
			break;
		default:
			break;
		}
	}
	if (opens_both(tree, part))
		r.writes = true;
	r.target = dw_shell_word(s, target);
	/* What follows may be glued to it. */
	if (dw_part(tree, target)->end < tree->len &&
	    tree->code[dw_part(tree, target)->end] == '\\')
		r.target.text = NULL;
	/* 2>&1 and 2>&- name no file. */
	if (copies && r.target.text && !r.target.guessed &&
	    strspn(r.target.text, "0123456789-") == strlen(r.target.text))
		return;
	dw_shell_place(s, part, &r.line, &r.column);
	list = one_more(s, s->shell->redirects, s->shell->n_redirects, sizeof(*list));
	if (!list)
		return;
	s->shell->redirects = list;
	list[s->shell->n_redirects++] = r;
}

/* The text of a here-document, if nothing in it is expanded. */
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

/* What a command before us in a pipe prints, where that is plain. */
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
	if (!dw_text_is(tree, name, "echo") && !dw_text_is(tree, name, "printf"))
		return word;
	for (uint32_t c = dw_next_named(tree, name); c; c = dw_next_named(tree, c)) {
		size_t len;

		if (dw_part(tree, c)->field != DW_F_ARGUMENT)
			continue;
		arg = dw_shell_word(s, c);
		if (!arg.text)
			return word;
		if (arg.text[0] == '-' || strcmp(arg.text, "%s") == 0 ||
		    strcmp(arg.text, "%s\\n") == 0)
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
	/* cat <<EOF | sh: the pipe stands inside the redirection. */
	up = dw_part(tree, up)->parent;
	if (dw_kind(tree, up) == DW_K_HEREDOC_REDIRECT)
		return heredoc(s, up);
	return (struct dw_shell_word){0};
}

/* Commands. */

/*
 * A backslash at the end of a line glues it to the next; to the grammar it is a blank.
 * Is there nothing else between the two?
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
		              "which command this is cannot be told");
	dw_shell_add(s, part, words, n, flags, NULL);
}

static void add_command(struct dw_script *s, uint32_t part)
{
	const struct dw_tree *tree = &s->tree;
	uint32_t name = dw_child_of(tree, part, DW_K_COMMAND_NAME);
	struct dw_shell_word *words;
	size_t n, count = 1;
	uint32_t flags = 0, last = name, from = part;

	/* ((x < 3)) is none, whatever the grammar says of it. */
	if (!name || (dw_child_of(tree, name, DW_K_ARITHMETIC_EXPANSION) &&
	              tree->code[dw_part(tree, name)->start] == '('))
		return;
	for (uint32_t c = dw_child_named(tree, part); c; c = dw_next_named(tree, c))
		count++;
	/* A word may become several. */
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
		/* A line that begins with a backslash is no longer this command's. */
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

/* Part of a redirection as 3<>FILE, which the grammar does not know. */
static bool is_read_write(const struct dw_tree *tree, uint32_t part)
{
	uint32_t up = dw_part(tree, part)->parent;

	return dw_kind(tree, up) == DW_K_FILE_REDIRECT && opens_both(tree, up) &&
	       (dw_text_is(tree, part, "<") || dw_text_is(tree, part, ">"));
}

/* A substitution in a stretch of text, which the grammar has not seen as one. */
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
 * In quotes and in here-documents, whatever is not one of their parts must be plain
 * text. The grammar does not see a substitution behind the tabs of <<-.
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
	/* A word with a line's end in it: a boundary that the grammar did not see. */
	if (dw_kind(tree, part) == DW_K_WORD)
		for (uint32_t i = dw_part(tree, part)->start + 1;
		     i < dw_part(tree, part)->end; i++)
			hidden = hidden ||
			         (tree->code[i] == '\n' && tree->code[i - 1] != '\\');
	if (hidden)
		dw_shell_note(s, part, DW_SHELL_DOUBT,
		              "there is a command in this text that we cannot make out");
}

/* for PATH in ... */
static void check_name(struct dw_script *s, uint32_t part, uint32_t name)
{
	size_t len;
	const char *text = name ? dw_text(&s->tree, name, &len) : NULL;

	if (text && dw_shell_decides(text, len))
		dw_shell_note(s, part, DW_SHELL_ENVIRONMENT,
		              "%.*s decides which programs run", (int)len, text);
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

static void read_parts(struct dw_script *s)
{
	const struct dw_tree *tree = &s->tree;

	if (!takes_back(tree))
		find_functions(s);
	for (uint32_t i = 0; i<tree->n_parts && * s->fuel> 0; i++) {
		--*s->fuel;
		if (dw_kind(tree, i) == DW_K_VARIABLE_ASSIGNMENT)
			add_variable(s, i);
	}
	for (uint32_t i = 0; i<tree->n_parts && * s->fuel> 0; i++) {
		const struct dw_part *p = dw_part(tree, i);

		--*s->fuel;
		if ((p->flags & (DW_PART_ERROR | DW_PART_MISSING)) &&
		    !is_read_write(tree, i))
			dw_shell_note(s, i, DW_SHELL_SYNTAX,
			              "this is no shell that we understand");
		if (!(p->flags & DW_PART_NAMED))
			continue;
		switch (dw_kind(tree, i)) {
		case DW_K_COMMAND:
			add_command(s, i);
			break;
		case DW_K_FILE_REDIRECT:
			add_redirect(s, i);
			break;
		case DW_K_FOR_STATEMENT:
			check_name(s, i, dw_child_in(tree, i, DW_F_VARIABLE));
			break;
		case DW_K_EXPANSION:
			check_expansion(s, i);
			break;
		case DW_K_STRING:
		case DW_K_HEREDOC_BODY:
		case DW_K_WORD:
			check_text(s, i);
			break;
		case DW_K_FUNCTION_DEFINITION:
			check_bomb(s, i);
			break;
		case DW_K_WHILE_STATEMENT:
		case DW_K_C_STYLE_FOR_STATEMENT:
			check_loop(s, i);
			break;
		default:
			break;
		}
	}
}

static int read_script(struct dw_script *s, const char *code, size_t len,
                       struct dw_error *err)
{
	int r = dw_tree_parse(&s->tree, "bash", code, len, DW_ANALYSE_TIMEOUT_MS, err);

	if (r < 0)
		return -1;
	if (r == DW_PARSE_WHOLE)
		read_parts(s);
	else
		*s->fuel = 0;
	free(s->variables);
	free(s->functions);
	dw_tree_finish(&s->tree);
	return 0;
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

	if (code.guessed)
		dw_shell_note(s, part, DW_SHELL_DOUBT,
		              "what %s is given may be something else", via);
	if (inner.inner > DW_SHELL_INNER_MAX) {
		dw_shell_note(s, part, DW_SHELL_DOUBT,
		              "scripts inside scripts are read %u deep, and no further",
		              DW_SHELL_INNER_MAX);
		return;
	}
	/* A parser is made and thrown away for each. */
	if (*s->fuel < 256) {
		*s->fuel = 0;
		return;
	}
	*s->fuel -= 256;
	dw_shell_place(s, part, &inner.line, &inner.column);
	inner.via = dw_shell_keep(s, via, strlen(via));
	if (read_script(&inner, code.text, strlen(code.text), &err) < 0)
		*s->no_memory = true;
}

/* Said without asking the bounds that were met. */
static int add_bound(struct dw_shell *shell)
{
	struct dw_shell_note *list = realloc(shell->notes,
	                                     (shell->n_notes + 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	shell->notes = list;
	list[shell->n_notes++] = (struct dw_shell_note){
		.remark = DW_SHELL_BOUND,
		.text = "this script is too much for us: it was not looked at in full",
		.line = 1,
		.column = 1,
	};
	return 0;
}

/* Parsed, if there is a tree; else the code is parsed. */
static int read_all(struct dw_shell *shell, const struct dw_tree *tree, const char *code,
                    size_t len, struct dw_error *err)
{
	uint64_t fuel = FUEL;
	bool no_memory = false;
	struct dw_script script = {.shell = shell,
	                           .fuel = &fuel,
	                           .no_memory = &no_memory};
	int r = 0;

	*shell = (struct dw_shell){0};
	if (tree) {
		script.tree = *tree;
		read_parts(&script);
		free(script.variables);
		free(script.functions);
	} else if (len > DW_ANALYSE_CODE_MAX) {
		fuel = 0;
	} else {
		r = read_script(&script, code, len, err);
	}
	if (r == 0 && fuel == 0 && add_bound(shell) < 0)
		no_memory = true;
	if (r == 0 && no_memory)
		r = dw_fail(err, DW_E_INTERNAL, ENOMEM, "read a shell script");
	if (r < 0)
		dw_shell_finish(shell);
	return r;
}

int dw_shell_read(struct dw_shell *shell, const char *code, size_t len,
                  struct dw_error *err)
{
	return read_all(shell, NULL, code, len, err);
}

int dw_shell_read_tree(struct dw_shell *shell, const struct dw_tree *tree,
                       struct dw_error *err)
{
	return read_all(shell, tree, NULL, 0, err);
}
