/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/advice.h"
#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/print.h"

#define EXIT_FOUND 1
#define DEFAULT_LIST "default"

struct settings {
	const char *code;
	const char *modules;
	const char *commands;
	const char *folders;
	bool json;
	bool sarif;
};

#define FIELD(name) offsetof(struct settings, name)

static const struct dw_option what_options[] = {
	DW_OPTION("code", "CODE", dw_take_text, FIELD(code),
                  "Check this code instead of a file", .letter = 'c'),
	DW_OPTION("allow-modules", "NAME,...", dw_take_text, FIELD(modules),
                  "Report imports of any other module"),
	DW_OPTION("allow-commands", "NAME,...", dw_take_text, FIELD(commands),
                  "Shell: report any other command (`default`: a built-in list)"),
	DW_OPTION("write-below", "FOLDER,...", dw_take_text, FIELD(folders),
                  "With --allow-commands: allow redirections to these folders"),
	{0},
};

static const struct dw_option output_options[] = {
	DW_OPTION_FLAG("json", FIELD(json), "Print the findings as a JSON array"),
	DW_OPTION_FLAG("sarif", FIELD(sarif),
                       "Print the findings as SARIF, for code hosts and editors"),
	{0},
};

static const struct dw_option_group what = {"What to check", what_options};
static const struct dw_option_group output = {"Output", output_options};

/* Split the names at the commas. The array and its strings are one allocation. */
static const char **split(const char *text)
{
	size_t n = 2, len = strlen(text) + 1;
	const char **list;
	char *copy, *save = NULL;

	for (const char *p = text; *p != '\0'; p++)
		n += *p == ',';
	list = malloc(n * sizeof(*list) + len);
	if (!list)
		return NULL;
	copy = (char *)(list + n);
	memcpy(copy, text, len);
	n = 0;
	for (char *word = strtok_r(copy, ",", &save); word;
	     word = strtok_r(NULL, ",", &save))
		list[n++] = word;
	list[n] = NULL;
	return list;
}

static int analyse(const struct settings *set, const char *language, const char *code,
                   size_t len, struct dw_findings *findings, struct dw_error *err)
{
	autofree const char **modules = NULL;
	autofree const char **commands = NULL;
	autofree const char **folders = NULL;
	struct dw_analyse_options options = {0};

	if ((set->modules && !(modules = split(set->modules))) ||
	    (set->commands && !(commands = split(set->commands))) ||
	    (set->folders && !(folders = split(set->folders))))
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot check the code");
	options.allowed_modules = modules;
	if (dw_analyse(language, code, len, &options, findings, err) < 0)
		return -1;
	if (!set->commands)
		return 0;
	return dw_advice_commands(code, len,
	                          strcmp(set->commands, DEFAULT_LIST) == 0 ? NULL
	                                                                   : commands,
	                          folders, findings, err);
}

static int print_lines(const struct dw_findings *findings, const char *file)
{
	bool colour = dw_report_colour(STDOUT_FILENO);
	static const char *const colours[] = {"\033[2m", "\033[33m", "\033[31m"};
	int r;

	for (size_t i = 0; i < findings->n; i++) {
		const struct dw_finding *f = &findings->list[i];

		(void)printf("%s:%u:%u: %s%s%s: %s [%s]\n", file, f->line, f->column,
		             colour ? colours[f->severity] : "",
		             dw_severity_name(f->severity), colour ? "\033[0m" : "",
		             f->message, f->rule);
	}
	r = dw_report_flush();
	if (findings->n > 0)
		dw_report_line("%zu finding%s. Advice only: code can hide what it does, "
		               "and only the walls isolate it",
		               findings->n, findings->n == 1 ? "" : "s");
	return r;
}

static int check_operands(const struct settings *set, const struct dw_parsed *parsed,
                          struct dw_error *err)
{
	size_t wanted = set->code ? 1 : 2;

	if (parsed->n_operands < wanted)
		return dw_fail(err, DW_E_INVALID, 0,
		               "no %s given; see `dewar check --help`",
		               parsed->n_operands == 0 ? "language" : "file");
	if (parsed->n_operands > wanted)
		return dw_fail(err, DW_E_INVALID, 0,
		               "unexpected argument \"%s\"; see `dewar check --help`",
		               parsed->operands[wanted]);
	if (set->commands &&
	    dw_analyse_find(parsed->operands[0]) != dw_analyse_find("bash"))
		return dw_fail(err, DW_E_INVALID, 0,
		               "--allow-commands is for shell scripts");
	if (set->modules &&
	    dw_analyse_find(parsed->operands[0]) == dw_analyse_find("bash"))
		return dw_fail(err, DW_E_INVALID, 0,
		               "--allow-modules is not for shell scripts");
	if (set->folders && !set->commands)
		return dw_fail(err, DW_E_INVALID, 0,
		               "--write-below needs --allow-commands");
	if (set->json && set->sarif)
		return dw_fail(err, DW_E_INVALID, 0,
		               "--json and --sarif cannot be combined");
	return 0;
}

static int check(const struct dw_command *cmd, int argc, char **argv)
{
	struct settings set = {0};
	struct dw_parsed parsed = {0};
	struct dw_findings findings = {0};
	struct dw_error err = {0};
	autofree char *read = NULL;
	const char *file = "-";
	size_t len = 0;
	int r;

	r = dw_options_parse(cmd, argc, argv, &set, &parsed, &err);
	if (r > 0)
		return dw_report_flush();
	if (r == 0)
		r = check_operands(&set, &parsed, &err);
	if (r == 0 && !set.code) {
		file = parsed.operands[1];
		r = dw_input_read(file, DW_INPUT_CODE_MAX, &read, &len, &err);
	} else if (r == 0) {
		len = strlen(set.code);
	}
	if (r == 0)
		r = analyse(&set, parsed.operands[0], set.code ? set.code : read, len,
		            &findings, &err);
	dw_parsed_finish(&parsed);
	if (r < 0) {
		dw_findings_finish(&findings);
		return dw_report_error(&err, dw_options_want_json(argc, argv));
	}
	if (set.sarif)
		r = dw_report_json(dw_advice_sarif(&findings, file));
	else
		r = set.json ? dw_report_json(dw_advice_json(&findings))
		             : print_lines(&findings, file);
	if (r == 0 && findings.n > 0)
		r = EXIT_FOUND;
	dw_findings_finish(&findings);
	return r;
}

const struct dw_command dw_command_check = {
	.name = "check",
	.summary = "Analyse code without running it, and report what it tries to use",
	.usage = {"LANGUAGE FILE|- [OPTIONS]", "LANGUAGE -c CODE [OPTIONS]"},
	.example = {"dewar check python script.py",
                    "dewar check python --allow-modules math,numpy --json script.py",
                    "dewar check bash --allow-commands default -c 'ls | xargs rm'"},
	.groups = {&what, &output},
	.fits = DW_FITS_LANGUAGE,
	.run = check,
};
