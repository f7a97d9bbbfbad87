/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "dewar/dewar.h"

#define BARE_MS 120000 /* for a bare command; none takes that long */

static const char *const python_argv[] = {"/usr/bin/python3", "-c", "print(1)", NULL};

const struct dw_bench_way dw_bench_bare_python = {.argv = python_argv};
const struct dw_bench_way dw_bench_python = {
	.language = "python",
	.code = "print(1)",
	.expect = "1\n",
};

uint64_t dw_bench_now_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

/*
 * The environment is the same for all, so that the caller's shell decides nothing.
 * HOME is for what keeps a cache there, as matplotlib does: it would be slower by far
 * without one.
 */
static int spawn(const char *const *argv, pid_t *ret)
{
	char path[] = "PATH=/usr/local/bin:/usr/bin:/bin", lang[] = "LANG=C.UTF-8";
	char home[512];
	char *const env[] = {path, lang, home, NULL};
	const char *where = getenv("HOME");
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	int r;

	(void)snprintf(home, sizeof(home), "HOME=%s", where ? where : "/");
	/* Threads of ours have signals blocked, which a program would inherit. */
	sigemptyset(&none);
	(void)posix_spawnattr_init(&attr);
	(void)posix_spawnattr_setsigmask(&attr, &none);
	(void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
	(void)posix_spawn_file_actions_adddup2(&actions, 0, 1);
	(void)posix_spawn_file_actions_adddup2(&actions, 0, 2);
	r = posix_spawn(ret, argv[0], &actions, &attr, (char *const *)argv, env);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attr);
	return r;
}

static int run_bare(const struct dw_bench_way *way, struct dw_error *err)
{
	struct pollfd fds[] = {{.events = POLLIN}, {way->cancel_fd, POLLIN, 0}};
	autoclose int pidfd = -1;
	int status = 0, r;
	pid_t pid;

	r = spawn(way->argv, &pid);
	if (r != 0)
		return dw_fail(err, DW_E_UNSUPPORTED, r, "start %s", way->argv[0]);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	fds[0].fd = pidfd;
	do
		r = poll(fds, 2, BARE_MS);
	while (r < 0 && errno == EINTR);
	if (!(fds[0].revents & POLLIN))
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return dw_fail(err, DW_E_UNSUPPORTED, 0, "%s %s failed, status %d", way->argv[0],
	               way->argv[1] ? way->argv[1] : "", status);
}

static int check_result(const struct dw_bench_way *way, const struct dw_result *res,
                        struct dw_error *err)
{
	if (res->status != DW_STATUS_SUCCESS)
		return dw_fail(err, DW_E_INTERNAL, 0, "a run ended as %s: %.160s",
		               dw_reason_name(res->reason), res->hint);
	if (strcmp(res->out[DW_STDOUT], way->expect) != 0)
		return dw_fail(err, DW_E_INTERNAL, 0, "a run printed \"%.64s\"",
		               res->out[DW_STDOUT]);
	return 0;
}

int dw_bench_run(const struct dw_bench_way *way, double *ret_ms, struct dw_error *err)
{
	struct dw_result *res = NULL;
	struct dw_request req;
	uint64_t start, end;
	int r;

	dw_request_init(&req);
	req.language = way->language;
	req.template = way->template;
	req.cancel_fd = way->cancel_fd;
	if (way->code)
		req.code = (struct dw_bytes){way->code, strlen(way->code)};

	start = dw_bench_now_ns();
	if (way->argv)
		r = run_bare(way, err);
	else if (way->pool)
		r = dw_pool_run(way->pool, &req, &res, err);
	else
		r = dw_run(&req, &res, err);
	end = dw_bench_now_ns();

	if (r == 0 && res)
		r = check_result(way, res, err);
	dw_result_free(res);
	if (r == 0)
		*ret_ms = (double)(end - start) / 1e6;
	return r;
}
