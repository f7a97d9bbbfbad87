/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_OPTIONS_H
#define DW_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dewar/error.h"

/*
 * Options as tables: what is parsed, what --help prints and what a shell
 * completes come from the same rows.
 *
 * Options may stand before, between and behind the operands. After "--"
 * everything is an operand. Every command has --help, without a row of its own.
 */

struct dw_command;

/* What can stand as an option's argument or as an operand. */
enum dw_fits {
	DW_FITS_ANYTHING = 0,
	DW_FITS_WORDS, /* one of those given beside it */
	DW_FITS_FILE,
	DW_FITS_FOLDER,
	DW_FITS_LEVEL,
	DW_FITS_LANGUAGE, /* or a file */
	DW_FITS_COMMAND,  /* a program or a file */
	DW_FITS_NOTHING,
	DW_FITS_COUNT
};

/*
 * Understand value and put it into the field, which is left alone on failure.
 * The value is NULL for an option without argument. If the option has words, the value
 * was found among them.
 */
typedef int dw_take_fn(const char *value, void *field, struct dw_error *err);

struct dw_option {
	const char *name; /* without its dashes */
	char letter;      /* the short form, or 0 */
	const char *arg;  /* "SIZE"; NULL if it takes none */
	const char *help; /* short enough for one line */
	dw_take_fn *take; /* NULL, with words: the field is an enum, the word's index */
	size_t field;     /* where in the command's settings it goes */
	enum dw_fits fits;
	const char *const *words; /* for DW_FITS_WORDS; ends in NULL */
	bool several;             /* the argument is a list of words, with commas */
	const char *env[2];       /* variables that set the default; the first one wins */
};

struct dw_option_group {
	const char *title;               /* NULL: the options continue the group before */
	const struct dw_option *options; /* ends in a row without name */
};

/* What an option that may be given several times collects. */
struct dw_strings {
	const char **list;
	size_t n;
};

void dw_strings_finish(struct dw_strings *strings);

dw_take_fn dw_take_flag;   /* bool */
dw_take_fn dw_take_text;   /* const char * */
dw_take_fn dw_take_string; /* struct dw_strings */
dw_take_fn dw_take_size;   /* uint64_t, bytes; not 0, as in the next */
dw_take_fn dw_take_count;  /* uint64_t */

/* A limit of a run, uint64_t: dw_take_limit_TIMEOUT, dw_take_limit_MEMORY, ... */
#define DW_LIMIT(id, ...) dw_take_fn dw_take_limit_##id;
#include "dewar/limits.def"

/* How help names the argument of a limit, and examples of it. */
#define DW_LIMIT_ARG_TIME "TIME"
#define DW_LIMIT_ARG_SIZE "SIZE"
#define DW_LIMIT_ARG_CPUS "CORES"
#define DW_LIMIT_ARG_COUNT "N"
#define DW_LIMIT_FORMS_TIME ": 500ms, 30s, 2m"
#define DW_LIMIT_FORMS_SIZE ""
#define DW_LIMIT_FORMS_CPUS ": 0.5, 50%, 2"
#define DW_LIMIT_FORMS_COUNT ""

/* The result of parsing a command line, besides its settings. Start from {0}. */
struct dw_parsed {
	const char **operands;
	size_t n_operands;
	size_t n_before; /* how many of them stood before "--" */
	uint64_t given;  /* the options that were there, by their place in the table */
};

void dw_parsed_finish(struct dw_parsed *parsed);

/*
 * Parse what follows argv[0]. 0, or 1 if help was asked for and has been
 * printed, or -1 with an error that says how to get help. Variables are read
 * for the options that were not given.
 */
int dw_options_parse(const struct dw_command *cmd, int argc, char **argv, void *settings,
                     struct dw_parsed *ret, struct dw_error *err);

/* An option that was given, is not in the group and is not called name; or NULL. */
const struct dw_option *dw_options_besides(const struct dw_command *cmd,
                                           const struct dw_parsed *parsed,
                                           const struct dw_option_group *group,
                                           const char *name);

/*
 * Returns true if the command line asks for JSON, so that an error about the rest of it
 * is printed as JSON.
 */
bool dw_options_want_json(int argc, char **argv);

/*
 * The rows of a command, --help last: the row at index, or NULL behind the end.
 * If it opens a group, *ret_title (which may be NULL) is that group's title,
 * else NULL.
 */
const struct dw_option *dw_options_row(const struct dw_command *cmd, size_t index,
                                       const char **ret_title);

#endif
