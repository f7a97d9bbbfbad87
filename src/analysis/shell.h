/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_ANALYSIS_SHELL_H
#define DW_ANALYSIS_SHELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/analyse.h"
#include "dewar/error.h"

/*
 * Finds every command that a shell script would run, as far as that is known without
 * running it: in pipes, lists, subshells, substitutions, functions, aliases and traps;
 * commands that xargs, find, env, sudo and the like run; and code that shells receive as
 * a string (sh -c), which is parsed in turn.
 *
 * If a command cannot be determined, a note reports a doubt, with its place. A caller
 * that allows commands by name must refuse scripts with doubts: without doubts, the list
 * is complete, provided that PATH and the programs in it are the usual ones.
 */

#define DW_SHELL_COMMANDS_MAX 4096U
#define DW_SHELL_ARGS_MAX 1024U

/* A word as the shell passes it to the command. */
struct dw_shell_word {
	const char *text; /* NULL: not known */
	bool guessed;     /* perhaps this: from a variable or $(echo ...) */
	bool pattern;     /* the shell expands it: a glob or a tilde */
};

enum dw_shell_flag {
	DW_SHELL_FUNCTION = 1U << 0, /* the name of a function that the script defines */
	DW_SHELL_MORE = 1U << 1,     /* the command gets more arguments at run time */
	DW_SHELL_CARRIED = 1U << 2,  /* another command runs it */
	DW_SHELL_CARRIER = 1U << 3,  /* it runs another command, which is also listed */
	DW_SHELL_CODE = 1U << 4,     /* an argument is a program: see code */
};

struct dw_shell_command {
	struct dw_shell_word name;
	struct dw_shell_word *args;
	size_t n_args;
	uint32_t flags;
	const char *via;  /* what runs it: "xargs", "bash -c"; NULL: the script itself */
	const char *code; /* the program of python -c, node -e, ...; NULL: unknown */
	uint32_t line;    /* from 1 */
	uint32_t column;  /* from 1, in characters */
};

struct dw_shell_redirect {
	struct dw_shell_word target;
	bool writes;
	uint32_t line;
	uint32_t column;
};

enum dw_shell_remark {
	DW_SHELL_DOUBT = 0,   /* the command here is not known */
	DW_SHELL_SYNTAX,      /* the shell code does not parse */
	DW_SHELL_EVAL,        /* eval runs code; its commands are listed */
	DW_SHELL_SOURCE,      /* a file is run as code */
	DW_SHELL_ENVIRONMENT, /* sets PATH, LD_PRELOAD, ...: other programs may run */
	DW_SHELL_LOOP,        /* a loop that cannot end */
	DW_SHELL_BOMB,        /* a function that calls itself twice: a fork bomb */
	DW_SHELL_BOUND,       /* a bound was reached; the rest was not read */
	DW_SHELL_REMARK_COUNT
};

struct dw_shell_note {
	enum dw_shell_remark remark;
	const char *text;
	uint32_t line;
	uint32_t column;
};

struct dw_arena;

/* Start from {0}. */
struct dw_shell {
	struct dw_shell_command *commands;
	size_t n_commands;
	struct dw_shell_redirect *redirects;
	size_t n_redirects;
	struct dw_shell_note *notes;
	size_t n_notes;
	bool changes_folder; /* there is a cd or pushd: relative paths are unknown */
	struct dw_arena *arena;
};

/* Returns -1 only if out of memory or without the grammar; notes report bad scripts. */
int dw_shell_read(struct dw_shell *shell, const char *code, size_t len,
                  struct dw_error *err);
void dw_shell_finish(struct dw_shell *shell);

/* The name without one of the usual folders of programs: "ls" for "/bin/ls". */
const char *dw_shell_plain_name(const char *name);

/*
 * An allowed command, and its allowed arguments.
 */
struct dw_shell_rule {
	const char *name;
	/* If not empty, the first argument must be one of these. Ends in NULL. */
	const char *first[8];
	/*
	 * Refused options. "-r" also matches inside "-fr", and "--recursive" also matches
	 * "--rec". Any other entry, such as "-delete", must equal the argument. Ends in
	 * NULL.
	 */
	const char *never[12];
	/* Strings that no argument may contain. Ends in NULL. */
	const char *without[6];
};

struct dw_shell_allow {
	const struct dw_shell_rule *rules; /* ends in a rule without name */
	const char *const *write_below; /* where redirections may write; ends in NULL */
	const char *folder;             /* where the script starts; NULL: unknown */
};

/* The default allow-list: commands that read or compute, python, node and curl. */
extern const struct dw_shell_rule dw_shell_rules[];

/*
 * Programs that dw_shell_check() allows with every list, because they are harmless or
 * because it checks the commands that they run. A cell that shows only allowed programs
 * also shows these. Ends in NULL.
 */
extern const char *const dw_shell_carriers[];

/*
 * Report everything in the script that is not allowed, or that cannot be decided:
 * command:NAME, argument:NAME, redirect:TARGET and undecided:WHAT, all of severity error.
 */
int dw_shell_check(const struct dw_shell *shell, const struct dw_shell_allow *allow,
                   struct dw_findings *ret, struct dw_error *err);

#endif
