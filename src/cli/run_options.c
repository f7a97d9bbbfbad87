/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run_options.h"
#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "base/values.h"
#include "cli/input.h"
#include "dewar/dewar.h"
#include "request/limits.h"
#include "request/request.h"

#define FIELD(member) offsetof(struct dw_run_settings, member)

int dw_take_level(const char *value, void *field, struct dw_error *err)
{
	if (dw_level_check(NULL, value, err) < 0)
		return -1;
	*(const char **)field = value;
	return 0;
}

static const char *const warm_words[] = {"standby", "fork", NULL};

static const struct dw_option walls_options[] = {
	DW_OPTION("level", "LEVEL,...", dw_take_level, FIELD(level),
                  "Isolation level; of several, the first that works on this host",
                  .fits = DW_FITS_LEVEL, .env = {"DEWAR_LEVEL", "CODE_EXEC_SANDBOX"}),
	DW_OPTION("image", "DIR|NAME", dw_take_text, FIELD(image),
                  "Root file system instead of the host's /usr; at level docker, an image",
                  .fits = DW_FITS_FOLDER),
	DW_OPTION("runtime", "NAME", dw_take_text, FIELD(runtime),
                  "At level docker, the engine's OCI runtime: runsc, kata, crun, ..."),
	DW_OPTION("pull", "WHEN", NULL, FIELD(pull),
                  "At level docker, when to pull the image: never, missing or always",
                  .fits = DW_FITS_WORDS, .words = dw_pull_words),
	DW_OPTION("network", "none|full", NULL, FIELD(network),
                  "Network access: none or full (default none)", .fits = DW_FITS_WORDS,
                  .words = dw_network_words, .env = {"DEWAR_NETWORK"}),
	DW_OPTION_FLAG("strict", FIELD(strict),
                       "Refuse to run unless the kernel enforces every limit"),
	DW_OPTION("warm", "standby|fork", dw_take_text, FIELD(warm),
                  "Prepare a warm cell first, as the daemon does, and run in it",
                  .fits = DW_FITS_WORDS, .words = warm_words, .env = {"DEWAR_WARM"}),
	DW_OPTION("template", "NAME", dw_take_text, FIELD(template),
                  "With --warm: the template, such as python-data"),
	DW_OPTION("allow-commands", "NAMES", dw_take_string, FIELD(commands),
                  "The only programs that the cell can start: ls,cat,grep"),
	{0},
};

const struct dw_option_group dw_run_options_walls_group = {"Walls", walls_options};

static const struct dw_option modules_options[] = {
	DW_OPTION("allow-modules", "NAMES", dw_take_string, FIELD(modules),
                  "The only modules that the code can import: json,math"),
	{0},
};

const struct dw_option_group dw_run_options_modules_group = {NULL, modules_options};

static const struct dw_option limits_options[] = {
#define DW_LIMIT(id, member, kind, opt, variable, key, scale, unit, normal, least, most, \
                 proof, word, fallback, what)                                            \
	{                                                                                \
		.name = (opt),                                                           \
		.arg = DW_LIMIT_ARG_##kind,                                              \
		.help = what DW_LIMIT_FORMS_##kind " (default " fallback ")",            \
		.take = dw_take_limit_##id,                                              \
		.field = FIELD(limits.member),                                           \
		.env = {variable},                                                       \
	},
#include "dewar/limits.def"
	{0},
};

const struct dw_option_group dw_run_options_limits_group = {"Limits", limits_options};

static const struct dw_option files_options[] = {
	DW_OPTION("workspace", "DIR", dw_take_text, FIELD(workspace),
                  "Mount this folder read-only at /work, and start there",
                  .fits = DW_FITS_FOLDER),
	DW_OPTION("writable", "PATH", dw_take_string, FIELD(writable),
                  "Let the program write to this path of the host", .fits = DW_FITS_FILE),
	DW_OPTION("file", "[NAME=]PATH", dw_take_string, FIELD(files),
                  "Copy this file into the cell's /tmp", .fits = DW_FITS_FILE),
	DW_OPTION("collect", "PATTERN", dw_take_string, FIELD(collect),
                  "Return the files in the cell's /tmp that match"),
	DW_OPTION("env", "NAME[=VALUE]", dw_take_string, FIELD(env),
                  "Set a variable; without a value, pass on the current one"),
	DW_OPTION("stdin", "TEXT", dw_take_text, FIELD(input),
                  "Use this text as the program's standard input"),
	{0},
};

const struct dw_option_group dw_run_options_files_group = {"Files and input",
                                                           files_options};

static const struct dw_option output_options[] = {
	DW_OPTION_FLAG("json", FIELD(json),
                       "Print the whole result as JSON and nothing else"),
	DW_OPTION_FLAG("text", FIELD(text), "Print the result as text for a model"),
	DW_OPTION("into", "DIR", dw_take_text, FIELD(into),
                  "Write collected files to this folder (default: the current one)",
                  .fits = DW_FITS_FOLDER),
	DW_OPTION_FLAG("walls", FIELD(walls),
                       "Print the walls of the run to stderr, even if it is not a terminal"),
	DW_OPTION_FLAG("quiet", FIELD(quiet),
                       "Print nothing of dewar's own to stderr, except errors"),
	DW_OPTION("policy", "NAME|FILE", dw_take_text, FIELD(policy),
                  "Policy: a profile or file (default /etc/dewar/policy.yaml, else open)",
                  .fits = DW_FITS_FILE, .env = {"DEWAR_POLICY"}),
	DW_OPTION("approvals", "DIR|FILE", dw_take_text, FIELD(approvals),
                  "State folder with the approvals (as in `dewar approve --state`)",
                  .fits = DW_FITS_FILE, .env = {"DEWAR_APPROVALS"}),
	DW_OPTION("audit", "FILE", dw_take_text, FIELD(audit),
                  "Record the run in this file (default ~/.local/state/dewar/audit.db)",
                  .fits = DW_FITS_FILE, .env = {"DEWAR_AUDIT"}),
	DW_OPTION_FLAG("no-audit", FIELD(no_audit), "Run without an audit record"),
	{0},
};

const struct dw_option_group dw_run_options_output_group = {"Output", output_options};

void dw_run_settings_finish(struct dw_run_settings *set)
{
	dw_strings_finish(&set->writable);
	dw_strings_finish(&set->env);
	dw_strings_finish(&set->files);
	dw_strings_finish(&set->collect);
	dw_strings_finish(&set->commands);
	dw_strings_finish(&set->modules);
}

void dw_run_options_init(struct dw_run_options *job)
{
	*job = (struct dw_run_options){0};
	dw_request_init(&job->req);
}

void dw_run_options_finish(struct dw_run_options *job)
{
	char **p;

	for (p = job->owned; p && *p; p++)
		free(*p);
	free(job->owned);
	free(job->env);
	free(job->files);
	free(job->code);
	dw_request_finish(&job->req);
	dw_run_options_init(job);
}

/* Allocate the arrays that fill_env(), fill_files() and fill_names() fill. */
static int make_room(struct dw_run_options *job, size_t n_env, size_t n_files,
                     struct dw_error *err)
{
	job->env = calloc(n_env + 1, sizeof(*job->env));
	job->files = calloc(n_files + 1, sizeof(*job->files));
	job->owned = calloc(n_env + 2 * n_files + 3, sizeof(*job->owned));
	if (!job->env || !job->files || !job->owned)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot build the request");
	return 0;
}

static int fill_env(struct dw_run_options *job, const struct dw_strings *env,
                    size_t *owned, struct dw_error *err)
{
	const char *text, *value;
	char *name;
	size_t i, len;

	for (i = 0; i < env->n; i++) {
		text = env->list[i];
		len = strcspn(text, "=");
		if (len == 0)
			return dw_fail(err, DW_E_INVALID, 0, "--env: \"%s\" has no name",
			               text);

		name = strndup(text, len);
		if (!name)
			return dw_fail(err, DW_E_INTERNAL, ENOMEM,
			               "cannot build the request");
		job->owned[(*owned)++] = name;

		value = text[len] == '=' ? text + len + 1 : getenv(name);
		if (!value)
			return dw_fail(err, DW_E_INVALID, 0, "--env: %s is not set here",
			               name);
		job->env[i] = (struct dw_env){.name = name, .value = value};
	}
	job->req.env = job->env;
	job->req.n_env = env->n;
	return 0;
}

static int fill_files(struct dw_run_options *job, const struct dw_strings *files,
                      size_t *owned, struct dw_error *err)
{
	const char *path, *equals;
	size_t total = 0;
	size_t i, len;
	char *name, *data;

	for (i = 0; i < files->n; i++) {
		path = files->list[i];
		equals = strchr(path, '=');
		if (equals) {
			name = strndup(path, (size_t)(equals - path));
			path = equals + 1;
		} else {
			name = strdup(basename(path));
		}
		if (!name)
			return dw_fail(err, DW_E_INTERNAL, ENOMEM,
			               "cannot build the request");
		job->owned[(*owned)++] = name;

		/* "-" can only mean a file of that name here, not standard input. */
		if (strcmp(path, "-") == 0)
			path = "./-";
		if (dw_input_read(path, DW_INPUT_FILE_MAX, &data, &len, err) < 0)
			return dw_wrap(err, "--file");
		job->owned[(*owned)++] = data;

		if (!dw_path_is_plain(name))
			return dw_fail(err, DW_E_INVALID, 0,
			               "--file: \"%s\" is not a name below the cell's /tmp",
			               name);
		total += len;
		if (total > DW_INPUT_FILES_MAX)
			return dw_fail(err, DW_E_INVALID, 0,
			               "--file: all files together must be at most %zu "
			               "MiB",
			               DW_INPUT_FILES_MAX >> 20);
		job->files[i] = (struct dw_file_in){.name = name, .content = {data, len}};
	}
	job->req.files = job->files;
	job->req.n_files = files->n;
	return 0;
}

/* Separators of names; no name contains one. */
#define BETWEEN ", \t"

/*
 * Split names, given as "a,b" in one option or in several options, into a list that ends
 * in NULL, in one allocation. Blanks and empty names are dropped, so "" yields an empty
 * list. Returns NULL if no option was given (errno is 0), or if memory runs out (errno is
 * ENOMEM).
 */
static const char **split_names(const struct dw_strings *given)
{
	size_t names = 1, bytes = 0, n = 0;
	const char **list;
	char *to;

	errno = 0;
	if (given->n == 0)
		return NULL;
	for (size_t i = 0; i < given->n; i++) {
		/* After each name, there is a separator or the end of the string. */
		names += strlen(given->list[i]) / 2 + 1;
		bytes += strlen(given->list[i]) + 1;
	}
	list = calloc(1, names * sizeof(*list) + bytes);
	if (!list)
		return NULL;
	to = (char *)(list + names);
	for (size_t i = 0; i < given->n; i++) {
		const char *p = given->list[i] + strspn(given->list[i], BETWEEN);

		while (*p != '\0') {
			size_t len = strcspn(p, BETWEEN);

			list[n++] = memcpy(to, p, len);
			to += len + 1;
			p += len + strspn(p + len, BETWEEN);
		}
	}
	return list;
}

static int fill_names(struct dw_run_options *job, const struct dw_strings *given,
                      size_t *owned, const char *const **ret, struct dw_error *err)
{
	const char **list = split_names(given);

	if (!list && errno == ENOMEM)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot build the request");
	if (list)
		job->owned[(*owned)++] = (char *)list;
	*ret = list;
	return 0;
}

int dw_run_options_fill(struct dw_run_options *job, const struct dw_run_settings *set,
                        struct dw_error *err)
{
	struct dw_request *req = &job->req;
	size_t owned = 0;

	if (make_room(job, set->env.n, set->files.n, err) < 0)
		return -1;
	if (fill_env(job, &set->env, &owned, err) < 0)
		return -1;
	if (fill_files(job, &set->files, &owned, err) < 0)
		return -1;
	if (fill_names(job, &set->commands, &owned, &req->allowed_commands, err) < 0 ||
	    fill_names(job, &set->modules, &owned, &req->allowed_modules, err) < 0)
		return -1;

	req->level = set->level;
	req->image = set->image;
	req->runtime = set->runtime;
	req->pull = set->pull;
	req->limits = set->limits;
	req->network = set->network;
	req->strict = set->strict;
	req->template = set->template;
	req->workspace = set->workspace;
	req->writable = set->writable.list;
	req->n_writable = set->writable.n;
	req->collect = set->collect.list;
	req->n_collect = set->collect.n;
	if (set->input)
		req->stdin_data = (struct dw_bytes){set->input, strlen(set->input)};
	else
		req->stdin_fd = STDIN_FILENO;
	return 0;
}

int dw_run_options_load(struct dw_run_options *job, const char *path,
                        const struct dw_run_settings *set, struct dw_error *err)
{
	autofree char *text = NULL;
	size_t len;

	if (dw_input_read(path, DW_INPUT_REQUEST_MAX, &text, &len, err) < 0)
		return dw_wrap(err, "--request");
	if (dw_request_from_json(&job->req, text, len, err) < 0)
		return dw_wrap(err, "--request");

	/*
	 * Do not set the network: in a request, none looks like an omitted value, and an
	 * environment variable must not grant a network that a request refuses.
	 */
	if (!job->req.level)
		job->req.level = set->level;
	dw_limits_fill(&job->req.limits, &set->limits);
	return 0;
}
