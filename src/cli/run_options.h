/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_RUN_OPTIONS_H
#define DW_CLI_RUN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/options.h"
#include "dewar/request.h"

/*
 * The options of `run` and `exec` that describe a cell, and the request that is built
 * from them.
 */

/* The values of the options below. Start from {0}. */
struct dw_run_settings {
	const char *level;
	const char *image;
	const char *runtime;
	enum dw_pull pull;
	struct dw_limits limits;
	enum dw_network network;
	bool strict;
	const char *warm; /* "standby" or "fork"; NULL: a cold start */
	const char *template;

	const char *workspace;
	struct dw_strings writable;
	struct dw_strings env;
	struct dw_strings files;
	struct dw_strings collect;
	struct dw_strings commands; /* comma-separated programs that may start */
	struct dw_strings modules;  /* comma-separated modules for import */
	const char *input; /* --stdin; NULL: the program reads dewar's standard input */

	const char *into;
	bool json;
	bool text;
	bool walls;
	bool quiet;
	const char *policy;    /* a profile or a file; NULL: the host's, or open */
	const char *approvals; /* a folder or the file; NULL: the daemon's folder */
	const char *audit;     /* the file to record the run in; NULL: the caller's own */
	bool no_audit;
};

void dw_run_settings_finish(struct dw_run_settings *set);

/*
 * For these groups, struct dw_run_settings must be the first member of the command's
 * settings.
 */
extern const struct dw_option_group dw_run_options_walls_group;
/*
 * Continues the group of walls, for commands that run a language: a shell has no modules.
 */
extern const struct dw_option_group dw_run_options_modules_group;
extern const struct dw_option_group dw_run_options_limits_group;
extern const struct dw_option_group dw_run_options_files_group;
extern const struct dw_option_group dw_run_options_output_group;

/*
 * Checks that a list such as "microvm,container" names known levels; the field is a const
 * char *.
 */
dw_take_fn dw_take_level;

/* A request, and the memory of the parts that were allocated for it. */
struct dw_run_options {
	struct dw_request req;
	struct dw_env *env;
	struct dw_file_in *files;
	char **owned; /* ends in NULL */
	char *code;
};

void dw_run_options_init(struct dw_run_options *job);
void dw_run_options_finish(struct dw_run_options *job);

/* Fill in the request from all settings, except what to run, which the caller sets. */
int dw_run_options_fill(struct dw_run_options *job, const struct dw_run_settings *set,
                        struct dw_error *err);

/*
 * Read the request as JSON from a file, or from standard input if path is "-". The
 * settings fill in the level and the limits if the request leaves them open.
 */
int dw_run_options_load(struct dw_run_options *job, const char *path,
                        const struct dw_run_settings *set, struct dw_error *err);

#endif
