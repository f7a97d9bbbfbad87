/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/choose.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "verify/judge.h"
#include "verify/outside.h"
#include "verify/pool.h"
#include "verify/range.h"
#include "verify/traces.h"
#include "verify/witness.h"

#define LEVELS_MAX 8
#define TARGETS_MAX 16
#define EXIT_OURS 125

/*
 * What `dewar verify` asks for; only it calls us, with words of the form
 * "key=value", and it has checked them.
 */
struct settings {
	struct dw_tools tools;
	struct dw_target targets[TARGETS_MAX];
	size_t n_targets;
	const char *absent[2 * LEVELS_MAX + 1]; /* level, reason, ... */
	size_t n_absent;
	const char *only;
	const char *html;
	bool json;
	bool list;
	bool colour;
	bool progress;
};

static const char *value_of(const char *word, const char *key)
{
	size_t len = strlen(key);

	return strncmp(word, key, len) == 0 && word[len] == '=' ? word + len + 1 : NULL;
}

/* "container/standby/container, warm" */
static int read_target(struct dw_target *ret, char *text)
{
	ret->level = strsep(&text, "/");
	ret->way = strsep(&text, "/");
	ret->title = text;
	return text ? 0 : -1;
}

static int read_word(struct settings *set, char *word)
{
	const char *value;

	if ((value = value_of(word, "dewar")) != NULL)
		set->tools.dewar = value;
	else if ((value = value_of(word, "attacks")) != NULL)
		set->tools.attacks = value;
	else if ((value = value_of(word, "image")) != NULL)
		set->tools.image = value;
	else if ((value = value_of(word, "runtime")) != NULL)
		set->tools.runtime = value;
	else if (strncmp(word, "target=", 7) == 0 && set->n_targets < TARGETS_MAX)
		return read_target(&set->targets[set->n_targets++],
		                   word + strlen("target="));
	else if ((value = value_of(word, "absent")) != NULL &&
	         set->n_absent < 2 * LEVELS_MAX && strchr(value, '=') != NULL) {
		char *reason = strchr(word + strlen("absent="), '=');

		*reason = '\0';
		set->absent[set->n_absent++] = value;
		set->absent[set->n_absent++] = reason + 1;
	} else if ((value = value_of(word, "only")) != NULL)
		set->only = value;
	else if ((value = value_of(word, "html")) != NULL)
		set->html = value;
	else if (strcmp(word, "json=1") == 0)
		set->json = true;
	else if (strcmp(word, "list=1") == 0)
		set->list = true;
	else if (strcmp(word, "colour=1") == 0)
		set->colour = true;
	else if (strcmp(word, "progress=1") == 0)
		set->progress = true;
	else
		return -1;
	return 0;
}

static bool matches(const struct dw_attack *attack, const char *word)
{
	return fnmatch(word, attack->name, 0) == 0 || strcmp(word, attack->family) == 0;
}

/* only: names, patterns and families, separated by commas. */
static bool is_chosen(const struct dw_attack *attack, const char *only)
{
	char word[128];

	if (!only)
		return true;
	while (*only) {
		size_t len = strcspn(only, ",");

		(void)snprintf(word, sizeof(word), "%.*s", (int)len, only);
		if (matches(attack, word))
			return true;
		only += len + (only[len] == ',');
	}
	return false;
}

/* Each word of the choice must choose something. */
static int check_choice(const char *only, struct dw_error *err)
{
	while (only && *only) {
		size_t len = strcspn(only, ","), i = 0;
		struct dw_guess guess;
		char word[128];

		(void)snprintf(word, sizeof(word), "%.*s", (int)len, only);
		guess = (struct dw_guess){.typed = word};
		for (i = 0; i < dw_n_attacks && !matches(&dw_attacks[i], word); i++) {
			dw_guess_offer(&guess, dw_attacks[i].name);
			dw_guess_offer(&guess, dw_attacks[i].family);
		}
		if (i == dw_n_attacks) {
			(void)dw_fail(err, DW_E_INVALID, 0,
			              guess.best ? "unknown attack or family \"%s\""
			                         : "unknown attack or family \"%s\"; see "
			                           "`dewar verify --list`",
			              word);
			return dw_suggest(err, &guess, "");
		}
		only += len + (only[len] == ',');
	}
	return 0;
}

static volatile sig_atomic_t asked_to_stop;

static void on_stop(int sig)
{
	(void)sig;
	asked_to_stop = 1;
}

/* ---- progress ---- */

static void show_progress(const struct settings *set, size_t done, size_t all,
                          const char *at, const char *name)
{
	if (set->progress)
		(void)fprintf(stderr, "\r\033[K[%zu/%zu] %s: %s", done, all, at, name);
}

/* ---- the suite ---- */

struct suite {
	const struct settings *set;
	struct dw_range range;
	struct dw_outside outside;
};

/* Where an attack that works is shown to work. */
static struct dw_target control_place(const struct suite *s,
                                      const struct dw_attack *attack)
{
	if (strcmp(attack->control, "bare") == 0)
		return (struct dw_target){.level = DW_AT_BARE,
		                          .way = DW_WAY_COLD,
		                          .title = "no cell"};
	/* Root is as mighty as can be at level none already. */
	if (strcmp(attack->control, "root") == 0 && !s->range.root)
		return (struct dw_target){.level = DW_AT_ROOT,
		                          .way = DW_WAY_COLD,
		                          .title = "no cell, as root of the range"};
	return (struct dw_target){.level = "none",
	                          .way = DW_WAY_COLD,
	                          .title = "level none"};
}

static int try_at(struct suite *s, const struct dw_attack *attack,
                  const struct dw_target *at, struct dw_observed *ret,
                  struct dw_error *err)
{
	int r = dw_target_is_outside(at)
	                ? dw_outside_wait(&s->outside, ret, err)
	                : dw_attempt(attack, at, &s->range, &s->set->tools, ret, err);

	if (r < 0)
		return dw_wrap(err, "attack %s at %s", attack->name, at->title);
	return 0;
}

static int try_attack(struct suite *s, const struct dw_attack *attack, size_t done,
                      size_t all, struct dw_rows *rows, struct dw_error *err)
{
	struct dw_target control = control_place(s, attack);
	struct dw_row row = {.attack = attack, .control_at = control.title};
	struct dw_observed outcome;

	/* An engine takes its time; we try the rest meanwhile. */
	for (size_t i = 0; i < s->set->n_targets; i++)
		if (dw_target_is_outside(&s->set->targets[i]) &&
		    dw_outside_ask(&s->outside, attack, &s->set->targets[i], err) < 0)
			return -1;
	show_progress(s->set, done, all, "control", attack->name);
	if (try_at(s, attack, &control, &outcome, err) < 0)
		return -1;
	dw_judge_control(&outcome, &row);
	dw_observed_finish(&outcome);

	for (size_t i = 0; i < s->set->n_targets; i++) {
		row.target = &s->set->targets[i];
		show_progress(s->set, done, all, row.target->title, attack->name);
		if (try_at(s, attack, row.target, &outcome, err) < 0)
			return -1;
		dw_judge(&outcome, &row);
		dw_observed_finish(&outcome);
		rows->list[rows->n++] = row;
	}
	return 0;
}

static int run_suite(struct suite *s, struct dw_rows *rows, struct dw_error *err)
{
	size_t all = 0, done = 0;

	for (size_t i = 0; i < dw_n_attacks; i++)
		all += is_chosen(&dw_attacks[i], s->set->only);
	if (all == 0)
		return dw_fail(err, DW_E_INVALID, 0, "no attack was chosen");
	rows->list = calloc(all * s->set->n_targets + 1, sizeof(*rows->list));
	if (!rows->list)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "make room for the rows");
	for (size_t i = 0; i < dw_n_attacks; i++) {
		if (!is_chosen(&dw_attacks[i], s->set->only))
			continue;
		if (!asked_to_stop &&
		    try_attack(s, &dw_attacks[i], ++done, all, rows, err) == 0)
			continue;
		/* The signal may well be what made the attack fail. */
		return asked_to_stop ? dw_fail(err, DW_E_BUSY, 0, "asked to stop") : -1;
	}
	if (s->set->progress)
		(void)fputs("\r\033[K", stderr);
	return 0;
}

static int show(const struct settings *set, const struct dw_rows *rows, int html_fd,
                struct dw_error *err)
{
	if (html_fd >= 0 && dw_show_html(rows, html_fd, err) < 0)
		return dw_wrap(err, "write %s", set->html);
	if (set->json ? dw_show_json(rows) : dw_show_text(rows, set->colour))
		return dw_fail(err, DW_E_INTERNAL, errno, "write the answer");
	return 0;
}

static _Noreturn void give_up(const struct settings *set, const struct dw_error *err)
{
	if (set->progress)
		(void)fputs("\r\033[K", stderr);
	(void)fprintf(stderr, "dewar: verify: %s\n", err->text);
	if (set->json)
		dw_show_json_error(err);
	exit(EXIT_OURS);
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = on_stop};
	struct settings set = {0};
	struct suite suite = {.set = &set, .outside = {.fd = -1}};
	struct dw_rows rows = {.targets = set.targets, .absent = set.absent};
	struct dw_error err = {0};
	const char *keep[3];
	bool needs_outside = false;
	int html = -1, status;

	if (argc > 0 && strcmp(argv[0], "dewar-witness") == 0)
		dw_witness_main(argv);
	if (argc > 0 && strcmp(argv[0], DW_POOL_NAME) == 0)
		dw_pool_main(argv);
	/* What our caller left open is not part of the range. */
	(void)dw_fd_close_from(STDERR_FILENO + 1);
	for (int i = 1; i < argc; i++)
		if (read_word(&set, argv[i]) < 0) {
			(void)dw_fail(&err, DW_E_INVALID, 0, "\"%s\" is no word of ours",
			              argv[i]);
			give_up(&set, &err);
		}
	if (check_choice(set.only, &err) < 0)
		give_up(&set, &err);
	if (set.list) {
		for (size_t i = 0; i < dw_n_attacks; i++)
			if (is_chosen(&dw_attacks[i], set.only))
				(void)printf("%-44s %s\n", dw_attacks[i].name,
				             dw_attacks[i].tries);
		return fflush(stdout) == 0 ? 0 : EXIT_OURS;
	}
	if (!set.tools.dewar || !set.tools.attacks) {
		(void)dw_fail(&err, DW_E_INVALID, 0,
		              "this is started by `dewar verify`, never by hand");
		give_up(&set, &err);
	}

	/* The page may be anywhere, also where the range has something planted. */
	if (set.html) {
		html = open(set.html, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		if (html < 0) {
			(void)dw_fail(&err, DW_E_INVALID, errno, "open %s", set.html);
			give_up(&set, &err);
		}
	}
	keep[0] = set.tools.dewar;
	keep[1] = set.tools.attacks;
	keep[2] = NULL;
	for (size_t i = 0; i < set.n_targets; i++) {
		if (!dw_target_is_outside(&set.targets[i]))
			continue;
		needs_outside = true;
		set.targets[i].runtime = set.tools.runtime;
	}
	if (needs_outside && dw_outside_start(&suite.outside, &set.tools, &err) < 0)
		give_up(&set, &err);
	if (dw_range_enter(&suite.range, keep, &err) < 0)
		give_up(&set, &err);
	dw_traces_begin();
	rows.n_targets = set.n_targets;
	rows.user = suite.range.root ? "root" : "a plain user";
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
	(void)sigaction(SIGHUP, &sa, NULL);
	dw_range_take_signals();
	if (run_suite(&suite, &rows, &err) < 0 || show(&set, &rows, html, &err) < 0)
		give_up(&set, &err);
	status = dw_rows_sum(&rows, NULL).by[DW_ESCAPED] > 0 ? 1 : 0;
	free(rows.list);
	return status;
}
