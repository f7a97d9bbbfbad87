/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "cli/command.h"
#include "cli/report.h"

#define ROUNDS 300
#define ROUNDS_QUICK 20
#define ROUNDS_MAX 10000

#define NAMES                                                                  \
	"bare-python cold-command cold fork standby bare-data data bare-node " \
	"javascript throughput burst held memory leftovers bare-docker docker docker-warm"

struct settings {
	const char *only;
	uint64_t rounds;
	bool quick;
	bool json;
	const char *svg;
};

#define FIELD(name) offsetof(struct settings, name)

static const struct dw_option what_options[] = {
	{
		.name = "only",
		.arg = "NAME,...",
		.help = "Measure these rows only, and what they are compared with",
		.take = dw_take_text,
		.field = FIELD(only),
		.fits = DW_FITS_WORDS,
		.words = NAMES,
	},
	{
		.name = "rounds",
		.arg = "N",
		.help = "Run each method so often (300)",
		.take = dw_take_count,
		.field = FIELD(rounds),
	},
	{
		.name = "quick",
		.help = "Be done in half a minute: few rounds, and no leftovers",
		.take = dw_take_flag,
		.field = FIELD(quick),
	},
	{0},
};

static const struct dw_option output_options[] = {
	{
		.name = "json",
		.help = "Print the rows as JSON",
		.take = dw_take_flag,
		.field = FIELD(json),
	},
	{
		.name = "svg",
		.arg = "FILE",
		.help = "Draw them into a file, too",
		.take = dw_take_text,
		.field = FIELD(svg),
		.fits = DW_FITS_FILE,
	},
	{0},
};

static const struct dw_option_group what = {"What to measure", what_options};
static const struct dw_option_group output = {"Output", output_options};

static void (*const measures[])(struct dw_bench *b) = {
	dw_bench_latency, dw_bench_throughput, dw_bench_burst,  dw_bench_held,
	dw_bench_memory,  dw_bench_leftovers,  dw_bench_docker,
};

/* ---- signals: a handler has no other way to reach them ---- */

static volatile sig_atomic_t caught;
static volatile sig_atomic_t cancel_fd = -1;

static void on_ending(int sig)
{
	caught = sig;
	dw_fd_signal(cancel_fd);
}

static void catch_signals(void)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction act = {.sa_handler = on_ending, .sa_flags = SA_RESTART};
	struct sigaction old;

	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			(void)sigaction(ending[i], &act, NULL);
}

/* ---- the command ---- */

static bool is_in(const char *list, const char *word, size_t len)
{
	size_t n;

	for (; *list != '\0'; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (n == len && strncmp(list, word, n) == 0)
			return true;
	}
	return false;
}

static int check_only(const char *only, struct dw_error *err)
{
	size_t n;

	for (const char *p = only; p && *p != '\0'; p += n + (p[n] == ',')) {
		n = strcspn(p, ",");
		if (!is_in(NAMES, p, n))
			return dw_fail(err, DW_E_INVALID, 0,
			               "--only: there is no row \"%.*s\"; there are %s",
			               (int)(n < 32 ? n : 32), p, NAMES);
	}
	if (only && *only == '\0')
		return dw_fail(err, DW_E_INVALID, 0, "--only needs a name; there are %s",
		               NAMES);
	return 0;
}

static int parse(const struct dw_command *cmd, int argc, char **argv,
                 struct settings *set, struct dw_error *err)
{
	struct dw_parsed parsed = {0};
	int r = dw_options_parse(cmd, argc, argv, set, &parsed, err);

	if (r == 0 && parsed.n_operands > 0)
		r = dw_fail(err, DW_E_INVALID, 0,
		            "\"%s\" is too much; see `dewar bench --help`",
		            parsed.operands[0]);
	dw_parsed_finish(&parsed);
	if (r == 0 && set->rounds > ROUNDS_MAX)
		r = dw_fail(err, DW_E_INVALID, 0, "--rounds: no more than %d",
		            ROUNDS_MAX);
	return r == 0 ? check_only(set->only, err) : r;
}

static int prepare(const struct settings *set, struct dw_bench *b, struct dw_error *err)
{
	ssize_t n = readlink("/proc/self/exe", b->self, sizeof(b->self) - 1);

	if (n < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "find our own program");
	dw_bench_host(&b->host);
	b->only = set->only;
	b->quick = set->quick;
	b->rounds_given = set->rounds > 0;
	b->rounds = set->rounds > 0 ? set->rounds : set->quick ? ROUNDS_QUICK : ROUNDS;
	b->progress = dw_report_colour(STDERR_FILENO);
	b->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (b->cancel_fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "make an eventfd");
	cancel_fd = b->cancel_fd;
	catch_signals();
	return 0;
}

static int show(const struct dw_bench *b, const struct settings *set, int svg)
{
	struct dw_error err = {0};

	if (svg >= 0 && dw_bench_write_svg(b, svg, &err) < 0)
		return dw_report_error(&err, set->json);
	if (set->json)
		return dw_bench_print_json(b);
	dw_bench_print(b);
	return dw_report_flush();
}

static int bench(const struct dw_command *cmd, int argc, char **argv)
{
	struct dw_bench b = {.cancel_fd = -1};
	struct settings set = {0};
	struct dw_error err = {0};
	autoclose int svg = -1;
	int r;

	r = parse(cmd, argc, argv, &set, &err);
	if (r > 0)
		return dw_report_flush();
	/* Before we measure: nobody wants to hear it after minutes. */
	if (r == 0 && set.svg) {
		svg = open(set.svg, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		if (svg < 0)
			r = dw_fail(&err, DW_E_INVALID, errno, "write %s", set.svg);
	}
	if (r == 0)
		r = prepare(&set, &b, &err);
	if (r < 0)
		return dw_report_error(&err, dw_options_want_json(argc, argv));

	for (size_t i = 0; i < ARRAY_SIZE(measures) && !caught; i++)
		measures[i](&b);
	dw_bench_say(&b, "%s", "");
	r = caught ? 128 + caught : show(&b, &set, svg);
	(void)close(b.cancel_fd);
	return r;
}

const struct dw_command dw_command_bench = {
	.name = "bench",
	.summary = "Measure how fast cells are here, beside bare commands",
	.usage = {"[--only NAME,...] [--rounds N] [--quick] [--json] [--svg FILE]"},
	.example = {"dewar bench", "dewar bench --quick --only standby,fork",
                    "dewar bench --svg bench.svg"},
	.groups = {&what, &output},
	.fits = DW_FITS_NOTHING,
	.run = bench,
};
