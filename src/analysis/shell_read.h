/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_ANALYSIS_SHELL_READ_H
#define DW_ANALYSIS_SHELL_READ_H

#include "analysis/reader.h"
#include "analysis/shell.h"

/* Declarations that the shell*.c files share. */

#define DW_SHELL_INNER_MAX 8U

/* Shell code that is being read: the script, or code inside it, such as that of sh -c. */
struct dw_script {
	struct dw_shell *shell;
	struct dw_tree tree;
	const struct dw_script *outer; /* NULL for the script itself */
	uint32_t inner;
	uint32_t line; /* if inner: the place of the command that runs it */
	uint32_t column;
	const char *via;

	struct dw_variable {
		const char *name;
		size_t len;
		uint32_t value; /* part; 0 if it is not followed */
		uint32_t at;
	} * variables;
	size_t n_variables;
	uint32_t *functions; /* definitions at the top level, in order */
	size_t n_functions;
	uint32_t last_line; /* how far lines were counted, to go on from there */
	uint32_t last_column;
	uint32_t last_byte;
	uint64_t *fuel; /* shared by the script and all code inside it */
	uint32_t depth;
	bool *no_memory;
};

/* Use one step of fuel; returns false if none is left. */
static inline bool dw_shell_step(struct dw_script *s)
{
	if (*s->fuel == 0)
		return false;
	--*s->fuel;
	return true;
}

/* Like dw_shell_read(), for a parsed script; tree is NULL if parsing reached a bound. */
int dw_shell_read_tree(struct dw_shell *shell, const struct dw_tree *tree,
                       struct dw_error *err);

/* dw_arena_keep() into the arena of the shell. */
static inline void *dw_shell_keep(struct dw_script *s, const void *data, size_t len)
{
	return dw_arena_keep(&s->shell->arena, data, len, _Alignof(max_align_t), s->fuel,
	                     s->no_memory);
}

void dw_shell_place(struct dw_script *s, uint32_t part, uint32_t *line, uint32_t *column);
void dw_shell_note(struct dw_script *s, uint32_t part, enum dw_shell_remark remark,
                   const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Add a note: the command that `name` runs cannot be determined. */
void dw_shell_doubt(struct dw_script *s, uint32_t part, const char *name);

/* Append to a list of the shell; false if out of memory or at the list's bound. */
#define DW_SHELL_APPEND(s, list, n, item)                     \
	({                                                    \
		bool kept_ = false;                           \
		if ((n) >= DW_SHELL_COMMANDS_MAX)             \
			*(s)->fuel = 0;                       \
		else if (!(kept_ = DW_APPEND(list, n, item))) \
			*(s)->no_memory = true;               \
		kept_;                                        \
	})

/* The script sets a variable: add a note if it decides which programs run. */
void dw_shell_sets(struct dw_script *s, uint32_t part, const char *name, size_t len);

/* The expansion of a word. */
struct dw_shell_word dw_shell_word(struct dw_script *s, uint32_t part);
/* The same, where braces or a variable may expand to several words; returns how many. */
size_t dw_shell_words(struct dw_script *s, uint32_t part, struct dw_shell_word *words,
                      size_t max);

/* Find the functions that the script surely defines. */
void dw_shell_find_functions(struct dw_script *s);
/* Add the command at the part. */
void dw_shell_add_command(struct dw_script *s, uint32_t part);
/* Add a command, and the commands that it runs in turn. The words are copied. */
void dw_shell_add(struct dw_script *s, uint32_t part, const struct dw_shell_word *words,
                  size_t n, uint32_t flags, const char *via);

/* Add the commands that this one runs; returns true if it does nothing else. */
bool dw_shell_carry(struct dw_script *s, uint32_t part, const char *name,
                    const struct dw_shell_word *words, size_t n, uint32_t flags);
/* If the command is an interpreter with a program as an argument, record the program. */
void dw_shell_take_code(struct dw_shell_command *command, const char *name,
                        const struct dw_shell_word *words, size_t n);

/* Read shell code that a command of the script runs. */
void dw_shell_inner(struct dw_script *s, uint32_t part, struct dw_shell_word code,
                    const char *via);

/* The standard input of a command, if it is written in the script; else unknown. */
struct dw_shell_word dw_shell_stdin(struct dw_script *s, uint32_t part);

void dw_shell_add_redirect(struct dw_script *s, uint32_t part);
/* Returns true for a syntax error in 3<>FILE, which the grammar does not know. */
bool dw_shell_is_read_write(const struct dw_tree *tree, uint32_t part);

#endif
