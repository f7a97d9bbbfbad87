/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "levels/launched.h"
#include "wire/report.h"

/* Longer than dewar-scope waits for systemd. */
#define SCOPE_MS 12000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct dw_fork_server scoped = {.lock = PTHREAD_MUTEX_INITIALIZER, .sock = -1};
static bool asked, active;
static pid_t owner; /* the process that asked: the launchers are its children */

static int receive(int sock, struct dw_scope_reply *reply)
{
	struct pollfd p = {.fd = sock, .events = POLLIN};
	int fds[DW_REPORT_FDS_MAX], n = 0, r;
	ssize_t len;

	do
		r = poll(&p, 1, SCOPE_MS);
	while (r < 0 && errno == EINTR);
	len = r <= 0 ? -1 : dw_report_receive_data(sock, reply, sizeof(*reply), fds, &n);
	reply->failed[sizeof(reply->failed) - 1] = '\0';
	if (len == sizeof(*reply) && reply->magic == DW_SCOPE_MAGIC && n == 1 &&
	    reply->failed[0] == '\0')
		return fds[0];
	for (int i = 0; i < n; i++)
		(void)close(fds[i]);
	if (len != sizeof(*reply))
		(void)snprintf(reply->failed, sizeof(reply->failed),
		               r == 0 ? "systemd did not answer in time"
		                      : "dewar-scope died");
	return -1;
}

static void kill_and_reap(int pid)
{
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Returns a descriptor of the scope's folder, with its fork server in scoped; or -1. */
static int ask_systemd(void)
{
	struct dw_scope_reply reply = {0};
	struct dw_error err = {0};
	int pair[2], pid = 0, fd, r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	r = dw_spawn_scope(pair[1], &pid, &err);
	(void)close(pair[1]);
	if (r < 0) {
		(void)close(pair[0]);
		dw_cgroup_parent_refused(
			"dewar-scope, which asks systemd for a scope, is not "
			"installed (it is built if libsystemd is installed)");
		return -1;
	}
	fd = receive(pair[0], &reply);
	if (fd < 0) {
		(void)close(pair[0]);
		kill_and_reap(pid);
		dw_cgroup_parent_refused(reply.failed);
		return -1;
	}
	pthread_mutex_lock(&scoped.lock);
	scoped.sock = pair[0];
	scoped.pid = pid;
	pthread_mutex_unlock(&scoped.lock);
	return fd;
}

/*
 * Returns true if we must ask systemd again: the scope was stopped, and its fork server
 * with it; or we are a fork of the process that asked, and the launchers are not our
 * children.
 */
static bool is_lost(void)
{
	bool lost;

	if (owner != getpid()) {
		dw_fd_close(&scoped.sock);
		return true;
	}
	pthread_mutex_lock(&scoped.lock);
	lost = scoped.sock < 0 || waitpid(scoped.pid, NULL, WNOHANG) != 0;
	if (lost)
		dw_fd_close(&scoped.sock);
	pthread_mutex_unlock(&scoped.lock);
	return lost;
}

void dw_cgroup_scope_settle(void)
{
	int fd;

	if (!__atomic_load_n(&active, __ATOMIC_ACQUIRE) &&
	    dw_cgroup_settle() != DW_CGROUP_PARENT_KIND_FOREIGN)
		return;
	pthread_mutex_lock(&lock);
	if (active && is_lost()) {
		__atomic_store_n(&active, false, __ATOMIC_RELEASE);
		dw_cgroup_parent_lost();
		asked = false;
	}
	/* Ask only if systemd runs, and only once if it refuses. */
	if (!asked && access("/run/systemd/system", F_OK) == 0) {
		asked = true;
		fd = ask_systemd();
		if (fd >= 0) {
			dw_cgroup_parent_set(fd);
			owner = getpid();
			__atomic_store_n(&active, true, __ATOMIC_RELEASE);
		}
	}
	pthread_mutex_unlock(&lock);
}

struct dw_fork_server *dw_cgroup_scope_launcher(void)
{
	return __atomic_load_n(&active, __ATOMIC_ACQUIRE) && owner == getpid() ? &scoped
	                                                                       : NULL;
}

/* On a normal exit, end the fork server and leave only the scope; systemd removes it. */
__attribute__((destructor)) static void leave(void)
{
	if (!active || scoped.sock < 0 || owner != getpid())
		return;
	dw_fd_close(&scoped.sock);
	while (waitpid(scoped.pid, NULL, 0) < 0 && errno == EINTR)
		;
	dw_cgroup_remove_leaf();
}
