/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation
 *
 *	dewar ── forks ──> monitor ── starts ──> pasta
 *
 * Pasta would outlive a cell: it keeps the network namespace open itself, and changes its
 * credentials, which makes the kernel drop its parent-death signal. So a monitor only waits
 * for the end of the cell's init, of pasta, or for our SIGTERM, and then kills pasta. Init
 * in turn ends with dewar. Whichever process is killed, none of the others remains.
 *
 * Pasta drops its capabilities before it opens the namespaces, and then may not access a
 * process of another user. So dewar opens the namespaces and passes the descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "levels/host.h"
#include "levels/launched.h"

#define READY_MS 8000 /* a busy host takes seconds */

/* The descriptors of the monitor and of pasta. */
enum {
	FD_NULL,
	FD_OUT,
	FD_ERR,
	FD_READY,
	FD_USER,
	FD_NET,
	FD_INIT,
	FD_COUNT
};

/* Pasta opens these descriptors again by their paths. */
#define PATH_READY "/proc/self/fd/3"
#define PATH_USER "/proc/self/fd/4"
#define PATH_NET "/proc/self/fd/5"
_Static_assert(FD_READY == 3 && FD_USER == 4 && FD_NET == 5, "the paths above say so");

static const char *find_pasta(void)
{
	static const char *const paths[] = {"/usr/bin/pasta", "/usr/local/bin/pasta"};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (access(paths[i], X_OK) == 0)
			return paths[i];
	return NULL;
}

/* The fix for a missing /dev/net/tun; in a chroot only the node is missing. */
static const char *no_tun(void)
{
	struct dw_host host;

	dw_host_look(&host);
	if (host.container == DW_CONTAINER_DOCKER ||
	    host.container == DW_CONTAINER_PODMAN)
		return host.container == DW_CONTAINER_DOCKER
		               ? "docker run --device /dev/net/tun ..."
		               : "podman run --device /dev/net/tun ...";
	if (access("/sys/class/misc/tun", F_OK) == 0)
		return "mkdir -p /dev/net && mknod -m 0666 /dev/net/tun c 10 200";
	return "modprobe tun";
}

int dw_pasta_probe(struct dw_error *err)
{
	autoclose int tun = -1;

	if (!find_pasta())
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "network full needs pasta; try: apt-get install passt");
	tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	if (tun < 0 && (errno == ENOENT || errno == ENODEV || errno == ENXIO))
		return dw_fail(
			err, DW_E_UNSUPPORTED, 0,
			"network full needs /dev/net/tun, which does not exist; try: %s",
			no_tun());
	if (tun < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "network full needs /dev/net/tun, which this user may not open "
		               "(%s); try: chmod 0666 /dev/net/tun",
		               strerrordesc_np(errno));
	return 0;
}

/* ---- the monitor: between fork and exec or _exit, system calls only ---- */

static _Noreturn void become_pasta(const char *path)
{
	static const char *const env[] = {NULL};
	const char *argv[] = {
		"pasta",
		"--foreground",
		"--quiet",
		"--config-net",
		/* the gateway's address would lead to the host's loopback */
		"--no-map-gw",
		/* forward no port, in either direction */
		"-t",
		"none",
		"-u",
		"none",
		"-T",
		"none",
		"-U",
		"none",
		"--dns-forward",
		DW_PASTA_DNS,
		"--pid",
		PATH_READY,
		"--userns",
		PATH_USER,
		"--netns",
		PATH_NET,
		"--no-netns-quit",
		/* The default is the name of the host's interface. */
		"--ns-ifname",
		"eth0",
		/* As root pasta becomes another user, which may not join the cell. */
		geteuid() == 0 ? "--runas" : NULL,
		"0",
		NULL,
	};
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)execve(path, (char *const *)argv, (char *const *)env);
	_exit(127);
}

static _Noreturn void keep(const char *path, const sigset_t *wake)
{
	struct pollfd fds[2] = {{.fd = FD_INIT, .events = POLLIN}, {.events = POLLIN}};
	int status, r;
	pid_t pid;

	(void)prctl(PR_SET_NAME, "dewar-pasta", 0, 0, 0);
	pid = fork();
	if (pid < 0)
		_exit(126);
	if (pid == 0)
		become_pasta(path);

	/* Only pasta keeps these open, so that dewar sees their end when pasta exits. */
	(void)close(FD_ERR);
	(void)close(FD_READY);
	(void)close(FD_USER);
	(void)close(FD_NET);
	fds[1].fd = signalfd(-1, wake, SFD_CLOEXEC);
	do
		r = poll(fds, 2, -1);
	while (r < 0 && errno == EINTR);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, &status, 0);
	_exit(0);
}

/*
 * Move fds to the numbers FD_* and close all other descriptors of dewar: a cell must see
 * their end when dewar exits.
 */
static int take_descriptors(int *fds)
{
	int r;

	for (int i = 0; i < FD_COUNT; i++) {
		fds[i] = fcntl(fds[i], F_DUPFD, FD_COUNT);
		if (fds[i] < 0)
			return -errno;
	}
	for (int i = 0; i < FD_COUNT; i++)
		if (dup2(fds[i], i) < 0)
			return -errno;
	r = dw_fd_close_from(FD_COUNT);
	if (r < 0)
		return r;
	return fcntl(FD_INIT, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
}

static int start_monitor(int *fds, pid_t *ret, struct dw_error *err)
{
	const char *path = find_pasta();
	struct sigaction act = {.sa_handler = SIG_DFL};
	sigset_t all, old, wake;
	pid_t pid;

	if (!path)
		return dw_pasta_probe(err);

	/* Block signals before the fork, so that an early SIGTERM is not lost. */
	(void)sigfillset(&all);
	(void)sigemptyset(&wake);
	(void)sigaddset(&wake, SIGTERM);
	(void)sigaddset(&wake, SIGCHLD);
	(void)pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = fork();
	if (pid == 0) {
		/*
		 * An ignored SIGCHLD would never arrive. Pasta fails if it inherits an
		 * ignored SIGPIPE; a daemon ignores it.
		 */
		(void)sigaction(SIGCHLD, &act, NULL);
		(void)sigaction(SIGPIPE, &act, NULL);
		if (take_descriptors(fds) < 0)
			_exit(126);
		keep(path, &wake);
	}
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (pid < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot fork a monitor for pasta");
	*ret = pid;
	return 0;
}

/* ---- in dewar ---- */

/* Wait until pasta writes its pid file, which it does once the namespace is connected. */
static bool is_ready(int fd, uint64_t deadline_ms)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	uint64_t until = dw_now_ms() + READY_MS;
	char text[16];
	int r;

	if (deadline_ms < until)
		until = deadline_ms;
	do
		r = poll(&pfd, 1, dw_ms_until(until));
	while (r < 0 && errno == EINTR);
	return r == 1 && read(fd, text, sizeof(text)) > 0 && text[0] >= '0' &&
	       text[0] <= '9';
}

/*
 * The last line that pasta wrote to stderr: earlier lines are about its start. Skips its
 * complaints about a missing syslog.
 */
static const char *last_line(int fd, char *text, size_t size)
{
	static const char noise[] = "Failed to send ";
	const char *last = "it was not ready in time";
	char *line, *rest;
	ssize_t n;

	(void)dw_fd_nonblock(fd);
	n = dw_fd_read_some(fd, text, size - 1);
	if (n <= 0)
		return last;
	text[n] = '\0';
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (strncmp(line, noise, sizeof(noise) - 1) != 0)
			last = line;
	return last;
}

static int open_namespace(int target, const char *name, struct dw_error *err)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", target, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot open the cell's namespace %s", path);
	return fd;
}

static int make_pipe(int *ret_ours, int *ret_theirs, struct dw_error *err)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot make a pipe for pasta");
	*ret_ours = pair[0];
	*ret_theirs = pair[1];
	return 0;
}

static int connect_cell(int target, uint64_t deadline_ms, int *fds, int *ret_pid,
                        struct dw_error *err)
{
	autoclose int ready = -1;
	autoclose int errors = -1;
	char text[1024];
	pid_t pid = 0;

	fds[FD_NULL] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	fds[FD_OUT] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	fds[FD_INIT] = (int)syscall(SYS_pidfd_open, target, 0);
	if (fds[FD_NULL] < 0 || fds[FD_OUT] < 0 || fds[FD_INIT] < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot open the descriptors for pasta");
	fds[FD_USER] = open_namespace(target, "user", err);
	if (fds[FD_USER] < 0)
		return -1;
	fds[FD_NET] = open_namespace(target, "net", err);
	if (fds[FD_NET] < 0)
		return -1;
	if (make_pipe(&ready, &fds[FD_READY], err) < 0 ||
	    make_pipe(&errors, &fds[FD_ERR], err) < 0)
		return -1;
	if (start_monitor(fds, &pid, err) < 0)
		return -1;

	/* With our copies open, we would not see the end of the pipes. */
	dw_fd_close(&fds[FD_READY]);
	dw_fd_close(&fds[FD_ERR]);
	if (is_ready(ready, deadline_ms)) {
		*ret_pid = pid;
		return 0;
	}
	dw_pasta_stop(pid);
	return dw_fail(err, DW_E_UNSUPPORTED, 0, "pasta cannot connect the cell: %s",
	               last_line(errors, text, sizeof(text)));
}

int dw_pasta_start(int target, uint64_t deadline_ms, int *ret_pid, struct dw_error *err)
{
	int fds[FD_COUNT] = {-1, -1, -1, -1, -1, -1, -1};
	int r = connect_cell(target, deadline_ms, fds, ret_pid, err);

	for (int i = 0; i < FD_COUNT; i++)
		dw_fd_close(&fds[i]);
	return r;
}

void dw_pasta_stop(int pid)
{
	int status;

	if (pid <= 0)
		return;
	(void)kill(pid, SIGTERM);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}
