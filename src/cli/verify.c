/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar verify: find out which levels there are, and hand over to dewar-verify,
 * which makes namespaces to attack in. We never do.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/program.h"
#include "cli/command.h"
#include "cli/exec_helper.h"
#include "cli/report.h"
#include "dewar/dewar.h"

struct settings {
	const char *level;
	const char *runtime;
	const char *way;
	const char *only;
	const char *html;
	const char *image;
	bool list;
	bool json;
};

#define FIELD(name) offsetof(struct settings, name)

/* How a cell comes to be, and what it is called in the table. */
struct way {
	const char *name;
	const char *title; /* behind the level's name */
	bool usual;        /* without --way */
};

static const struct way ways[] = {
	{"cold", "", true},
	{"standby", ", warm", true},
	{"fork", ", fork", false},
};

#define ALL_WAYS "all"
#define WARM_LEVEL "container" /* no other has warm cells */
#define ENGINE_LEVEL "docker"  /* no other has images and runtimes */

static int take_way(const char *value, void *field, struct dw_error *err)
{
	bool known = strcmp(value, ALL_WAYS) == 0;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		known = known || strcmp(value, ways[i].name) == 0;
	if (!known)
		return dw_fail(err, DW_E_INVALID, 0,
		               "no way \"%.64s\", there are cold, standby, fork and all",
		               value);
	return dw_take_text(value, field, err);
}

static const struct dw_option what_options[] = {
	{
		.name = "level",
		.arg = "LEVEL",
		.help = "Attack this level only, and not all that this host has",
		.take = dw_take_text,
		.field = FIELD(level),
		.fits = DW_FITS_LEVEL,
	},
	{
		.name = "runtime",
		.arg = "NAME",
		.help = "At level docker, attack this runtime of the engine's: runsc, ...",
		.take = dw_take_text,
		.field = FIELD(runtime),
	},
	{
		.name = "image",
		.arg = "NAME",
		.help = "At level docker, attack from this image, not the languages' own",
		.take = dw_take_text,
		.field = FIELD(image),
	},
	{
		.name = "way",
		.arg = "WAY",
		.help = "Attack cells made this way only: cold, standby, fork, or all",
		.take = take_way,
		.field = FIELD(way),
	},
	{
		.name = "only",
		.arg = "NAME,...",
		.help = "Try these attacks only: names, patterns or families, with commas",
		.take = dw_take_text,
		.field = FIELD(only),
	},
	{
		.name = "list",
		.help = "Say what each attack tries, and try nothing",
		.take = dw_take_flag,
		.field = FIELD(list),
	},
	{0},
};

static const struct dw_option output_options[] = {
	{
		.name = "json",
		.help = "Print the verdicts as JSON",
		.take = dw_take_flag,
		.field = FIELD(json),
	},
	{
		.name = "html",
		.arg = "FILE",
		.help = "Write them as a page for people, too",
		.take = dw_take_text,
		.field = FIELD(html),
		.fits = DW_FITS_FILE,
	},
	{0},
};

static const struct dw_option_group what = {"What to try", what_options};
static const struct dw_option_group output = {"Output", output_options};

/* Every wanted way to a cell of the level; false if there is none. */
static bool add_ways(struct dw_helper *hand, const char *level, const char *only)
{
	bool any = false;
	char text[96];

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		if (only ? strcmp(only, ALL_WAYS) != 0 && strcmp(only, ways[i].name) != 0
		         : !ways[i].usual)
			continue;
		if (i > 0 && strcmp(level, WARM_LEVEL) != 0)
			continue;
		(void)snprintf(text, sizeof(text), "%s/%s/%s%s", level, ways[i].name,
		               level, ways[i].title);
		dw_helper_add(hand, "target", text);
		any = true;
	}
	return any;
}

/* The levels to attack: those that work here, or the one that was named. */
static int add_levels(struct dw_helper *hand, const struct settings *set,
                      struct dw_error *err)
{
	const char *only = set->level;
	char reason[sizeof(err->text) + 32];
	bool any = false, known = false;

	for (const char *const *name = dw_level_names(); *name; name++) {
		if (only ? strcmp(*name, only) != 0 : dw_level_guarantees(*name) == 0)
			continue;
		if (dw_level_probe(*name, err) == 0) {
			any = add_ways(hand, *name, set->way) || any;
			known = true;
			continue;
		}
		if (only)
			return dw_wrap(err, "attack level %s", only);
		(void)snprintf(reason, sizeof(reason), "%s=%s", *name, err->text);
		dw_helper_add(hand, "absent", reason);
		*err = (struct dw_error){0};
	}
	if (known && !any)
		return dw_fail(err, DW_E_INVALID, 0,
		               "only level " WARM_LEVEL " has warm cells");
	if (!any && only)
		return dw_fail(err, DW_E_INVALID, 0,
		               "there is no level %s; see `dewar doctor`", only);
	if (!any)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "no level works on this host; see `dewar doctor`");
	return 0;
}

static int hand_over(const struct settings *set, struct dw_error *err)
{
	char attacks[512], self[512];
	struct dw_helper hand = {.n = 0};
	ssize_t n;
	int r;

	if ((set->image || set->runtime) &&
	    (!set->level || strcmp(set->level, ENGINE_LEVEL) != 0))
		return dw_fail(err, DW_E_INVALID, 0,
		               "--%s goes with --level " ENGINE_LEVEL,
		               set->runtime ? "runtime" : "image");
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "find our own program");
	self[n] = '\0';
	if (dw_program_find("dewar-attacks", NULL, attacks, sizeof(attacks), err) < 0)
		return -1;

	dw_helper_add(&hand, "", "dewar-verify");
	dw_helper_add(&hand, "dewar", self);
	dw_helper_add(&hand, "attacks", attacks);
	r = set->list ? 0 : add_levels(&hand, set, err);
	dw_helper_add(&hand, "only", set->only);
	dw_helper_add(&hand, "image", set->image);
	dw_helper_add(&hand, "runtime", set->runtime);
	dw_helper_add(&hand, "list", set->list ? "1" : NULL);
	dw_helper_add(&hand, "html", set->html);
	if (set->json)
		dw_helper_add(&hand, "json", "1");
	if (dw_report_colour(STDOUT_FILENO))
		dw_helper_add(&hand, "colour", "1");
	if (dw_report_colour(STDERR_FILENO))
		dw_helper_add(&hand, "progress", "1");
	if (r == 0)
		r = dw_helper_over(&hand, err);
	dw_helper_finish(&hand);
	return r;
}

static int verify(const struct dw_command *cmd, int argc, char **argv)
{
	struct settings set = {0};
	struct dw_parsed parsed = {0};
	struct dw_error err = {0};
	int r;

	r = dw_options_parse(cmd, argc, argv, &set, &parsed, &err);
	if (r > 0)
		return dw_report_flush();
	if (r == 0 && parsed.n_operands > 0)
		r = dw_fail(&err, DW_E_INVALID, 0,
		            "\"%s\" is too much; see `dewar verify --help`",
		            parsed.operands[0]);
	dw_parsed_finish(&parsed);
	if (r == 0)
		r = hand_over(&set, &err);
	return r < 0 ? dw_report_error(&err, dw_options_want_json(argc, argv)) : 0;
}

const struct dw_command dw_command_verify = {
	.name = "verify",
	.summary = "Attack the walls of this host, and say which wall stopped what",
	.usage = {"[--level LEVEL] [--way WAY] [--only NAME,...] [--json] [--html FILE]",
                  "--list"},
	.example = {"dewar verify", "dewar verify --level container --html walls.html",
                    "dewar verify --only 'mount-*'"},
	.groups = {&what, &output},
	.fits = DW_FITS_NOTHING,
	.run = verify,
};
