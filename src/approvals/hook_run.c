/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "approvals/hook.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/path.h"

/* How much of the hook's stderr is kept, at least a single read. */
#define STDERR_MAX READ_MAX
#define READ_MAX ((size_t)4 << 10)
#define PIPE_MAX ((size_t)64 << 10) /* what a pipe holds */

struct child {
	pid_t pid;
	int pidfd;
	int out;    /* our end of its stdout */
	int errors; /* our end of its stderr */
};

/* A memfd instead of a pipe: we never block on a hook that does not read its input. */
static int make_input(const char *json, size_t len, int *ret, struct dw_error *err)
{
	autoclose int fd = memfd_create("dewar-hook-input", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot create the input of a hook");
	r = dw_fd_write_all(fd, json, len);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r,
		               "cannot write the input of a hook");
	*ret = TAKE_FD(fd);
	return 0;
}

/* The hook gets a session of its own: no terminal, and one process group to kill. */
static void prepare(posix_spawnattr_t *attr)
{
	sigset_t all, none;

	sigemptyset(&none);
	sigfillset(&all);
	(void)posix_spawnattr_init(attr);
	(void)posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGDEF |
	                                             POSIX_SPAWN_SETSIGMASK |
	                                             POSIX_SPAWN_SETSID);
	(void)posix_spawnattr_setsigdefault(attr, &all);
	(void)posix_spawnattr_setsigmask(attr, &none);
}

static int spawn(const char *path, char *const *argv, char *const *env, const int fds[3],
                 pid_t *ret, struct dw_error *err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int source[3], r = 0;

	prepare(&attr);
	(void)posix_spawn_file_actions_init(&actions);
	/* Move the descriptors above 2 first, so that no dup2() overwrites a source. */
	for (int i = 0; i < 3; i++) {
		source[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
		if (source[i] < 0)
			r = errno;
		else
			(void)posix_spawn_file_actions_adddup2(&actions, source[i], i);
	}
	(void)posix_spawn_file_actions_addclosefrom_np(&actions, 3);
	(void)posix_spawn_file_actions_addchdir_np(&actions, "/");
	if (r == 0)
		r = posix_spawn(ret, path, &actions, &attr, argv, env);
	(void)posix_spawn_file_actions_destroy(&actions);
	(void)posix_spawnattr_destroy(&attr);
	for (int i = 0; i < 3; i++)
		dw_fd_close(&source[i]);
	if (r != 0)
		return dw_fail(err, DW_E_INTERNAL, r, "it cannot be started");
	return 0;
}

static int spawn_hook(const struct dw_hook *hook, uint64_t timeout_ms, const int fds[3],
                      pid_t *ret, struct dw_error *err)
{
	char url[DW_HOOK_URL_MAX + 64] = "", timeout[64] = "", path[512];
	char *env[] = {(char *)"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:"
	                       "/sbin:/bin",
	               (char *)"LANG=C.UTF-8", NULL, NULL, NULL};
	char *const own[] = {(char *)"dewar-hook", NULL};

	if (hook->argv)
		return spawn(hook->argv[0], (char *const *)hook->argv, env, fds, ret,
		             err);
	if (dw_program_find("dewar-hook", "DEWAR_HOOK", path, sizeof(path), err) < 0)
		return -1;
	(void)snprintf(url, sizeof(url), DW_HOOK_URL_VARIABLE "=%s", hook->url);
	(void)snprintf(timeout, sizeof(timeout), DW_HOOK_TIMEOUT_VARIABLE "=%llu",
	               (unsigned long long)timeout_ms);
	env[2] = url;
	env[3] = timeout;
	return spawn(path, own, env, fds, ret, err);
}

static int start(const struct dw_hook *hook, uint64_t timeout_ms, int input,
                 struct child *child, struct dw_error *err)
{
	int out[2] = {-1, -1}, errors[2] = {-1, -1}, r = 0;

	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(errors, O_CLOEXEC) < 0)
		r = dw_fail(err, DW_E_INTERNAL, errno, "cannot create pipes for a hook");
	/* Only our ends: the hook's program may not expect non-blocking descriptors. */
	if (r == 0 && (dw_fd_nonblock(out[0]) < 0 || dw_fd_nonblock(errors[0]) < 0))
		r = dw_fail(err, DW_E_INTERNAL, 0, "cannot create pipes for a hook");
	if (r == 0)
		r = spawn_hook(hook, timeout_ms, (int[]){input, out[1], errors[1]},
		               &child->pid, err);
	dw_fd_close(&out[1]);
	dw_fd_close(&errors[1]);
	child->out = out[0];
	child->errors = errors[0];
	if (r < 0)
		return -1;
	child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	if (child->pidfd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot watch a hook");
	return 0;
}

/* Read what is available, at most a full pipe: a hook may write without end. */
static int drain(int *fd, struct dw_buf *buf, bool keep_all)
{
	char data[READ_MAX];
	ssize_t n;

	for (size_t total = 0; *fd >= 0 && total < PIPE_MAX; total += (size_t)n) {
		do
			n = read(*fd, data, sizeof(data));
		while (n < 0 && errno == EINTR);
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) {
			dw_fd_close(fd);
			return 0;
		}
		if (dw_buf_add(buf, data, (size_t)n) == 0)
			continue;
		if (keep_all)
			return -E2BIG;
		dw_buf_finish(buf);
		(void)dw_buf_add(buf, data, (size_t)n);
	}
	return 0;
}

/* Read the hook's output until its process ends. Returns -1 if it must be killed. */
static int read_until_end(struct child *child, uint64_t deadline_ms, struct dw_buf *out,
                          struct dw_buf *errors, struct dw_error *err)
{
	bool over = false;

	while (!over) {
		struct pollfd fds[] = {{.fd = child->pidfd, .events = POLLIN},
		                       {.fd = child->out, .events = POLLIN},
		                       {.fd = child->errors, .events = POLLIN}};
		int ms = dw_ms_until(deadline_ms);

		if (ms == 0)
			return dw_fail(err, DW_E_BUSY, 0, "it did not end in time");
		if (poll(fds, ARRAY_SIZE(fds), ms) < 0 && errno != EINTR)
			return dw_fail(err, DW_E_INTERNAL, errno, "cannot wait for it");
		/* Once the process has ended, the pipes hold all of its output. */
		over = fds[0].revents != 0;
		if (drain(&child->out, out, true) < 0)
			return dw_fail(err, DW_E_INVALID, 0,
			               "its answer is longer than %zu bytes",
			               out->ceiling);
		/* Only the last line matters. A closed pipe would end the hook. */
		(void)drain(&child->errors, errors, false);
	}
	return 0;
}

/* Kill the group before reaping the process, which frees its pid for reuse. */
static int finish(struct child *child, struct dw_error *err)
{
	siginfo_t info = {0};

	(void)kill(-child->pid, SIGKILL);
	while (waitid(P_PID, (id_t)child->pid, &info, WEXITED) < 0)
		if (errno != EINTR)
			return dw_fail(err, DW_E_INTERNAL, errno, "cannot reap it");
	if (info.si_code != CLD_EXITED)
		return dw_fail(err, DW_E_INTERNAL, 0, "it was killed by signal %d",
		               info.si_status);
	if (info.si_status != 0)
		return dw_fail(err, DW_E_INTERNAL, 0, "it ended with exit status %d",
		               info.si_status);
	return 0;
}

/* The last line that is not blank. */
static void last_line(struct dw_buf *errors, char ret[DW_HOOK_REASON_MAX])
{
	size_t end = errors->len, begin;

	while (end > 0 && strchr(" \t\r\n", errors->data[end - 1]))
		end--;
	for (begin = end; begin > 0 && errors->data[begin - 1] != '\n'; begin--)
		;
	(void)snprintf(ret, DW_HOOK_REASON_MAX, "%.*s", (int)(end - begin),
	               errors->data ? errors->data + begin : "");
}

int dw_hook_run(const struct dw_hook *hook, const char *json, size_t len,
                struct dw_buf *out, char detail[DW_HOOK_REASON_MAX], struct dw_error *err)
{
	uint64_t timeout_ms = hook->timeout_ms ? hook->timeout_ms : DW_HOOK_TIMEOUT_MS;
	uint64_t deadline_ms = dw_now_ms() + timeout_ms;
	struct child child = {.pid = 0, .pidfd = -1, .out = -1, .errors = -1};
	autobuf struct dw_buf errors;
	autoclose int input = -1;
	int r;

	dw_buf_init(&errors, STDERR_MAX);
	detail[0] = '\0';
	if (dw_hook_check(hook, err) < 0 || make_input(json, len, &input, err) < 0)
		return -1;
	r = start(hook, timeout_ms, input, &child, err);
	if (r == 0)
		r = read_until_end(&child, deadline_ms, out, &errors, err);
	/* Report the first failure. */
	if (child.pid > 0 && finish(&child, r == 0 ? err : NULL) < 0)
		r = -1;
	dw_fd_close(&child.pidfd);
	dw_fd_close(&child.out);
	dw_fd_close(&child.errors);
	last_line(&errors, detail);
	return r;
}
