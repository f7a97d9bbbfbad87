/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `dewar verify`: finds the levels that work, and executes dewar-verify, which creates
 * namespaces for its attacks. dewar itself never creates any.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "cli/command.h"
#include "cli/exec_helper.h"
#include "cli/print.h"
#include "cli/subcommand.h"
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

/* A way in which a cell starts, and its title in the table. */
struct way {
	const char *name;
	const char *title;   /* appended to the level's name */
	uint32_t guarantees; /* guarantees that the level must have */
	bool usual;          /* also attacked without --way */
};

static const struct way ways[] = {
	{"cold", "", 0, true},
	{"standby", ", warm", DW_G_FORK, true},
	{"fork", ", fork", DW_G_FORK, false},
};

#define ALL_WAYS "all"

static const char *const way_words[] = {"cold", "standby", "fork", ALL_WAYS, NULL};
_Static_assert(ARRAY_SIZE(way_words) == ARRAY_SIZE(ways) + 2, "each, all and the end");

static const struct dw_option what_options[] = {
	DW_OPTION("level", "LEVEL", dw_take_text, FIELD(level),
                  "Attack only this level (default: all that work here, except none)",
                  .fits = DW_FITS_LEVEL),
	DW_OPTION("runtime", "NAME", dw_take_text, FIELD(runtime),
                  "At level docker, use this OCI runtime of the engine: runsc, ..."),
	DW_OPTION("image", "NAME", dw_take_text, FIELD(image),
                  "At level docker, use this image"),
	DW_OPTION("way", "WAY", dw_take_text, FIELD(way),
                  "Attack only cells that start this way: cold, standby, fork, or all",
                  .fits = DW_FITS_WORDS, .words = way_words),
	DW_OPTION("only", "NAME,...", dw_take_text, FIELD(only),
                  "Try only these attacks: names, patterns or families, comma-separated"),
	DW_OPTION_FLAG("list", FIELD(list), "Describe each attack and run none"),
	{0},
};

static const struct dw_option output_options[] = {
	DW_OPTION_FLAG("json", FIELD(json), "Print the verdicts as JSON"),
	DW_OPTION("html", "FILE", dw_take_text, FIELD(html),
                  "Also write them to an HTML page", .fits = DW_FITS_FILE),
	{0},
};

static const struct dw_option_group what = {"What to try", what_options};
static const struct dw_option_group output = {"Output", output_options};

/*
 * Add the selected ways of the level. Returns false if the level supports none of them.
 */
static bool add_ways(struct dw_helper *helper, const char *level, const char *only)
{
	uint32_t guarantees = dw_level_guarantees(level);
	bool any = false;
	char text[96];

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		if (only ? strcmp(only, ALL_WAYS) != 0 && strcmp(only, ways[i].name) != 0
		         : !ways[i].usual)
			continue;
		if ((guarantees & ways[i].guarantees) != ways[i].guarantees)
			continue;
		(void)snprintf(text, sizeof(text), "%s/%s/%s/%s%s", level, ways[i].name,
		               guarantees & DW_G_ENGINE ? "host" : "range", level,
		               ways[i].title);
		dw_helper_add(helper, "target", text);
		any = true;
	}
	return any;
}

/* Add the levels to attack: those that work here, or the given one. */
static int add_levels(struct dw_helper *helper, const struct settings *set,
                      struct dw_error *err)
{
	const char *only = set->level;
	char reason[sizeof(err->text) + 32];
	bool any = false, known = false;

	for (const char *const *name = dw_level_names(); *name; name++) {
		if (only ? strcmp(*name, only) != 0 : dw_level_guarantees(*name) == 0)
			continue;
		if (dw_level_probe(*name, err) == 0) {
			any = add_ways(helper, *name, set->way) || any;
			known = true;
			continue;
		}
		if (only)
			return dw_wrap(err, "cannot attack level %s", only);
		(void)snprintf(reason, sizeof(reason), "%s=%s", *name, err->text);
		dw_helper_add(helper, "unavailable", reason);
		*err = (struct dw_error){0};
	}
	if (known && !any)
		return dw_fail(err, DW_E_INVALID, 0,
		               "only level container has warm cells");
	if (!any && only)
		return dw_level_check("--level", only, err);
	if (!any)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "no level works on this host; see `dewar doctor`");
	return 0;
}

static int hand_over(const void *settings, struct dw_error *err)
{
	const struct settings *set = settings;
	char attacks[512], self[512];
	struct dw_helper helper = {.n = 0};
	ssize_t n;
	int r;

	if ((set->image || set->runtime) &&
	    (!set->level || !(dw_level_guarantees(set->level) & DW_G_ENGINE)))
		return dw_fail(err, DW_E_INVALID, 0, "--%s requires --level docker",
		               set->runtime ? "runtime" : "image");
	if (set->list && set->json)
		return dw_fail(err, DW_E_INVALID, 0,
		               "--list and --json cannot be combined");
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot find the dewar program");
	self[n] = '\0';
	if (dw_program_find("dewar-attacks", NULL, attacks, sizeof(attacks), err) < 0)
		return -1;

	dw_helper_add(&helper, "", "dewar-verify");
	dw_helper_add(&helper, "dewar", self);
	dw_helper_add(&helper, "attacks", attacks);
	r = set->list ? 0 : add_levels(&helper, set, err);
	dw_helper_add(&helper, "only", set->only);
	dw_helper_add(&helper, "image", set->image);
	dw_helper_add(&helper, "runtime", set->runtime);
	dw_helper_add(&helper, "list", set->list ? "1" : NULL);
	dw_helper_add(&helper, "html", set->html);
	if (set->json)
		dw_helper_add(&helper, "json", "1");
	if (dw_report_colour(STDOUT_FILENO))
		dw_helper_add(&helper, "colour", "1");
	if (dw_report_colour(STDERR_FILENO))
		dw_helper_add(&helper, "progress", "1");
	if (r == 0)
		r = dw_helper_exec(&helper, err);
	dw_helper_finish(&helper);
	return r;
}

const struct dw_command dw_command_verify = {
	.name = "verify",
	.summary = "Attack the walls of this host and report which wall stopped what",
	.usage = {"[--level LEVEL] [--way WAY] [--only NAME,...] [--json] [--html FILE]",
                  "--level docker [--runtime NAME] [--image NAME] [...]", "--list"},
	.example = {"dewar verify", "dewar verify --level container --html walls.html",
                    "dewar verify --only 'mount-*'"},
	.groups = {&what, &output},
	.fits = DW_FITS_NOTHING,
	.act = hand_over,
	.settings_size = sizeof(struct settings),
};
