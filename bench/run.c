/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

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

#define BARE_MS 120000 /* a timeout for bare commands */

static const char *const python_argv[] = {"/usr/bin/python3", "-c", "print(1)", NULL};

const struct dw_bench_workload dw_bench_bare_python = {.argv = python_argv};
const struct dw_bench_workload dw_bench_python = {
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
 * A fixed environment, so that the caller's shell does not affect the times. HOME is
 * kept because matplotlib caches there and is far slower without a cache.
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
	/* The load threads block signals, which a program would inherit. */
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

static int run_bare(const struct dw_bench_workload *workload, struct dw_error *err)
{
	struct pollfd fds[] = {{.events = POLLIN}, {workload->cancel_fd, POLLIN, 0}};
	autoclose int pidfd = -1;
	int status = 0, r;
	pid_t pid;

	r = spawn(workload->argv, &pid);
	if (r != 0)
		return dw_fail(err, DW_E_UNSUPPORTED, r, "start %s", workload->argv[0]);
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
	return dw_fail(err, DW_E_UNSUPPORTED, 0, "%s %s failed, status %d",
	               workload->argv[0], workload->argv[1] ? workload->argv[1] : "",
	               status);
}

static int check_result(const struct dw_bench_workload *workload,
                        const struct dw_result *res, struct dw_error *err)
{
	if (res->status != DW_STATUS_SUCCESS)
		return dw_fail(err, DW_E_INTERNAL, 0, "a run ended as %s: %.160s",
		               dw_reason_name(res->reason), res->hint);
	if (strcmp(res->out[DW_STDOUT], workload->expect) != 0)
		return dw_fail(err, DW_E_INTERNAL, 0, "a run printed \"%.64s\"",
		               res->out[DW_STDOUT]);
	return 0;
}

int dw_bench_run(const struct dw_bench_workload *workload, double *ret_ms,
                 struct dw_error *err)
{
	struct dw_result *res = NULL;
	struct dw_request req;
	uint64_t start, end;
	int r;

	dw_request_init(&req);
	req.language = workload->language;
	req.template = workload->template;
	req.cancel_fd = workload->cancel_fd;
	if (workload->code)
		req.code = (struct dw_bytes){workload->code, strlen(workload->code)};

	start = dw_bench_now_ns();
	if (workload->argv)
		r = run_bare(workload, err);
	else if (workload->pool)
		r = dw_pool_run(workload->pool, &req, &res, err);
	else
		r = dw_run(&req, &res, err);
	end = dw_bench_now_ns();

	if (r == 0 && res)
		r = check_result(workload, res, err);
	dw_result_free(res);
	if (r == 0)
		*ret_ms = (double)(end - start) / 1e6;
	return r;
}
