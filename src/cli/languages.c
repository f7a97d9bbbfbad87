/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/report.h"
#include "dewar/dewar.h"

struct settings {
	bool json;
};

static const struct dw_option options[] = {
	{
		.name = "json",
		.help = "Print an array with all that is known of each",
		.take = dw_take_flag,
		.field = offsetof(struct settings, json),
	},
	{0},
};

static const struct dw_option_group group = {"Output", options};

static json_t *aliases_of(const struct dw_language *lang)
{
	json_t *array = json_array();
	const char *p = lang->aliases;
	size_t len;

	for (; *p != '\0'; p += len) {
		p += strspn(p, " ");
		len = strcspn(p, " ");
		if (len > 0)
			(void)json_array_append_new(array, json_stringn(p, len));
	}
	return array;
}

static int print_json(const struct dw_language *list, size_t n)
{
	json_t *array = json_array();
	const struct dw_language *lang;
	json_t *item;

	for (lang = list; lang < list + n; lang++) {
		bool there = lang->path[0] != '\0';

		item = json_pack("{s:s, s:o, s:b, s:o, s:o, s:s}", "name", lang->name,
		                 "aliases", aliases_of(lang), "available", there,
		                 "version",
		                 dw_report_string(lang->version[0] ? lang->version
		                                                   : NULL),
		                 "path", dw_report_string(there ? lang->path : NULL),
		                 "package", lang->package);
		if (json_array_append_new(array, item) < 0) {
			json_decref(array);
			return dw_report_json(NULL);
		}
	}
	return dw_report_json(array);
}

static int widest(size_t len, int width)
{
	return (int)len > width ? (int)len : width;
}

static int print_table(const struct dw_language *list, size_t n)
{
	bool colour = dw_report_colour(STDOUT_FILENO);
	const char *dim = colour ? "\033[2m" : "";
	const char *bold = colour ? "\033[1m" : "";
	const char *plain = colour ? "\033[0m" : "";
	const struct dw_language *lang;
	int names = 0;
	int versions = 1;

	for (lang = list; lang < list + n; lang++) {
		names = widest(strlen(lang->name), names);
		versions = widest(strlen(lang->version), versions);
	}

	for (lang = list; lang < list + n; lang++) {
		if (lang->path[0] != '\0')
			(void)printf("%s%-*s%s  %-*s  %s\n", bold, names, lang->name,
			             plain, versions,
			             lang->version[0] ? lang->version : "?", lang->path);
		else
			(void)printf("%s%-*s  %-*s  apt-get install %s%s\n", dim, names,
			             lang->name, versions, "-", lang->package, plain);
	}
	return dw_report_flush();
}

/* An array of them all, to be freed; NULL on failure. */
static struct dw_language *load(size_t n, struct dw_error *err)
{
	autofree struct dw_language *list = NULL;
	size_t i;

	list = calloc(n + 1, sizeof(*list));
	if (!list) {
		(void)dw_fail(err, DW_E_INTERNAL, ENOMEM, "list the languages");
		return NULL;
	}
	for (i = 0; i < n; i++)
		if (dw_language_get(i, &list[i], err) < 0)
			return NULL;
	return TAKE_PTR(list);
}

static int languages(const struct dw_command *cmd, int argc, char **argv)
{
	autofree struct dw_language *list = NULL;
	struct settings set = {0};
	struct dw_parsed parsed = {0};
	struct dw_error err = {0};
	size_t n;
	int r;

	r = dw_options_parse(cmd, argc, argv, &set, &parsed, &err);
	if (r > 0)
		return dw_report_flush();
	if (r == 0 && parsed.n_operands > 0)
		r = dw_fail(&err, DW_E_INVALID, 0,
		            "\"%s\" is too much; see `dewar languages --help`",
		            parsed.operands[0]);
	dw_parsed_finish(&parsed);
	if (r < 0)
		return dw_report_error(&err, dw_options_want_json(argc, argv));

	n = dw_language_count();
	list = load(n, &err);
	if (!list)
		return dw_report_error(&err, set.json);
	return set.json ? print_json(list, n) : print_table(list, n);
}

const struct dw_command dw_command_languages = {
	.name = "languages",
	.summary =
		"List the languages, with the version found here or the package to install",
	.usage = {"[--json]"},
	.example = {"dewar languages",
                    "dewar languages --json | jq -r '.[] | select(.available).name'"},
	.groups = {&group},
	.fits = DW_FITS_NOTHING,
	.run = languages,
};
