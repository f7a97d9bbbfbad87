/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

#define TEXT_MAX (64U << 20) /* what two parties can have said, and more */

struct question {
	uint32_t attack; /* its place in the table */
	char level[16];
	char way[16];
};

/* Followed by what was said, and by the result as JSON; either may be empty. */
struct answer {
	int failed; /* the attempt itself: err says why */
	struct dw_error err;
	bool fired, root;
	int landlock;
	char seen[256];
	char why[256];
	uint64_t said, result;
};

/* ---- the process outside ---- */

static int answer_with(int fd, const struct dw_observed *o, struct answer *a)
{
	autofree char *result = o->result ? json_dumps(o->result, JSON_COMPACT) : NULL;

	a->fired = o->fired;
	a->landlock = o->landlock;
	a->root = o->root;
	memcpy(a->seen, o->seen, sizeof(a->seen));
	memcpy(a->why, o->failed, sizeof(a->why));
	a->said = o->said ? strlen(o->said) : 0;
	a->result = result ? strlen(result) : 0;
	if (dw_fd_write_all(fd, a, sizeof(*a)) < 0 ||
	    dw_fd_write_all(fd, o->said ? o->said : "", a->said) < 0 ||
	    dw_fd_write_all(fd, result ? result : "", a->result) < 0)
		return -1;
	return 0;
}

static int serve(int fd, const struct dw_range *range, const struct dw_tools *tools)
{
	struct dw_observed observed = {0};
	struct answer answer = {0};
	struct dw_target at;
	struct question q;
	int r;

	if (dw_fd_read_some(fd, &q, sizeof(q)) != (ssize_t)sizeof(q) ||
	    q.attack >= dw_n_attacks)
		return -1;
	q.level[sizeof(q.level) - 1] = q.way[sizeof(q.way) - 1] = '\0';
	at = (struct dw_target){.level = q.level, .way = q.way, .title = q.level};
	answer.failed = dw_attempt(&dw_attacks[q.attack], &at, range, tools, &observed,
	                           &answer.err);
	r = answer_with(fd, &observed, &answer);
	dw_observed_finish(&observed);
	return r;
}

/* Whoever is asked to stop is the suite; we hear of it when it hangs up. */
static void take_note(int sig)
{
	(void)sig;
}

static _Noreturn void stay_outside(int fd, const struct dw_tools *tools)
{
	struct sigaction sa = {.sa_handler = take_note, .sa_flags = SA_RESTART};
	struct answer answer = {.failed = -1};
	struct dw_range range;

	/* With a handler, and not ignored: what we start shall hear them. */
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
	(void)sigaction(SIGHUP, &sa, NULL);
	(void)signal(SIGPIPE, SIG_IGN); /* NOLINT: no program of ours minds */
	if (dw_range_outside(&range, fd, &answer.err) < 0) {
		(void)dw_fd_write_all(fd, &answer, sizeof(answer));
		_exit(1);
	}
	while (serve(fd, &range, tools) == 0)
		;
	dw_range_leave(&range);
	_exit(0);
}

/* ---- the suite ---- */

int dw_outside_start(struct dw_outside *o, const struct dw_tools *tools,
                     struct dw_error *err)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "make a socket pair");
	pid = fork();
	if (pid == 0) {
		/* Nothing of the suite's: above all not its end of the pair. */
		if (dup3(pair[1], STDERR_FILENO + 1, O_CLOEXEC) < 0)
			_exit(1);
		(void)dw_fd_close_from(STDERR_FILENO + 2);
		stay_outside(STDERR_FILENO + 1, tools);
	}
	(void)close(pair[1]);
	o->fd = pair[0];
	if (pid < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "fork");
	return 0;
}

int dw_outside_ask(const struct dw_outside *o, const struct dw_attack *attack,
                   const struct dw_target *at, struct dw_error *err)
{
	struct question q = {.attack = (uint32_t)(attack - dw_attacks)};
	int r;

	(void)snprintf(q.level, sizeof(q.level), "%s", at->level);
	(void)snprintf(q.way, sizeof(q.way), "%s", at->way);
	r = dw_fd_write_all(o->fd, &q, sizeof(q));
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "ask the process outside");
	return 0;
}

/* NULL if it does not come; free() it. */
static char *read_text(int fd, uint64_t len)
{
	autofree char *text = len <= TEXT_MAX ? malloc(len + 1) : NULL;

	if (!text || dw_fd_read_some(fd, text, len) != (ssize_t)len)
		return NULL;
	text[len] = '\0';
	return TAKE_PTR(text);
}

int dw_outside_wait(const struct dw_outside *o, struct dw_observed *ret,
                    struct dw_error *err)
{
	autofree char *said = NULL;
	autofree char *result = NULL;
	struct answer a;

	*ret = (struct dw_observed){0};
	if (dw_fd_read_some(o->fd, &a, sizeof(a)) != (ssize_t)sizeof(a))
		return dw_fail(err, DW_E_INTERNAL, 0, "the process outside is gone");
	if (a.failed < 0) {
		*err = a.err;
		return -1;
	}
	said = read_text(o->fd, a.said);
	result = read_text(o->fd, a.result);
	if (!said || !result)
		return dw_fail(err, DW_E_INTERNAL, 0, "the process outside is gone");
	ret->fired = a.fired;
	ret->landlock = a.landlock;
	ret->root = a.root;
	memcpy(ret->seen, a.seen, sizeof(ret->seen));
	memcpy(ret->failed, a.why, sizeof(ret->failed));
	ret->said = TAKE_PTR(said);
	if (a.result > 0)
		ret->result = json_loads(result, JSON_ALLOW_NUL, NULL);
	return 0;
}
