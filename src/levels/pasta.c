/* SPDX-License-Identifier: Apache-2.0 */
#include "levels/pasta.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

#define READY_MS 5000
#define READY_FD 3

static const char *find_pasta(void)
{
	static const char *const paths[] = {"/usr/bin/pasta", "/usr/local/bin/pasta"};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (access(paths[i], X_OK) == 0)
			return paths[i];
	return NULL;
}

int dw_pasta_probe(struct dw_error *err)
{
	autoclose int tun = -1;

	if (!find_pasta())
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "network full needs pasta: apt-get install passt");
	tun = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	if (tun < 0 && errno == ENOENT)
		return dw_fail(err, DW_E_UNSUPPORTED, errno,
		               "network full needs /dev/net/tun: modprobe tun");
	if (tun < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, errno,
		               "network full needs /dev/net/tun, which this user may not open: "
		               "chmod 0666 /dev/net/tun");
	return 0;
}

/*
 * It writes its pid file when the namespace is connected; the file is a pipe
 * here, and what it says on stderr, should it fail, comes down the same one.
 */
static int wait_ready(int fd, pid_t pid, struct dw_error *err)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};
	char text[256] = "";
	ssize_t n;
	int status;

	if (poll(&pfd, 1, READY_MS) == 1) {
		n = read(fd, text, sizeof(text) - 1);
		if (n > 0 && text[0] >= '0' && text[0] <= '9')
			return 0;
	}
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, &status, 0);
	return dw_fail(err, DW_E_UNSUPPORTED, 0, "pasta could not connect the cell: %s",
	               text[0] != '\0' ? text : "it did not get ready");
}

int dw_pasta_start(int target, int *ret_pid, struct dw_error *err)
{
	const char *path = find_pasta();
	char pid_text[16];
	char *const env[] = {NULL};
	const char *argv[] = {
		"pasta", "--foreground", "--quiet", "--config-net",
		/* the gateway's address would lead to the host's loopback */
		"--no-map-gw",
		/* no port of the host inside, no port of the cell outside */
		"-t", "none", "-u", "none", "-T", "none", "-U", "none",
		"--dns-forward", DW_PASTA_DNS, "--pid", "/proc/self/fd/3",
		pid_text, NULL, NULL, NULL,
	};
	posix_spawn_file_actions_t actions;
	autoclose int ready = -1;
	int pair[2], r;
	pid_t pid;

	if (!path)
		return dw_pasta_probe(err);
	(void)snprintf(pid_text, sizeof(pid_text), "%d", target);
	if (geteuid() == 0) {
		/* As root it would become nobody, who may not join the namespace. */
		argv[ARRAY_SIZE(argv) - 4] = "--runas";
		argv[ARRAY_SIZE(argv) - 3] = "0";
		argv[ARRAY_SIZE(argv) - 2] = pid_text;
	}
	if (pipe2(pair, O_CLOEXEC) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "make a pipe for pasta");
	ready = pair[0];

	/* A descriptor that is dup2'ed onto itself would stay close-on-exec. */
	r = fcntl(pair[1], F_DUPFD_CLOEXEC, READY_FD + 1);
	(void)close(pair[1]);
	pair[1] = r;
	(void)posix_spawn_file_actions_init(&actions);
	(void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	(void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	(void)posix_spawn_file_actions_adddup2(&actions, pair[1], 2);
	(void)posix_spawn_file_actions_adddup2(&actions, pair[1], READY_FD);
	r = posix_spawn(&pid, path, &actions, NULL, (char *const *)argv, env);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)close(pair[1]);
	if (r != 0)
		return dw_fail(err, DW_E_INTERNAL, r, "start %s", path);

	if (wait_ready(ready, pid, err) < 0)
		return -1;
	*ret_pid = pid;
	return 0;
}

void dw_pasta_stop(int pid)
{
	int status;

	if (pid <= 0)
		return;
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}
