/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "dewar/dewar.h"
#include "dewar/pool.h"
#include "verify/verify_own.h"

#define SECOND_FD 3 /* receives the second result; the first goes to stdout */
#define WARM_UP_MS 20000
#define END_MS 5000
#define TIMEOUT_S 5

/* ---- the process with the pool ---- */

struct run {
	pthread_t thread;
	struct dw_pool *pool;
	char *request;
	size_t len;
	int answer; /* the descriptor for the result; closed after writing */
};

static volatile sig_atomic_t cancel_fd = -1;

static void on_stop(int sig)
{
	(void)sig;
	dw_fd_signal(cancel_fd);
}

static void *run_one(void *arg)
{
	struct run *run = arg;
	struct dw_result *res = NULL;
	struct dw_error err = {0};
	autofree char *text = NULL;
	struct dw_request req;

	dw_request_init(&req);
	if (dw_request_from_json(&req, run->request, run->len, &err) == 0) {
		req.cancel_fd = cancel_fd;
		if (dw_pool_run(run->pool, &req, &res, &err) == 0)
			text = dw_result_to_json(res);
	}
	if (text)
		(void)dw_fd_write_all(run->answer, text, strlen(text));
	else
		(void)dprintf(STDERR_FILENO, "%s\n", err.text);
	dw_fd_close(&run->answer);
	dw_result_free(res);
	dw_request_finish(&req);
	return NULL;
}

static struct dw_pool *warm_up(const char *way)
{
	bool fork_only = strcmp(way, "fork") == 0;
	const struct dw_template_config template = {
		.name = "python",
		.language = "python",
		.standby = fork_only ? 0 : DW_WARM_PAIR_CELLS,
	};
	const struct dw_pool_config config = {
		.templates = &template,
		.n_templates = 1,
		.fork_only = fork_only,
	};
	struct dw_pool *pool = NULL;
	struct dw_error err = {0};

	if (dw_pool_new(&config, &pool, &err) < 0 ||
	    dw_pool_warm_up(pool, template.name, template.standby, WARM_UP_MS, &err) <
	            0) {
		(void)fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	return pool;
}

_Noreturn void dw_warm_pair_main(char **argv)
{
	struct sigaction sa = {.sa_handler = on_stop, .sa_flags = SA_RESTART};
	struct run runs[DW_WARM_PAIR_CELLS] = {0};
	int answers[] = {fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, SECOND_FD + 1),
	                 fcntl(SECOND_FD, F_DUPFD_CLOEXEC, SECOND_FD + 1)};
	struct dw_pool *pool;
	size_t n = 0, room;
	ssize_t len;

	/*
	 * Closing an answer must end the reader's stream, so keep no other copy of
	 * its descriptor.
	 */
	(void)close(SECOND_FD);
	(void)dup2(STDERR_FILENO, STDOUT_FILENO);
	cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	(void)sigaction(SIGTERM, &sa, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	pool = warm_up(argv[1] ? argv[1] : "");
	for (; n < DW_WARM_PAIR_CELLS; n++) {
		runs[n].pool = pool;
		runs[n].answer = answers[n];
		len = getline(&runs[n].request, &room, stdin);
		if (len <= 0)
			break;
		runs[n].len = (size_t)len;
		room = 0;
		if (pthread_create(&runs[n].thread, NULL, run_one, &runs[n]) != 0)
			break;
	}
	for (size_t i = 0; i < n; i++)
		(void)pthread_join(runs[i].thread, NULL);
	dw_pool_free(pool);
	exit(0);
}

/* ---- the suite ---- */

static json_t *make_env(const struct dw_fixture *fixture, const char *role)
{
	json_t *object = json_object();
	char text[DW_ENV_MAX];

	dw_fixture_env(fixture, role, text);
	for (char *word = text; *word != '\0'; word += strlen(word) + 1) {
		char *value = strchr(word, '=');

		(void)json_object_set_new(object, strndupa(word, (size_t)(value - word)),
		                          json_string(value + 1));
	}
	return object;
}

static int set_options(json_t *request, const struct dw_attack *attack, const char *base,
                       struct dw_error *err)
{
	struct dw_argv words = {.n = 0};

	dw_argv_add_options(&words, attack->options, base);
	for (size_t i = 0; i + 1 < words.n; i += 2) {
		const char *value = words.argv[i + 1];

		if (strcmp(words.argv[i], "--workspace") == 0)
			(void)json_object_set_new(request, "workspace",
			                          json_string(value));
		else if (strcmp(words.argv[i], "--writable") == 0)
			(void)json_object_set_new(request, "writable_paths",
			                          json_pack("[s]", value));
		else
			return dw_fail(err, DW_E_INTERNAL, 0,
			               "two warm cells do not support %s", words.argv[i]);
	}
	return 0;
}

/* Build the request that `dewar run` would build. */
static char *make_request(const struct dw_attack *attack, const char *level,
                          const char *role, const struct dw_fixture *fixture,
                          struct dw_error *err)
{
	struct dw_argv args = {.n = 0};
	const char *code = dw_argv_warm(&args, attack, fixture->range->attacks);
	json_auto_t *request = NULL;
	json_t *list = json_array();
	char *text = NULL;

	for (size_t i = 0; i < args.n; i++)
		(void)json_array_append_new(list, json_string(args.argv[i]));
	request = json_pack("{s:s, s:s, s:s, s:o, s:o, s:{s:i}}", "language", "python",
	                    "level", level, "code", code, "args", list, "env",
	                    make_env(fixture, role), "limits", "timeout_s", TIMEOUT_S);
	if (request && set_options(request, attack, fixture->range->base, err) == 0)
		text = json_dumps(request, JSON_COMPACT);
	return text;
}

static int request_cell(int fd, const struct dw_attack *attack, const char *level,
                        const char *role, const struct dw_fixture *fixture,
                        struct dw_error *err)
{
	autofree char *text = make_request(attack, level, role, fixture, err);
	int r;

	if (!text)
		return dw_fail(err, DW_E_INTERNAL, 0, "cannot make a request");
	r = dw_fd_write_all(fd, text, strlen(text));
	if (r == 0)
		r = dw_fd_write_all(fd, "\n", 1);
	/*
	 * EPIPE: the process with the pool could not start, and has printed the
	 * reason.
	 */
	return r < 0 && r != -EPIPE
	               ? dw_fail(err, DW_E_INTERNAL, -r, "cannot request a cell")
	               : 0;
}

int dw_warm_pair_start(struct dw_attacker attackers[DW_WARM_PAIR_CELLS],
                       const struct dw_attack *attack, const struct dw_target *at,
                       const struct dw_fixture *fixture, struct dw_error *err)
{
	struct dw_argv words = {.n = 0};
	int in[2], second[2];

	if (pipe2(in, O_CLOEXEC) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot create a pipe");
	if (pipe2(second, O_CLOEXEC) < 0) {
		(void)close(in[0]);
		(void)close(in[1]);
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot create a pipe");
	}
	dw_argv_add(&words, DW_WARM_PAIR_NAME, at->way, NULL);
	dw_attacker_init(&attackers[0]);
	dw_attacker_init(&attackers[1]);
	attackers[0].cell = attackers[1].cell = true;
	attackers[0].shared = attackers[1].shared = true;
	attackers[0].in = in[1];
	attackers[1].fd[0] = second[0];
	(void)dw_fd_nonblock(second[0]);
	if (dw_attacker_spawn(&attackers[0], &words, in[0], second[1], fixture, err) < 0)
		return -1;
	return request_cell(in[1], attack, at->level, "first", fixture, err);
}

int dw_warm_pair_continue(struct dw_attacker attackers[DW_WARM_PAIR_CELLS],
                          const struct dw_attack *attack, const struct dw_target *at,
                          const struct dw_fixture *fixture, struct dw_error *err)
{
	return request_cell(attackers[0].in, attack, at->level, "second", fixture, err);
}

void dw_warm_pair_end(struct dw_attacker *first)
{
	struct pollfd fd = {.fd = first->pidfd, .events = POLLIN};

	dw_fd_close(&first->in);
	if (first->pid > 0 && poll(&fd, 1, END_MS) > 0)
		(void)dw_attacker_poll(first);
}
