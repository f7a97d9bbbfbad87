/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "verify/verify_own.h"

#define TEXT_MAX (64U << 20) /* more than the output of two attackers */

struct request {
	uint32_t attack; /* its index in the table */
	char level[16];
	char way[16];
};

/* The output follows in the stream, then the result as JSON; either may be empty. */
struct answer {
	int r; /* what dw_attempt() returned */
	struct dw_error err;
	struct dw_observation observation; /* its pointers are invalid for the reader */
	uint64_t output_len, result_len;
};

/* ---- the worker ---- */

static int send_answer(int fd, struct answer *a)
{
	const struct dw_observation *o = &a->observation;
	autofree char *result = o->result ? json_dumps(o->result, JSON_COMPACT) : NULL;

	a->output_len = o->output ? strlen(o->output) : 0;
	a->result_len = result ? strlen(result) : 0;
	if (dw_fd_write_all(fd, a, sizeof(*a)) < 0 ||
	    dw_fd_write_all(fd, o->output ? o->output : "", a->output_len) < 0 ||
	    dw_fd_write_all(fd, result ? result : "", a->result_len) < 0)
		return -1;
	return 0;
}

static int serve(int fd, const struct dw_range *range, const struct dw_tools *tools)
{
	struct answer answer = {0};
	struct dw_target at;
	struct request req;
	int r;

	if (dw_fd_read_some(fd, &req, sizeof(req)) != (ssize_t)sizeof(req) ||
	    req.attack >= dw_n_attacks)
		return -1;
	req.level[sizeof(req.level) - 1] = req.way[sizeof(req.way) - 1] = '\0';
	at = (struct dw_target){.level = req.level,
	                        .way = req.way,
	                        .title = req.level,
	                        .on_host = true};
	answer.r = dw_attempt(&dw_attacks[req.attack], &at, range, tools,
	                      &answer.observation, &answer.err);
	r = send_answer(fd, &answer);
	dw_observation_finish(&answer.observation);
	return r;
}

/* Install a handler: programs that we start would inherit ignored signals. */
static void ignore(int sig)
{
	(void)sig;
}

static _Noreturn void work(int fd, const struct dw_tools *tools)
{
	struct sigaction sa = {.sa_handler = ignore, .sa_flags = SA_RESTART};
	struct answer answer = {.r = -1};
	struct dw_range range;

	/*
	 * The signals stop the suite; the worker ends when the suite closes its
	 * socket.
	 */
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
	(void)sigaction(SIGHUP, &sa, NULL);
	(void)signal(SIGPIPE, SIG_IGN); /* NOLINT: programs that we start set it */
	if (dw_range_on_host(&range, fd, &answer.err) < 0) {
		(void)dw_fd_write_all(fd, &answer, sizeof(answer));
		_exit(1);
	}
	while (serve(fd, &range, tools) == 0)
		;
	dw_range_leave(&range);
	_exit(0);
}

/* ---- the suite ---- */

int dw_host_worker_start(const struct dw_tools *tools, int *ret_fd, struct dw_error *err)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot create a socket pair");
	pid = fork();
	if (pid == 0) {
		/*
		 * Close all descriptors of the suite, above all its end of the
		 * socket pair.
		 */
		if (dup3(pair[1], STDERR_FILENO + 1, O_CLOEXEC) < 0)
			_exit(1);
		(void)dw_fd_close_from(STDERR_FILENO + 2);
		work(STDERR_FILENO + 1, tools);
	}
	(void)close(pair[1]);
	*ret_fd = pair[0];
	if (pid < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot fork");
	return 0;
}

int dw_host_worker_send(int fd, const struct dw_attack *attack,
                        const struct dw_target *at, struct dw_error *err)
{
	struct request req = {.attack = (uint32_t)(attack - dw_attacks)};
	int r;

	(void)snprintf(req.level, sizeof(req.level), "%s", at->level);
	(void)snprintf(req.way, sizeof(req.way), "%s", at->way);
	r = dw_fd_write_all(fd, &req, sizeof(req));
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r,
		               "cannot send to the worker on the host");
	return 0;
}

/* Returns the text, to be freed with free(), or NULL if the worker is gone. */
static char *read_text(int fd, uint64_t len)
{
	autofree char *text = len <= TEXT_MAX ? malloc(len + 1) : NULL;

	if (!text || dw_fd_read_some(fd, text, len) != (ssize_t)len)
		return NULL;
	text[len] = '\0';
	return TAKE_PTR(text);
}

int dw_host_worker_receive(int fd, struct dw_observation *ret, struct dw_error *err)
{
	autofree char *output = NULL;
	autofree char *result = NULL;
	struct answer a;

	*ret = (struct dw_observation){0};
	if (dw_fd_read_some(fd, &a, sizeof(a)) != (ssize_t)sizeof(a))
		return dw_fail(err, DW_E_INTERNAL, 0, "the worker on the host has ended");
	if (a.r < 0) {
		*err = a.err;
		return -1;
	}
	output = read_text(fd, a.output_len);
	result = read_text(fd, a.result_len);
	if (!output || !result)
		return dw_fail(err, DW_E_INTERNAL, 0, "the worker on the host has ended");
	*ret = a.observation;
	ret->output = TAKE_PTR(output);
	ret->result = a.result_len > 0 ? json_loads(result, JSON_ALLOW_NUL, NULL) : NULL;
	return 0;
}
