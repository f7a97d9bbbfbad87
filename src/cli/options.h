/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_OPTIONS_H
#define DW_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dewar/error.h"

/*
 * Options are rows of tables, from which the parser, --help and the shell completion are
 * made.
 *
 * Options may precede, follow or separate the operands. After "--", every argument is an
 * operand. Every command has --help, without a row in its tables.
 */

struct dw_command;

/* The kinds of values that an option's argument or an operand can have. */
enum dw_fits {
	DW_FITS_ANYTHING = 0,
	DW_FITS_WORDS, /* one of the words in the same row */
	DW_FITS_FILE,
	DW_FITS_FOLDER,
	DW_FITS_LEVEL,
	DW_FITS_LANGUAGE, /* a language or a file */
	DW_FITS_COMMAND,  /* a program or a file */
	DW_FITS_NOTHING,
	DW_FITS_COUNT
};

/*
 * Parse value and store it in the field; on failure, leave the field unchanged. value is
 * NULL for an option without an argument. If the option has words, value has been checked
 * to be one of them.
 */
typedef int dw_take_fn(const char *value, void *field, struct dw_error *err);

struct dw_option {
	const char *name; /* without its dashes */
	char letter;      /* the short form, or 0 */
	const char *arg;  /* such as "SIZE"; NULL: no argument */
	const char *help; /* short enough for one line */
	dw_take_fn *take; /* NULL, with words: the field becomes the word's index */
	size_t field;     /* the offset of the field in the command's settings */
	enum dw_fits fits;
	const char *const *words; /* for DW_FITS_WORDS; ends in NULL */
	bool several;       /* the argument is a list of words, separated by commas */
	const char *env[2]; /* variables that set the default; the first one wins */
};

struct dw_option_group {
	const char *title; /* NULL: the options continue the previous group */
	const struct dw_option *options; /* ends in a row without name */
};

/* The values of an option that may be given several times. */
struct dw_strings {
	const char **list;
	size_t n;
};

void dw_strings_finish(struct dw_strings *strings);

dw_take_fn dw_take_flag;   /* bool */
dw_take_fn dw_take_text;   /* const char * */
dw_take_fn dw_take_string; /* struct dw_strings */
dw_take_fn dw_take_size;   /* uint64_t, in bytes; 0 is refused, as by dw_take_count */
dw_take_fn dw_take_count;  /* uint64_t */

/*
 * Functions for limits, stored as uint64_t: dw_take_limit_TIMEOUT, dw_take_limit_MEMORY,
 * ...
 */
#define DW_LIMIT(id, ...) dw_take_fn dw_take_limit_##id;
#include "dewar/limits.def"

/* The name that help prints for the argument of a limit, and examples. */
#define DW_LIMIT_ARG_TIME "TIME"
#define DW_LIMIT_ARG_SIZE "SIZE"
#define DW_LIMIT_ARG_CPUS "CORES"
#define DW_LIMIT_ARG_COUNT "N"
#define DW_LIMIT_FORMS_TIME ": 500ms, 30s, 2m"
#define DW_LIMIT_FORMS_SIZE ""
#define DW_LIMIT_FORMS_CPUS ": 0.5, 50%, 2"
#define DW_LIMIT_FORMS_COUNT ""

/* The result of parsing a command line, apart from the settings. Start from {0}. */
struct dw_parsed {
	const char **operands;
	size_t n_operands;
	size_t n_before; /* the number of operands before "--" */
	uint64_t given;  /* a bit for each option that was given, by its index */
};

void dw_parsed_finish(struct dw_parsed *parsed);

/*
 * Parse the arguments after argv[0]. Environment variables apply to options that were not
 * given. Returns 0, 1 if help was requested and has been printed, or -1 with an error
 * that says how to get help.
 */
int dw_options_parse(const struct dw_command *cmd, int argc, char **argv, void *settings,
                     struct dw_parsed *ret, struct dw_error *err);

/*
 * Returns an option that was given, is not in the group and is not called name; NULL if
 * there is no such option.
 */
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
 * Returns the row of a command at index, with --help as the last one, or NULL after it.
 * If the row is the first of a group, *ret_title is the group's title, otherwise NULL.
 * ret_title may be NULL.
 */
const struct dw_option *dw_options_row(const struct dw_command *cmd, size_t index,
                                       const char **ret_title);

#endif
