/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_ANALYSIS_SHELL_H
#define DW_ANALYSIS_SHELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/analyse.h"
#include "dewar/error.h"

/*
 * Every command that a shell script would run, as far as that can be told without
 * running it: in pipes, lists, subshells, substitutions, functions, aliases and
 * traps; what xargs, find, env, sudo and the like are given to run; and what shells
 * are given as text, which is parsed in its turn.
 *
 * A command that is not known is a doubt, with its place. A caller that allows commands
 * by name must refuse doubts: a list without doubts is complete, if PATH and the files
 * that it leads to are as usual.
 */

#define DW_SHELL_COMMANDS_MAX 4096U
#define DW_SHELL_ARGS_MAX 1024U

/* A word as the command would get it. */
struct dw_shell_word {
	const char *text; /* NULL: not known */
	bool guessed;     /* it may be this: from a variable, or echo in a substitution */
	bool pattern;     /* to be expanded: a glob, a tilde */
};

enum dw_shell_flag {
	DW_SHELL_FUNCTION = 1U << 0, /* a function or alias of the script's own */
	DW_SHELL_MORE = 1U << 1,     /* gets more arguments at run time */
	DW_SHELL_CARRIED = 1U << 2,  /* another command runs it */
	DW_SHELL_CARRIER = 1U << 3,  /* runs a command that is in the list, too */
	DW_SHELL_CODE = 1U << 4,     /* is given a program as text: see code */
};

struct dw_shell_command {
	struct dw_shell_word name;
	struct dw_shell_word *args;
	size_t n_args;
	uint32_t flags;
	const char *via;  /* "xargs", "find -exec", "bash -c"; NULL if it stands there */
	const char *code; /* what python -c, node -e, ... are given; NULL if not known */
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
	DW_SHELL_SYNTAX,      /* this does not parse */
	DW_SHELL_EVAL,        /* text is run as code, which is in the list */
	DW_SHELL_SOURCE,      /* a file is run as code */
	DW_SHELL_ENVIRONMENT, /* which programs run is changed: PATH, LD_PRELOAD, ... */
	DW_SHELL_LOOP,        /* cannot end */
	DW_SHELL_BOMB,        /* a function that starts itself twice */
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
	bool changes_folder; /* cd, pushd: relative paths mean something else then */
	struct dw_arena *arena;
};

/* -1 only without memory or grammar; what is wrong with the script is in its notes. */
int dw_shell_read(struct dw_shell *shell, const char *code, size_t len,
                  struct dw_error *err);
void dw_shell_finish(struct dw_shell *shell);

/* The name without the folders that programs are usually in: "ls" for "/bin/ls". */
const char *dw_shell_plain_name(const char *name);

/*
 * What is allowed, and with which arguments.
 */
struct dw_shell_rule {
	const char *name;
	/* If there are any, the first argument must be one of them. Ends in NULL. */
	const char *first[8];
	/*
	 * Options that it must not have: "-r" also within "-fr", "--recursive" also as
	 * "--rec"; what begins otherwise, or with one dash and more than a letter, is
	 * a word. Ends in NULL.
	 */
	const char *never[12];
	/* A text that no argument may contain. Ends in NULL. */
	const char *without[6];
};

struct dw_shell_allow {
	const struct dw_shell_rule *rules; /* ends in a rule without name */
	const char *const *write_below;    /* folders, for redirections; ends in NULL */
	const char *folder;                /* where the script starts; NULL: unknown */
};

/* The default: what reads and computes, python, node and curl. */
extern const struct dw_shell_rule dw_shell_rules[];

/*
 * Programs that dw_shell_check() lets pass on any list, since it looks at what they
 * run, or they do nothing: a cell that shows only allowed programs shows these, too.
 * Ends in NULL.
 */
extern const char *const dw_shell_carriers[];

/*
 * Everything in the script that is not allowed, or that may not be:
 * command:NAME, argument:NAME, redirect:TARGET and undecided:WHAT, all of them errors.
 */
int dw_shell_check(const struct dw_shell *shell, const struct dw_shell_allow *allow,
                   struct dw_findings *ret, struct dw_error *err);

#endif
