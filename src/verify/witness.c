/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "verify/verify_own.h"

#define REPORT_FD 3
#define FLAG_FD 5

static char kept[DW_SECRET_MAX];

static void on_signal(int sig)
{
	char line[] = "signal 00\n";

	line[7] = (char)('0' + sig / 10);
	line[8] = (char)('0' + sig % 10);
	(void)!write(REPORT_FD, line, sizeof(line) - 1);
}

/* Bind a socket whose name, visible in /proc/net/unix, is the secret. */
static void bind_secret(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memcpy(sa.sun_path + 1, kept, strlen(kept));
	(void)bind(fd, (struct sockaddr *)&sa, sizeof(sa.sun_family) + 1 + strlen(kept));
}

_Noreturn void dw_witness_main(char **argv)
{
	struct sigaction sa = {.sa_handler = on_signal};
	char line[32];

	(void)snprintf(kept, sizeof(kept), "%s", argv[1] ? argv[1] : "");
	bind_secret();
	for (int sig = 1; sig < 65; sig++)
		(void)sigaction(sig, &sa, NULL);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	(void)snprintf(line, sizeof(line), "%lx\n", (unsigned long)(uintptr_t)kept);
	(void)!write(REPORT_FD, line, strlen(line));
	for (;;)
		(void)pause();
}

/* Describe everything that an attack could change about the witness without a signal. */
static void describe(pid_t pid, char *ret, size_t size)
{
	static const char *const files[] = {"limits", "oom_score_adj", "comm",
	                                    "cgroup", "timerslack_ns", "coredump_filter"};
	static const char *const fields[] = {"TracerPid:", "Cpus_allowed:", "Uid:",
	                                     "State:\tT",  "State:\tt",     "State:\tZ"};
	char path[64], text[4096];
	struct utsname host;
	struct dw_buf buf;

	dw_buf_init(&buf, size - 1);
	if (uname(&host) == 0)
		(void)dw_buf_printf(&buf, "host: %s %s\n", host.nodename,
		                    host.domainname);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, files[i]);
		if (dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) >= 0)
			(void)dw_buf_printf(&buf, "%s: %s\n", files[i], text);
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) >= 0)
		for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
			const char *at = strstr(text, fields[i]);

			if (at)
				(void)dw_buf_printf(&buf, "%.*s\n",
				                    (int)strcspn(at, "\n"), at);
		}
	(void)dw_buf_printf(&buf, "priority: %ld %ld %ld %ld\n",
	                    dw_procs_stat(pid, DW_STAT_NICE),
	                    dw_procs_stat(pid, DW_STAT_POLICY),
	                    dw_procs_stat(pid, DW_STAT_PRIORITY),
	                    syscall(SYS_ioprio_get, 1, pid));
	(void)snprintf(ret, size, "%s", buf.data ? buf.data : "");
	dw_buf_finish(&buf);
}

static _Noreturn void become_witness(int report, int flag, const char *secret)
{
	char env[64];
	char *const argv[] = {(char *)DW_WITNESS_NAME, (char *)secret, NULL};
	char *const envp[] = {env, NULL};

	(void)snprintf(env, sizeof(env), "WITNESS_SECRET=%s", secret);
	if (dup2(report, REPORT_FD) >= 0 && dup2(flag, FLAG_FD) >= 0)
		(void)execve("/proc/self/exe", argv, envp);
	_exit(127);
}

int dw_witness_start(struct dw_witness *w, const char *secret, const char *flag,
                     struct dw_error *err)
{
	autoclose int file = open(flag, O_RDWR | O_CLOEXEC);
	char line[32] = "";
	int report[2];
	ssize_t n;

	w->pid = -1;
	w->fd = -1;
	if (file < 0 || pipe2(report, O_CLOEXEC) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot start the witness");
	w->pid = fork();
	if (w->pid == 0)
		become_witness(report[1], file, secret);
	(void)close(report[1]);
	w->fd = report[0];
	n = w->pid < 0 ? -1 : read(w->fd, line, sizeof(line) - 1);
	if (n <= 0) {
		dw_witness_end(w);
		return dw_fail(err, DW_E_INTERNAL, 0, "the witness did not start");
	}
	w->memory = (uintptr_t)strtoull(line, NULL, 16);
	(void)dw_fd_nonblock(w->fd);
	describe(w->pid, w->before, sizeof(w->before));
	return 0;
}

/*
 * Wait until the witness has run: it reports a signal only after the kernel has
 * scheduled it.
 */
static void let_it_report(pid_t pid)
{
	const struct timespec step = {.tv_nsec = 1000000};
	char path[64], text[4096];

	(void)snprintf(path, sizeof(path), "/proc/%d/status", pid);
	for (int i = 0; i < 200; i++) {
		if (dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0 ||
		    !strstr(text, "State:\tR"))
			return;
		(void)nanosleep(&step, NULL);
	}
}

bool dw_witness_touched(const struct dw_witness *w, const char *secret, char *ret,
                        size_t size)
{
	char now[sizeof(w->before)], line[64] = "", mem[DW_SECRET_MAX] = "";
	struct iovec here = {.iov_base = mem, .iov_len = sizeof(mem)};
	struct iovec there = {.iov_base = (void *)w->memory, /* NOLINT: its address */
	                      .iov_len = sizeof(mem)};
	size_t i = 0;
	ssize_t n;

	let_it_report(w->pid);
	n = read(w->fd, line, sizeof(line) - 1);
	if (n > 0) {
		(void)snprintf(ret, size, "the witness got %.*s",
		               (int)strcspn(line, "\n"), line);
		return true;
	}
	if (n == 0) {
		(void)snprintf(ret, size, "the witness is dead");
		return true;
	}
	if (process_vm_readv(w->pid, &here, 1, &there, 1, 0) > 0 &&
	    strcmp(mem, secret) != 0) {
		(void)snprintf(ret, size, "the memory of the witness was written to");
		return true;
	}
	describe(w->pid, now, sizeof(now));
	if (strcmp(now, w->before) == 0)
		return false;
	while (now[i] == w->before[i])
		i++;
	while (i > 0 && now[i - 1] != '\n')
		i--;
	(void)snprintf(ret, size, "the witness was changed: %.*s",
	               (int)strcspn(now + i, "\n"), now + i);
	return true;
}

void dw_witness_end(struct dw_witness *w)
{
	if (w->pid > 0) {
		(void)kill(w->pid, SIGKILL);
		(void)waitpid(w->pid, NULL, 0);
	}
	dw_fd_close(&w->fd);
	w->pid = -1;
}
