/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_COMMAND_H
#define DW_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/options.h"

/*
 * A command has one file and one entry, which main.c lists. Its help, its line in
 * `dewar --help` and the completion scripts are generated from the entry.
 */

#define DW_COMMAND_LINES 8
#define DW_COMMAND_GROUPS 7

/* A row of an option table. Further members, such as .fits, may follow the help. */
#define DW_OPTION(name_, arg_, take_, field_, help_, ...)                 \
	{                                                                 \
		.name = name_, .arg = arg_, .help = help_, .take = take_, \
		.field = field_, ##__VA_ARGS__                            \
	}
#define DW_OPTION_FLAG(name_, field_, help_) \
	DW_OPTION(name_, NULL, dw_take_flag, field_, help_)

struct dw_command {
	const char *name;
	const char *summary;                   /* one sentence, without a full stop */
	const char *usage[DW_COMMAND_LINES];   /* follows "dewar NAME"; ends in NULL */
	const char *example[DW_COMMAND_LINES]; /* whole command lines; ends in NULL */
	const struct dw_option_group *groups[DW_COMMAND_GROUPS]; /* ends in NULL */
	bool passes_args;  /* arguments after -- are for a program in the cell */
	enum dw_fits fits; /* what the operands can be, unless they are subcommands */
	const char *const *words; /* for DW_FITS_WORDS; ends in NULL */

	/*
	 * A command has one of these three. run() gets all arguments (argv[0] is the
	 * command's name) and returns the exit status. act() is for a command without
	 * operands: it gets the settings that the options filled in, and returns the exit
	 * status, or -1 with an error. A command may have run() as well as subcommands;
	 * its run() then calls dw_command_act().
	 */
	int (*run)(const struct dw_command *cmd, int argc, char **argv);
	int (*act)(const void *settings, struct dw_error *err);
	const struct dw_subcommand *subcommands;
	size_t settings_size; /* for act() and subcommands */
};

/* Run the command. Returns the exit status. */
int dw_command_main(const struct dw_command *cmd, int argc, char **argv);

/* Call act(), or the act() of the subcommand that the operands name. */
int dw_command_act(const struct dw_command *cmd, const struct dw_parsed *parsed,
                   const void *settings, struct dw_error *err);

extern const struct dw_command dw_command_run;
extern const struct dw_command dw_command_exec;
extern const struct dw_command dw_command_check;
extern const struct dw_command dw_command_policy;
extern const struct dw_command dw_command_keys;
extern const struct dw_command dw_command_approve;
extern const struct dw_command dw_command_languages;
extern const struct dw_command dw_command_audit;
extern const struct dw_command dw_command_serve;
extern const struct dw_command dw_command_mcp;
extern const struct dw_command dw_command_tool_schema;
extern const struct dw_command dw_command_doctor;
extern const struct dw_command dw_command_verify;
extern const struct dw_command dw_command_bench;
extern const struct dw_command dw_command_completion;
extern const struct dw_command dw_command_version;

/* All commands, in the order of `dewar --help`; ends in NULL. */
extern const struct dw_command *const dw_commands[];

#endif
