/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_ANALYSIS_SHELL_READ_H
#define DW_ANALYSIS_SHELL_READ_H

#include "analysis/reader.h"
#include "analysis/shell.h"

/* What the files of the shell part share. */

#define DW_SHELL_INNER_MAX 8U

/* One text that is being read: the script, or one inside it. */
struct dw_script {
	struct dw_shell *shell;
	struct dw_tree tree;
	const struct dw_script *outer; /* NULL for the script itself */
	uint32_t inner;
	uint32_t line; /* if inner: where all of it stands */
	uint32_t column;
	const char *via;

	struct dw_variable {
		const char *name;
		size_t len;
		uint32_t value; /* part; 0 if not one that we follow */
		uint32_t at;
	} * variables;
	size_t n_variables;
	uint32_t *functions; /* definitions at the top, in order */
	size_t n_functions;
	uint32_t last_line; /* where we counted lines to, to count on from there */
	uint32_t last_column;
	uint32_t last_byte;
	uint64_t *fuel; /* of all of them together */
	uint32_t depth;
	bool *no_memory;
};

/* Take one step; returns false after too many. */
static inline bool dw_shell_step(struct dw_script *s)
{
	if (*s->fuel == 0)
		return false;
	--*s->fuel;
	return true;
}

/* As dw_shell_read(), of what was parsed already; NULL if that took too much. */
int dw_shell_read_tree(struct dw_shell *shell, const struct dw_tree *tree,
                       struct dw_error *err);

/* Kept with the shell; NULL without memory, or past the bound. */
static inline void *dw_shell_keep(struct dw_script *s, const void *data, size_t len)
{
	return dw_arena_keep(&s->shell->arena, data, len, _Alignof(max_align_t), s->fuel,
	                     s->no_memory);
}

void dw_shell_place(struct dw_script *s, uint32_t part, uint32_t *line, uint32_t *column);
void dw_shell_note(struct dw_script *s, uint32_t part, enum dw_shell_remark remark,
                   const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Note that the command run by this one cannot be determined. */
void dw_shell_doubt(struct dw_script *s, uint32_t part, const char *name);

/* Append to a list of the shell; false without memory, or past the bound. */
#define DW_SHELL_APPEND(s, list, n, item)                     \
	({                                                    \
		bool kept_ = false;                           \
		if ((n) >= DW_SHELL_COMMANDS_MAX)             \
			*(s)->fuel = 0;                       \
		else if (!(kept_ = DW_APPEND(list, n, item))) \
			*(s)->no_memory = true;               \
		kept_;                                        \
	})

/* A variable is set: noted, if it decides which programs run. */
void dw_shell_sets(struct dw_script *s, uint32_t part, const char *name, size_t len);

/* The expansion of a word. */
struct dw_shell_word dw_shell_word(struct dw_script *s, uint32_t part);
/* The same, and one word for each where braces or a variable make several of it. */
size_t dw_shell_words(struct dw_script *s, uint32_t part, struct dw_shell_word *words,
                      size_t max);

/* Find the functions that the script surely has. */
void dw_shell_find_functions(struct dw_script *s);
/* Add the command that stands there. */
void dw_shell_add_command(struct dw_script *s, uint32_t part);
/* Add a command, and what it runs in its turn. The words are copied. */
void dw_shell_add(struct dw_script *s, uint32_t part, const struct dw_shell_word *words,
                  size_t n, uint32_t flags, const char *via);

/* Add what the command runs; returns false unless that is all that it does. */
bool dw_shell_carry(struct dw_script *s, uint32_t part, const char *name,
                    const struct dw_shell_word *words, size_t n, uint32_t flags);
/* The program that an interpreter is given as text. */
void dw_shell_take_code(struct dw_shell_command *command, const char *name,
                        const struct dw_shell_word *words, size_t n);

/* Read a text that a command of the script runs. */
void dw_shell_inner(struct dw_script *s, uint32_t part, struct dw_shell_word code,
                    const char *via);

/* What a command gets on its standard input, if that stands in the script. */
struct dw_shell_word dw_shell_stdin(struct dw_script *s, uint32_t part);

void dw_shell_add_redirect(struct dw_script *s, uint32_t part);
/* Part of a redirection as 3<>FILE, which the grammar does not know. */
bool dw_shell_is_read_write(const struct dw_tree *tree, uint32_t part);

#endif
