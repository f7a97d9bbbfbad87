/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `dewar bench`: executes dewar-bench. The options are parsed here, because help and
 * completion are generated from their table.
 */
#include <stdio.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/exec_helper.h"

#define ROUNDS_MAX 10000

static const char *const row_words[] = {
	"bare-python", "cold-command", "cold",      "fork",       "standby",
	"bare-data",   "data",         "bare-node", "javascript", "throughput",
	"burst",       "held",         "memory",    "leftovers",  "bare-docker",
	"docker",      "docker-warm",  NULL,
};

struct settings {
	const char *only;
	uint64_t rounds;
	bool quick;
	bool json;
	const char *svg;
};

#define FIELD(name) offsetof(struct settings, name)

static int take_rounds(const char *value, void *field, struct dw_error *err)
{
	uint64_t n = 0;

	if (dw_take_count(value, &n, err) < 0)
		return -1;
	if (n > ROUNDS_MAX)
		return dw_fail(err, DW_E_INVALID, 0, "must be at most %d", ROUNDS_MAX);
	*(uint64_t *)field = n;
	return 0;
}

static const struct dw_option what_options[] = {
	DW_OPTION("only", "NAME,...", dw_take_text, FIELD(only),
                  "Measure only these rows, and the rows they are compared with",
                  .fits = DW_FITS_WORDS, .words = row_words, .several = true),
	DW_OPTION("rounds", "N", take_rounds, FIELD(rounds),
                  "Run each method N times (default 300)"),
	DW_OPTION_FLAG("quick", FIELD(quick),
                       "Take half a minute: 20 rounds, without the row leftovers"),
	{0},
};

static const struct dw_option output_options[] = {
	DW_OPTION_FLAG("json", FIELD(json), "Print the rows as JSON"),
	DW_OPTION("svg", "FILE", dw_take_text, FIELD(svg),
                  "Also write the rows to an SVG chart", .fits = DW_FITS_FILE),
	{0},
};

static const struct dw_option_group what = {"What to measure", what_options};
static const struct dw_option_group output = {"Output", output_options};

static void fill(struct dw_helper *helper, const void *settings)
{
	const struct settings *set = settings;
	char self[512], rounds[24];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	(void)snprintf(rounds, sizeof(rounds), "%llu", (unsigned long long)set->rounds);
	dw_helper_add(helper, "dewar", self);
	dw_helper_add(helper, "only", set->only);
	dw_helper_add(helper, "rounds", rounds);
	dw_helper_add(helper, "quick", set->quick ? "1" : NULL);
	dw_helper_add(helper, "json", set->json ? "1" : NULL);
	dw_helper_add(helper, "svg", set->svg);
}

static int bench(const struct dw_command *cmd, int argc, char **argv)
{
	struct settings set = {0};

	return dw_helper_command(cmd, argc, argv, "dewar-bench", &set, fill);
}

const struct dw_command dw_command_bench = {
	.name = "bench",
	.summary = "Measure the speed of cells on this host, compared with bare commands",
	.usage = {"[--only NAME,...] [--rounds N] [--quick] [--json] [--svg FILE]"},
	.example = {"dewar bench", "dewar bench --quick --only standby,fork",
                    "dewar bench --svg bench.svg"},
	.groups = {&what, &output},
	.fits = DW_FITS_NOTHING,
	.run = bench,
};
