/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/subcommand.h"
#include "dewar/dewar.h"

struct settings {
	bool json;
};

static const struct dw_option options[] = {
	DW_OPTION_FLAG("json", offsetof(struct settings, json),
                       "Print a JSON array with all details"),
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

static json_t *language_json(const struct dw_language *lang)
{
	bool found = lang->path[0] != '\0';

	return json_pack("{s:s, s:o, s:b, s:o, s:o, s:s}", "name", lang->name, "aliases",
	                 aliases_of(lang), "available", found, "version",
	                 dw_report_string(lang->version[0] ? lang->version : NULL),
	                 "path", dw_report_string(found ? lang->path : NULL), "package",
	                 lang->package);
}

static int print_json(const struct dw_language *list, size_t n)
{
	autolisting struct dw_listing listing = dw_listing_start(true);

	for (size_t i = 0; i < n && !listing.failed; i++)
		(void)dw_listing_add(&listing, language_json(&list[i]));
	return dw_listing_report(&listing);
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

static int list_languages(const void *settings, struct dw_error *err)
{
	const struct settings *set = settings;
	size_t n = dw_language_count();
	autofree struct dw_language *list = calloc(n + 1, sizeof(*list));

	if (!list)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot list the languages");
	for (size_t i = 0; i < n; i++)
		if (dw_language_get(i, &list[i], err) < 0)
			return -1;
	return set->json ? print_json(list, n) : print_table(list, n);
}

const struct dw_command dw_command_languages = {
	.name = "languages",
	.summary =
		"List the languages, with the installed version or the package to install",
	.usage = {"[--json]"},
	.example = {"dewar languages",
                    "dewar languages --json | jq -r '.[] | select(.available).name'"},
	.groups = {&group},
	.fits = DW_FITS_NOTHING,
	.act = list_languages,
	.settings_size = sizeof(struct settings),
};
