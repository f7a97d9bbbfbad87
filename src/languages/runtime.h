/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LANGUAGES_RUNTIME_H
#define DW_LANGUAGES_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A language: how its code becomes a command in a cell. Each is an entry of the table in
 * table.c.
 *
 * The code goes into a file in the working folder of the cell. The command is
 *
 *	command[0] command[1] ... the request's args
 *
 * where the word "%f" stands for the path of the code file and "%d" for its folder, and
 * command[0] is searched in DW_RUNTIME_PATH inside the root of the cell. Languages that
 * need several steps, such as compile and run, use a constant script for /bin/sh with
 * file and folder as its arguments: strings from the caller are never inserted into a
 * script.
 */

#define DW_RUNTIME_PATH "/usr/local/bin:/usr/bin:/bin"

struct dw_runtime {
	const char *name;
	const char *aliases[6];    /* other names, ends in NULL */
	const char *extensions[6]; /* of files, with the dot, ends in NULL */
	const char *shebangs[4];   /* names in a #! line: "python3" */
	const char *file;          /* the name of the code file: "main.py" */
	bool executable;           /* the code file itself is the program */
	const char *command[12];   /* ends in NULL */
	const char *needs[4];      /* required programs; the first one reports the
	                            * version; ends in NULL */
	const char *version[3];    /* its arguments to report it: {"--version"} */
	const char *package;       /* the Debian packages to install */
	const char *env[8];        /* "NAME=VALUE", ends in NULL; "%d" as above, if it
	                            * is the whole value */
	const char *opening[2];    /* if code lacks the first, the second is prepended */
	bool alone;                /* needs no programs but command[0] and `needs` */
	const char *hooked[8];     /* the command with the import hook, "%h", which
	                            * enforces a list of modules; empty: not supported */
	const char *prelude;       /* runs before the code, or NULL */
	const char *library_env;   /* variable with folders to import from, or NULL;
	                            * set to /work if there is a workspace */
};

/* By name or alias, case-insensitive; NULL if unknown. */
const struct dw_runtime *dw_runtime_find(const char *name);

/* All languages, in the order of display. */
const struct dw_runtime *dw_runtime_table(size_t *ret_count);

/*
 * The source of the import hook, which enforces a list of allowed modules, and the name
 * of its file; NULL if the language has no hook. The hook reads the list from the
 * environment variable DW_RUNTIME_MODULES.
 */
#define DW_RUNTIME_MODULES "DEWAR_MODULES"
const char *dw_runtime_hook(const struct dw_runtime *runtime, const char **ret_file,
                            size_t *ret_len);

/* The string to prepend to the code in its file, or "". */
const char *dw_runtime_opening(const struct dw_runtime *runtime, const char *code,
                               size_t len);

/*
 * Search a program below the root root_fd, in folders separated by colons. ret gets its
 * path inside that root. Returns 0, -ENOENT or -ENAMETOOLONG.
 */
int dw_runtime_locate(int root_fd, const char *search, const char *program, char *ret,
                      size_t size);

/*
 * The first required program that is missing below root_fd, or NULL.
 */
const char *dw_runtime_missing(const struct dw_runtime *runtime, int root_fd,
                               const char *search);

/* ---- what is installed: installed.c ---- */

struct dw_language;

/*
 * Like dw_language_get(), but path and version stay empty: a run need not wait for an
 * interpreter to report its version. Returns 0, or -1 if there is no such index.
 */
int dw_language_peek(size_t index, struct dw_language *ret);

/*
 * Run a program of the host, read its stdout and stderr for at most wait_ms, then kill
 * it. argv[0] is its path. Returns 0 or -errno.
 */
int dw_program_ask(char *const *argv, uint64_t wait_ms, char *text, size_t size);

#endif
