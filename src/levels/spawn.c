/* SPDX-License-Identifier: Apache-2.0 */
#include "levels/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/program.h"
#include "levels/refusal_cause.h"

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

/* What is started, as what, and with which descriptors as its first ones. */
struct start {
	const char *path;
	char *const *argv;
	char *const *env;
	int source[DW_LAUNCH_FD + 1];
	int cgroup; /* to be born in, or -1 */
};

/*
 * posix_spawn() knows no cgroup. This is a fork, with what that costs, in which the
 * child does nothing that could meet a lock of another thread's.
 */
static int clone_into(const struct start *s, pid_t *ret_pid)
{
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = (uint64_t)s->cgroup,
	};
	sigset_t all, before, none;
	long pid;

	(void)sigfillset(&all);
	(void)sigemptyset(&none);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid == 0) {
		for (int sig = 1; sig < SIGRTMIN; sig++)
			(void)signal(sig, SIG_DFL);
		for (int i = 0; i <= DW_LAUNCH_FD; i++)
			if (dup2(s->source[i], i) < 0)
				_exit(127);
		(void)sigprocmask(SIG_SETMASK, &none, NULL);
		(void)execve(s->path, s->argv, s->env);
		_exit(127);
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	*ret_pid = (pid_t)pid;
	return pid < 0 ? errno : 0;
}

static int spawn_plain(const struct start *s, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int r;

	prepare(&attr);
	(void)posix_spawn_file_actions_init(&actions);
	for (int i = 0; i <= DW_LAUNCH_FD; i++)
		(void)posix_spawn_file_actions_adddup2(&actions, s->source[i], i);
	r = posix_spawn(ret_pid, s->path, &actions, &attr, s->argv, s->env);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attr);
	return r;
}

static int spawn_on_core(const struct start *s, int *ret_pid, cpu_set_t *ret_cpus)
{
	pid_t pid = 0;
	bool stay;
	int r;

	/* Should we not know where we may run, the kernel knows. */
	memset(ret_cpus, 0xff, sizeof(*ret_cpus));
	stay = stay_on_core(ret_cpus);
	r = s->cgroup >= 0 ? clone_into(s, &pid) : spawn_plain(s, &pid);
	if (stay)
		(void)sched_setaffinity(0, sizeof(*ret_cpus), ret_cpus);
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
		dw_refusal_cause_explain(DW_STAGE_SPAWN, err);
	return -1;
}

static int spawn_with(const int fds[DW_LAUNCH_FD + 1], struct start *s, int *ret_pid,
                      cpu_set_t *ret_cpus, struct dw_error *err)
{
	enum {
		TOP = DW_LAUNCH_FD + 1
	};
	int r = 0, pid = 0;

	/* Out of the way of the fixed numbers first: no dup2 overwrites a source. */
	for (int i = 0; i < TOP; i++) {
		s->source[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, TOP);
		if (s->source[i] < 0)
			r = errno;
	}
	if (r == 0)
		r = spawn_on_core(s, &pid, ret_cpus);
	for (int i = 0; i < TOP; i++)
		dw_fd_close(&s->source[i]);
	if (r != 0) {
		(void)dw_fail(err, DW_E_INTERNAL, r, "start %s", s->path);
		return refuse(err);
	}
	*ret_pid = pid;
	return 0;
}

int dw_spawn_launcher(const int fds[DW_LAUNCH_FD + 1], int cgroup, int *ret_pid,
                      cpu_set_t *ret_cpus, struct dw_error *err)
{
	char *const argv[] = {(char *)"dewar-launch", NULL}, *const env[] = {NULL};
	struct start s = {.argv = argv, .env = env, .cgroup = cgroup};
	char path[512];

	if (dw_program_find("dewar-launch", "DEWAR_LAUNCH", path, sizeof(path), err) < 0)
		return refuse(err);
	s.path = path;
	return spawn_with(fds, &s, ret_pid, ret_cpus, err);
}

static int spawn_staying(struct start *s, int sock, int *ret_pid, struct dw_error *err)
{
	autoclose int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	cpu_set_t cpus;

	if (null < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "open /dev/null");
	if (spawn_with((int[]){null, null, null, sock}, s, ret_pid, &cpus, err) < 0)
		return -1;
	/* It was held to our core, and would hold all that it forks there. */
	(void)sched_setaffinity(*ret_pid, sizeof(cpus), &cpus);
	return 0;
}

int dw_spawn_server(int sock, int *ret_pid, struct dw_error *err)
{
	char *const argv[] = {(char *)"dewar-launch", (char *)"serve", NULL};
	char *const env[] = {NULL};
	struct start s = {.argv = argv, .env = env, .cgroup = -1};
	char path[512];

	if (dw_program_find("dewar-launch", "DEWAR_LAUNCH", path, sizeof(path), err) < 0)
		return refuse(err);
	s.path = path;
	return spawn_staying(&s, sock, ret_pid, err);
}

int dw_spawn_scope(int sock, int *ret_pid, struct dw_error *err)
{
	char path[512], launch[512], pid[16];
	char *const argv[] = {(char *)"dewar-scope", launch, pid, NULL};
	struct start s = {.path = path, .argv = argv, .env = environ, .cgroup = -1};

	if (dw_program_find("dewar-scope", "DEWAR_SCOPE", path, sizeof(path), err) < 0 ||
	    dw_program_find("dewar-launch", "DEWAR_LAUNCH", launch, sizeof(launch), err) <
	            0)
		return -1;
	(void)snprintf(pid, sizeof(pid), "%d", getpid());
	return spawn_staying(&s, sock, ret_pid, err);
}
