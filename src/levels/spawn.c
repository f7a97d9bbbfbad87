/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "levels/host.h"
#include "levels/launched.h"
#include "wire/report.h"

/*
 * A child that starts on another core waits for that core to wake up: about a
 * millisecond on virtual machines, for each of the three processes that start before a
 * program does. While a cell is built all three stay on our core; the program and the
 * cell's init get all cores back before the program's first instruction.
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

	/*
	 * Reset the signals, so that the cell ignores and blocks none. Real-time signals
	 * are left out: each reset costs a system call.
	 */
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

/* A program to start, with the sources of its first descriptors. */
struct start {
	const char *path;
	char *const *argv;
	char *const *env;
	int source[DW_LAUNCH_FD + 1];
	int cgroup; /* the version 2 folder to be born in, or -1 */
};

/*
 * posix_spawn() cannot start a child in a cgroup. This is a fork; its child takes no lock
 * that another thread may hold.
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

	/* If we cannot read our cpus, assume all: the kernel ignores the others. */
	memset(ret_cpus, 0xff, sizeof(*ret_cpus));
	stay = stay_on_core(ret_cpus);
	r = s->cgroup >= 0 ? clone_into(s, &pid) : spawn_plain(s, &pid);
	if (stay)
		(void)sched_setaffinity(0, sizeof(*ret_cpus), ret_cpus);
	*ret_pid = pid;
	return r;
}

/* If ret_cpus is NULL, the new process is not kept on our core. */
static int spawn_with(const int fds[DW_LAUNCH_FD + 1], struct start *s, int *ret_pid,
                      cpu_set_t *ret_cpus, struct dw_error *err)
{
	enum {
		TOP = DW_LAUNCH_FD + 1
	};
	int r = 0, pid = 0;

	/* Move sources above the fixed numbers, so that no dup2() overwrites one. */
	for (int i = 0; i < TOP; i++) {
		s->source[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, TOP);
		if (s->source[i] < 0)
			r = errno;
	}
	if (r == 0)
		r = ret_cpus ? spawn_on_core(s, &pid, ret_cpus) : spawn_plain(s, &pid);
	for (int i = 0; i < TOP; i++)
		dw_fd_close(&s->source[i]);
	if (r != 0)
		return dw_fail(err, DW_E_INTERNAL, r, "cannot start %s", s->path);
	*ret_pid = pid;
	return 0;
}

/* dewar-launch could not be found or started: explain why. */
static int refuse(struct dw_error *err)
{
	if (err)
		dw_failure_cause_explain(DW_STAGE_SPAWN, err);
	return -1;
}

static int find_launcher(char *ret, size_t size, struct dw_error *err)
{
	return dw_program_find("dewar-launch", "DEWAR_LAUNCH", ret, size, err);
}

int dw_spawn_launcher(const int fds[DW_LAUNCH_FD + 1], int cgroup, int *ret_pid,
                      cpu_set_t *ret_cpus, struct dw_error *err)
{
	char *const argv[] = {(char *)"dewar-launch", NULL}, *const env[] = {NULL};
	char path[512];
	struct start s = {.path = path, .argv = argv, .env = env, .cgroup = cgroup};

	if (find_launcher(path, sizeof(path), err) < 0 ||
	    spawn_with(fds, &s, ret_pid, ret_cpus, err) < 0)
		return refuse(err);
	return 0;
}

int dw_spawn_docker(const int fds[DW_LAUNCH_FD + 1], int *ret_pid, struct dw_error *err)
{
	char *const argv[] = {(char *)"dewar-docker", NULL}, *const env[] = {NULL};
	char path[512];
	struct start s = {.path = path, .argv = argv, .env = env, .cgroup = -1};
	struct dw_error why = {0};

	if (dw_program_find("dewar-docker", "DEWAR_DOCKER", path, sizeof(path), &why) < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "%s (it is built if libcurl is installed)", why.text);
	return spawn_with(fds, &s, ret_pid, NULL, err);
}

/* Spawn a process that serves us for long, with no open descriptor but a socket. */
static int spawn_staying(struct start *s, int sock, int *ret_pid, struct dw_error *err)
{
	autoclose int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	cpu_set_t cpus;

	if (null < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot open /dev/null");
	if (spawn_with((int[]){null, null, null, sock}, s, ret_pid, &cpus, err) < 0)
		return refuse(err);
	/* Otherwise all processes that it forks would stay on our core. */
	(void)sched_setaffinity(*ret_pid, sizeof(cpus), &cpus);
	return 0;
}

int dw_spawn_scope(int sock, int *ret_pid, struct dw_error *err)
{
	char path[512], launch[512], pid[16];
	char *const argv[] = {(char *)"dewar-scope", launch, pid, NULL};
	struct start s = {.path = path, .argv = argv, .env = environ, .cgroup = -1};

	if (dw_program_find("dewar-scope", "DEWAR_SCOPE", path, sizeof(path), err) < 0 ||
	    find_launcher(launch, sizeof(launch), err) < 0)
		return -1;
	(void)snprintf(pid, sizeof(pid), "%d", getpid());
	return spawn_staying(&s, sock, ret_pid, err);
}

/* ---- the fork server ---- */

static int spawn_server(int sock, int *ret_pid, struct dw_error *err)
{
	char *const argv[] = {(char *)"dewar-launch", (char *)"serve", NULL};
	char *const env[] = {NULL};
	char path[512];
	struct start s = {.path = path, .argv = argv, .env = env, .cgroup = -1};

	if (find_launcher(path, sizeof(path), err) < 0)
		return refuse(err);
	return spawn_staying(&s, sock, ret_pid, err);
}

int dw_fork_server_start(struct dw_fork_server *s, struct dw_error *err)
{
	int pair[2], r;

	dw_cgroup_scope_settle(); /* before we have a child */
	*s = (struct dw_fork_server){.sock = -1};
	(void)pthread_mutex_init(&s->lock, NULL);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot make a socket for the fork server");
	r = spawn_server(pair[1], &s->pid, err);
	(void)close(pair[1]);
	if (r < 0)
		(void)close(pair[0]);
	else
		s->sock = pair[0];
	return r;
}

void dw_fork_server_stop(struct dw_fork_server *s)
{
	dw_fd_close(&s->sock); /* the fork server then exits */
	if (s->pid > 0)
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			;
	(void)pthread_mutex_destroy(&s->lock);
}

int dw_fork_server_fork(struct dw_fork_server *s, const int fds[DW_LAUNCH_FD + 1],
                        int cgroup, int *ret_pid, cpu_set_t *ret_cpus)
{
	int all[DW_LAUNCH_FD + 2] = {fds[0], fds[1], fds[2], fds[DW_LAUNCH_FD], cgroup};
	int count = DW_LAUNCH_FD + 1 + (cgroup >= 0);
	int64_t pid = -1;
	ssize_t n = -1;

	if (sched_getaffinity(0, sizeof(*ret_cpus), ret_cpus) < 0)
		return -1;
	pthread_mutex_lock(&s->lock);
	if (s->sock >= 0 && dw_report_send_fds(s->sock, all, count) == 0)
		do
			n = recv(s->sock, &pid, sizeof(pid), 0);
		while (n < 0 && errno == EINTR);
	if (n != sizeof(pid))
		dw_fd_close(&s->sock); /* the fork server has died: do not ask it again */
	pthread_mutex_unlock(&s->lock);
	if (n != sizeof(pid) || pid <= 0)
		return -1;
	*ret_pid = (int)pid;
	return 0;
}
