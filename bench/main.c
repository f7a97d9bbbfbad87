/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dewar-bench: the program behind `dewar bench`, which checks the options and passes
 * them as words of the form "key=value".
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "bench/bench.h"
#include "cli/print.h"

#define ROUNDS 300
#define ROUNDS_QUICK 20

static void (*const measures[])(struct dw_bench *b) = {
	dw_bench_latency, dw_bench_throughput, dw_bench_burst,  dw_bench_held,
	dw_bench_memory,  dw_bench_leftovers,  dw_bench_docker,
};

/* ---- signals: globals, because a handler takes no argument ---- */

static volatile sig_atomic_t caught;
static volatile sig_atomic_t cancel_fd = -1;

static void on_signal(int sig)
{
	caught = sig;
	dw_fd_signal(cancel_fd);
}

static void catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	struct sigaction old;

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			(void)sigaction(signals[i], &act, NULL);
}

/* ---- settings ---- */

static const char *value_of(char *const *words, const char *key)
{
	size_t len = strlen(key);

	for (; *words; words++)
		if (strncmp(*words, key, len) == 0 && (*words)[len] == '=')
			return *words + len + 1;
	return NULL;
}

static int prepare(char *const *words, struct dw_bench *b, struct dw_error *err)
{
	const char *rounds = value_of(words, "rounds");

	b->dewar = value_of(words, "dewar");
	if (!b->dewar || !rounds)
		return dw_fail(err, DW_E_INVALID, 0,
		               "dewar-bench is not meant to be started directly; use "
		               "`dewar bench`");
	b->only = value_of(words, "only");
	b->quick = value_of(words, "quick") != NULL;
	b->rounds = strtoull(rounds, NULL, 10);
	b->rounds_given = b->rounds > 0;
	if (!b->rounds_given)
		b->rounds = b->quick ? ROUNDS_QUICK : ROUNDS;
	b->progress = dw_report_colour(STDERR_FILENO);
	dw_bench_host(&b->host);
	b->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (b->cancel_fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot create an eventfd");
	cancel_fd = b->cancel_fd;
	catch_signals();
	return 0;
}

static int show(const struct dw_bench *b, bool json, int svg)
{
	struct dw_error err = {0};

	if (svg >= 0 && dw_bench_write_svg(b, svg, &err) < 0)
		return dw_report_error(&err, json);
	if (json)
		return dw_bench_print_json(b);
	dw_bench_print(b);
	return dw_report_flush();
}

int main(int argc, char **argv)
{
	bool json = argc > 0 && value_of(argv, "json") != NULL;
	const char *path = argc > 0 ? value_of(argv, "svg") : NULL;
	struct dw_bench b = {.cancel_fd = -1};
	struct dw_error err = {0};
	autoclose int svg = -1;

	/* Before measuring: a wrong path should not cost minutes. */
	if (path) {
		svg = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
		if (svg < 0) {
			(void)dw_fail(&err, DW_E_INVALID, errno, "cannot write %s", path);
			return dw_report_error(&err, json);
		}
	}
	if (prepare(argv, &b, &err) < 0)
		return dw_report_error(&err, json);

	for (size_t i = 0; i < ARRAY_SIZE(measures) && !caught; i++)
		measures[i](&b);
	dw_bench_progress(&b, "%s", "");
	return caught ? 128 + caught : show(&b, json, svg);
}
