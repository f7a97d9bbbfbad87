/* SPDX-License-Identifier: Apache-2.0 */
#include "levels/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/program.h"
#include "levels/refused.h"

/*
 * A child that starts on another core waits for that core to wake up: about a
 * millisecond on virtual machines, for each of the three processes that a cell
 * needs before its program runs. While it is built they all stay on our core;
 * the program and its init get all cores back before the first instruction.
 */
static bool stay_on_core(cpu_set_t *ret_before)
{
	int core = sched_getcpu();
	cpu_set_t one;

	if (core < 0 || sched_getaffinity(0, sizeof(*ret_before), ret_before) < 0)
		return false;
	CPU_ZERO(&one);
	CPU_SET((size_t)core, &one);
	return sched_setaffinity(0, sizeof(one), &one) == 0;
}

static void prepare(posix_spawnattr_t *attr)
{
	sigset_t all, none;

	/* Whatever we ignore or block, the cell does not. Each signal costs a call. */
	sigemptyset(&none);
	sigemptyset(&all);
	for (int sig = 1; sig < SIGRTMIN; sig++)
		(void)sigaddset(&all, sig);
	(void)posix_spawnattr_init(attr);
	(void)posix_spawnattr_setflags(attr,
	                               POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawnattr_setsigdefault(attr, &all);
	(void)posix_spawnattr_setsigmask(attr, &none);
}

static int spawn_on_core(const char *path, const posix_spawn_file_actions_t *actions,
                         const char *word, int *ret_pid, cpu_set_t *ret_cpus)
{
	char *const argv[] = {(char *)"dewar-launch", (char *)word, NULL};
	char *const env[] = {NULL};
	posix_spawnattr_t attr;
	bool stay;
	pid_t pid;
	int r;

	/* Should we not know where we may run, the kernel knows. */
	memset(ret_cpus, 0xff, sizeof(*ret_cpus));
	prepare(&attr);
	stay = stay_on_core(ret_cpus);
	r = posix_spawn(&pid, path, actions, &attr, argv, env);
	if (stay)
		(void)sched_setaffinity(0, sizeof(*ret_cpus), ret_cpus);
	(void)posix_spawnattr_destroy(&attr);
	*ret_pid = pid;
	return r;
}

int dw_spawn_courier(const int fds[4], int *ret_pid, struct dw_error *err)
{
	char *const argv[] = {(char *)"dewar-docker", NULL}, *const env[] = {NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	struct dw_error why = {0};
	int source[4], r = 0;
	char path[512];
	pid_t pid = 0;

	if (dw_program_find("dewar-docker", "DEWAR_DOCKER", path, sizeof(path), &why) < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "%s (it is built where libcurl is)", why.text);
	prepare(&attr);
	(void)posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < 4; i++) {
		source[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 4);
		if (source[i] < 0)
			r = errno;
		else
			(void)posix_spawn_file_actions_adddup2(&actions, source[i], i);
	}
	if (r == 0)
		r = posix_spawn(&pid, path, &actions, &attr, argv, env);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attr);
	for (int i = 0; i < 4; i++)
		dw_fd_close(&source[i]);
	if (r != 0)
		return dw_fail(err, DW_E_INTERNAL, r, "start %s", path);
	*ret_pid = pid;
	return 0;
}

static int refuse(struct dw_error *err)
{
	if (err)
		dw_refused_explain(DW_STAGE_SPAWN, err);
	return -1;
}

static int spawn_with(const int fds[DW_LAUNCH_FD + 1], const char *word, int *ret_pid,
                      cpu_set_t *ret_cpus, struct dw_error *err)
{
	enum {
		TOP = DW_LAUNCH_FD + 1
	};
	posix_spawn_file_actions_t actions;
	int source[TOP], r = 0, pid = 0;
	char path[512];

	if (dw_program_find("dewar-launch", "DEWAR_LAUNCH", path, sizeof(path), err) < 0)
		return refuse(err);

	/* Out of the way of the fixed numbers first: no dup2 overwrites a source. */
	(void)posix_spawn_file_actions_init(&actions);
	for (int i = 0; i < TOP; i++) {
		source[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, TOP);
		if (source[i] < 0)
			r = errno;
		else
			(void)posix_spawn_file_actions_adddup2(&actions, source[i], i);
	}
	if (r == 0)
		r = spawn_on_core(path, &actions, word, &pid, ret_cpus);
	(void)posix_spawn_file_actions_destroy(&actions);
	for (int i = 0; i < TOP; i++)
		dw_fd_close(&source[i]);
	if (r != 0) {
		(void)dw_fail(err, DW_E_INTERNAL, r, "start %s", path);
		return refuse(err);
	}
	*ret_pid = pid;
	return 0;
}

int dw_spawn_launcher(const int fds[DW_LAUNCH_FD + 1], int *ret_pid, cpu_set_t *ret_cpus,
                      struct dw_error *err)
{
	return spawn_with(fds, NULL, ret_pid, ret_cpus, err);
}

int dw_spawn_server(int sock, int *ret_pid, struct dw_error *err)
{
	autoclose int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	cpu_set_t cpus;

	if (null < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "open /dev/null");
	if (spawn_with((int[]){null, null, null, sock}, "serve", ret_pid, &cpus, err) < 0)
		return -1;
	/* It was held to our core, and would hold all that it forks there. */
	(void)sched_setaffinity(*ret_pid, sizeof(cpus), &cpus);
	return 0;
}
