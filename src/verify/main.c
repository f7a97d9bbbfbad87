/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/values.h"
#include "verify/verify_own.h"

#define LEVELS_MAX 8
#define TARGETS_MAX 16
#define EXIT_OURS 125

const struct dw_attack dw_attacks[] = {
#include "attacks_table.h"
};
const size_t dw_n_attacks = ARRAY_SIZE(dw_attacks);

/* ---- settings: words of the form "key=value", which `dewar verify` has checked ---- */

struct settings {
	struct dw_tools tools;
	struct dw_target targets[TARGETS_MAX];
	size_t n_targets;
	const char *unavailable[2 * LEVELS_MAX + 1]; /* level, reason, ... */
	size_t n_unavailable;
	const char *only;
	const char *html;
	const char *json, *list, *colour, *progress; /* "1" or NULL */
};

/*
 * Parse a target such as "container/standby/range/container, warm". The third part
 * is "host" if an engine creates the cells.
 */
static int read_target(struct settings *set, char *text)
{
	struct dw_target *target = &set->targets[set->n_targets];
	const char *place;

	if (set->n_targets == TARGETS_MAX)
		return -1;
	target->level = strsep(&text, "/");
	target->way = strsep(&text, "/");
	place = strsep(&text, "/");
	target->title = text;
	set->n_targets++;
	if (!text)
		return -1;
	target->on_host = strcmp(place, "host") == 0;
	return 0;
}

/* Parse the reason why a level is unavailable, such as "docker=no engine answers". */
static int read_unavailable(struct settings *set, char *text)
{
	const char *level = strsep(&text, "=");

	if (!text || set->n_unavailable == 2 * LEVELS_MAX)
		return -1;
	set->unavailable[set->n_unavailable++] = level;
	set->unavailable[set->n_unavailable++] = text;
	return 0;
}

static int read_word(struct settings *set, char *word)
{
	const struct {
		const char *key;
		const char **value;
	} keys[] = {
		{"dewar", &set->tools.dewar}, {"attacks", &set->tools.attacks},
		{"image", &set->tools.image}, {"runtime", &set->tools.runtime},
		{"only", &set->only},         {"html", &set->html},
		{"json", &set->json},         {"list", &set->list},
		{"colour", &set->colour},     {"progress", &set->progress},
	};
	const char *key = strsep(&word, "=");

	if (!word)
		return -1;
	if (strcmp(key, "target") == 0)
		return read_target(set, word);
	if (strcmp(key, "unavailable") == 0)
		return read_unavailable(set, word);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (strcmp(key, keys[i].key) == 0) {
			*keys[i].value = word;
			return 0;
		}
	return -1;
}

/* ---- the selection: names, patterns and families, separated by commas ---- */

static bool matches(const struct dw_attack *attack, const char *word)
{
	return fnmatch(word, attack->name, 0) == 0 || strcmp(word, attack->family) == 0;
}

/* Copy the next word of the list to ret. Returns the rest of the list. */
static const char *next_word(const char *list, char ret[static 128])
{
	size_t len = strcspn(list, ",");

	(void)snprintf(ret, 128, "%.*s", (int)len, list);
	return list + len + (list[len] == ',');
}

static bool is_selected(const struct dw_attack *attack, const char *only)
{
	bool selected = !only;
	char word[128];

	while (!selected && *only) {
		only = next_word(only, word);
		selected = matches(attack, word);
	}
	return selected;
}

static size_t count_selected(const char *only)
{
	size_t n = 0;

	for (size_t i = 0; i < dw_n_attacks; i++)
		n += is_selected(&dw_attacks[i], only);
	return n;
}

/* Fail if a word selects no attack. */
static int check_selection(const char *only, struct dw_error *err)
{
	while (only && *only) {
		struct dw_guess guess;
		char word[128];

		only = next_word(only, word);
		if (count_selected(word) > 0)
			continue;
		guess = (struct dw_guess){.typed = word};
		for (size_t i = 0; i < dw_n_attacks; i++) {
			dw_guess_offer(&guess, dw_attacks[i].name);
			dw_guess_offer(&guess, dw_attacks[i].family);
		}
		(void)dw_fail(err, DW_E_INVALID, 0,
		              guess.best ? "unknown attack or family \"%s\""
		                         : "unknown attack or family \"%s\"; see `dewar "
		                           "verify --list`",
		              word);
		return dw_suggest(err, &guess, "");
	}
	return 0;
}

static int list_attacks(const char *only)
{
	for (size_t i = 0; i < dw_n_attacks; i++)
		if (is_selected(&dw_attacks[i], only))
			(void)printf("%-44s %s\n", dw_attacks[i].name,
			             dw_attacks[i].tries);
	return fflush(stdout) == 0 ? 0 : EXIT_OURS;
}

/* ---- the suite ---- */

struct suite {
	const struct settings *set;
	struct dw_range range;
	int worker_fd; /* the socket of the worker on the host, or -1 */
};

static volatile sig_atomic_t asked_to_stop;

static void on_stop(int sig)
{
	(void)sig;
	asked_to_stop = 1;
}

static void show_progress(const struct settings *set, size_t done, size_t all,
                          const char *at, const char *name)
{
	if (set->progress)
		(void)fprintf(stderr, "\r\033[K[%zu/%zu] %s: %s", done, all, at, name);
}

static void clear_progress(const struct settings *set)
{
	if (set->progress)
		(void)fputs("\r\033[K", stderr);
}

/* Returns the target without walls, at which the attack must succeed. */
static struct dw_target control_target(const struct suite *s,
                                       const struct dw_attack *attack)
{
	struct dw_target at = {.level = DW_AT_NONE,
	                       .way = DW_WAY_COLD,
	                       .title = "level " DW_AT_NONE};

	if (strcmp(attack->control, "bare") == 0) {
		at.level = DW_AT_BARE;
		at.title = "no cell";
	}
	/* As root, level none already has all capabilities. */
	if (strcmp(attack->control, "root") == 0 && !s->range.root) {
		at.level = DW_AT_ROOT;
		at.title = "no cell, as root of the range";
	}
	return at;
}

static int try_at(struct suite *s, const struct dw_attack *attack,
                  const struct dw_target *at, struct dw_observation *ret,
                  struct dw_error *err)
{
	int r = at->on_host ? dw_host_worker_receive(s->worker_fd, ret, err)
	                    : dw_attempt(attack, at, &s->range, &s->set->tools, ret, err);

	if (r < 0)
		return dw_wrap(err, "attack %s at %s", attack->name, at->title);
	return 0;
}

static int try_attack(struct suite *s, const struct dw_attack *attack, size_t done,
                      size_t all, struct dw_rows *rows, struct dw_error *err)
{
	struct dw_target control = control_target(s, attack);
	struct dw_row row = {.attack = attack, .control_at = control.title};
	struct dw_observation outcome;

	/*
	 * An engine is slow: the worker runs the attack there while we try the other
	 * targets.
	 */
	for (size_t i = 0; i < s->set->n_targets; i++)
		if (s->set->targets[i].on_host &&
		    dw_host_worker_send(s->worker_fd, attack, &s->set->targets[i], err) <
		            0)
			return -1;
	show_progress(s->set, done, all, "control", attack->name);
	if (try_at(s, attack, &control, &outcome, err) < 0)
		return -1;
	dw_judge_control(&outcome, &row);
	dw_observation_finish(&outcome);

	for (size_t i = 0; i < s->set->n_targets; i++) {
		row.target = &s->set->targets[i];
		show_progress(s->set, done, all, row.target->title, attack->name);
		if (try_at(s, attack, row.target, &outcome, err) < 0)
			return -1;
		dw_judge(&outcome, &row);
		dw_observation_finish(&outcome);
		rows->list[rows->n++] = row;
	}
	return 0;
}

static int run_suite(struct suite *s, struct dw_rows *rows, struct dw_error *err)
{
	size_t all = count_selected(s->set->only), done = 0;

	if (all == 0)
		return dw_fail(err, DW_E_INVALID, 0, "no attack was selected");
	rows->list = calloc(all * s->set->n_targets + 1, sizeof(*rows->list));
	if (!rows->list)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot allocate the rows");
	for (size_t i = 0; i < dw_n_attacks; i++) {
		if (!is_selected(&dw_attacks[i], s->set->only))
			continue;
		if (!asked_to_stop &&
		    try_attack(s, &dw_attacks[i], ++done, all, rows, err) == 0)
			continue;
		/* The attack may have failed because of the signal. */
		return asked_to_stop ? dw_fail(err, DW_E_BUSY, 0, "stopped by a signal")
		                     : -1;
	}
	clear_progress(s->set);
	return 0;
}

static int show(const struct settings *set, const struct dw_rows *rows, int html_fd,
                struct dw_error *err)
{
	if (html_fd >= 0 && dw_show_html(rows, html_fd, err) < 0)
		return dw_wrap(err, "cannot write %s", set->html);
	if (set->json ? dw_show_json(rows) : dw_show_text(rows, set->colour))
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot write the answer");
	return 0;
}

/* Start the worker if a target needs it, and enter the range. */
static int enter(struct suite *s, struct settings *set, struct dw_error *err)
{
	struct sigaction sa = {.sa_handler = on_stop};
	bool on_host = false;

	for (size_t i = 0; i < set->n_targets; i++) {
		if (!set->targets[i].on_host)
			continue;
		on_host = true;
		set->targets[i].runtime = set->tools.runtime;
	}
	if (on_host && dw_host_worker_start(&set->tools, &s->worker_fd, err) < 0)
		return -1;
	if (dw_range_enter(&s->range, &set->tools, err) < 0)
		return -1;
	dw_snapshot_init();
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
	(void)sigaction(SIGHUP, &sa, NULL);
	dw_range_take_signals();
	return 0;
}

/* Returns the exit status, or -1 with an error. */
static int verify(struct settings *set, struct dw_error *err)
{
	struct suite suite = {.set = set, .worker_fd = -1};
	struct dw_rows rows = {.targets = set->targets,
	                       .n_targets = set->n_targets,
	                       .unavailable = set->unavailable};
	int html = -1, r;

	if (check_selection(set->only, err) < 0)
		return -1;
	if (set->list)
		return list_attacks(set->only);
	if (!set->tools.dewar || !set->tools.attacks)
		return dw_fail(err, DW_E_INVALID, 0,
		               "dewar-verify is not meant to be started directly; use "
		               "`dewar verify`");
	/* Open the page before the range covers its folder. */
	if (set->html) {
		html = open(set->html, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		if (html < 0)
			return dw_fail(err, DW_E_INVALID, errno, "cannot open %s",
			               set->html);
	}
	if (enter(&suite, set, err) < 0)
		return -1;
	rows.user = suite.range.root ? "root" : "a plain user";
	r = run_suite(&suite, &rows, err);
	if (r == 0)
		r = show(set, &rows, html, err);
	if (r == 0)
		r = dw_rows_sum(&rows, NULL).by[DW_ESCAPED] > 0 ? 1 : 0;
	free(rows.list);
	return r;
}

int main(int argc, char **argv)
{
	struct settings set = {0};
	struct dw_error err = {0};
	int r = 0;

	if (argc > 0 && strcmp(argv[0], DW_WITNESS_NAME) == 0)
		dw_witness_main(argv);
	if (argc > 0 && strcmp(argv[0], DW_WARM_PAIR_NAME) == 0)
		dw_warm_pair_main(argv);
	/* The range must not inherit descriptors of the caller. */
	(void)dw_fd_close_from(STDERR_FILENO + 1);
	for (int i = 1; i < argc && r == 0; i++)
		if (read_word(&set, argv[i]) < 0)
			r = dw_fail(&err, DW_E_INVALID, 0, "unexpected argument \"%s\"",
			            argv[i]);
	if (r == 0)
		r = verify(&set, &err);
	if (r >= 0)
		return r;
	clear_progress(&set);
	(void)fprintf(stderr, "dewar: verify: %s\n", err.text);
	if (set.json)
		dw_show_json_error(&err);
	return EXIT_OURS;
}
