/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LANGUAGES_RUNTIME_H
#define DW_LANGUAGES_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A language: how its code becomes a command in a cell. The whole of it is data,
 * in the table in table.c; adding a language is adding an entry there.
 *
 * The code is put into a file in the cell's working folder. The command is
 *
 *	command[0] command[1] ... the request's args
 *
 * where a word "%f" stands for the path of the code file, "%d" for the folder
 * it is in (whole words only), and command[0] is searched for on DW_RUNTIME_PATH
 * inside the cell's root. A command that needs two steps (compile, then run) is
 * a constant script for /bin/sh that gets file and folder as its arguments:
 * nothing of the caller's is ever pasted into a script.
 */

#define DW_RUNTIME_PATH "/usr/local/bin:/usr/bin:/bin"

struct dw_runtime {
	const char *name;
	const char *aliases[6];    /* other names people type, ends in NULL */
	const char *extensions[6]; /* of files, with their dot, ends in NULL */
	const char *shebangs[4];   /* names in a #! line: "python3" */
	const char *file;          /* what the code file is called: "main.py" */
	bool executable;           /* the code file itself is the program */
	const char *command[12];   /* ends in NULL */
	const char *needs[4];      /* programs that must be there; the first one is
	                            * asked for its version; ends in NULL */
	const char *version[3];    /* how to ask: {"--version"}, ends in NULL */
	const char *package;       /* Debian's packages that bring it */
	const char *env[8];        /* "NAME=VALUE", ends in NULL; "%d" as above, if it
	                            * is the whole value */
	const char *opening[2];    /* code without the first gets the second in front */
	bool alone;                /* its interpreter runs the code without starting more
	                            * programs than command[0] and needs */
	const char *hooked[8];   /* the command that holds a list of modules: "%h" is our
	                            * hook, ahead of the code; empty: it has none */
	const char *prelude;     /* what its command runs ahead of the code, or NULL */
	const char *library_env; /* variable that names folders to import from, or
	                            * NULL: set to /work where there is a workspace */
};

/* By name or alias, in any case; NULL if there is none. */
const struct dw_runtime *dw_runtime_find(const char *name);

/* All of them, in the order people want to see; *ret_count of them. */
const struct dw_runtime *dw_runtime_table(size_t *ret_count);

/*
 * The text that holds the program to a list of modules, in a file of that name; NULL
 * if the language has none. The list is in the variable DW_RUNTIME_MODULES.
 */
#define DW_RUNTIME_MODULES "DEWAR_MODULES"
const char *dw_runtime_hook(const struct dw_runtime *runtime, const char **ret_file,
                            size_t *ret_len);

/* What goes in front of this code, in its file; "" for nothing. */
const char *dw_runtime_opening(const struct dw_runtime *runtime, const char *code,
                               size_t len);

/*
 * Where a program is, below a root file system, searched for on a path of
 * folders separated by colons. The path as the cell will see it, in ret; 0, or
 * -ENOENT, or -ENAMETOOLONG.
 */
int dw_runtime_locate(int root_fd, const char *search, const char *program, char *ret,
                      size_t size);

/*
 * The first of the runtime's programs that is missing below root_fd, or NULL if
 * it has all it needs.
 */
const char *dw_runtime_missing(const struct dw_runtime *runtime, int root_fd,
                               const char *search);

#endif
