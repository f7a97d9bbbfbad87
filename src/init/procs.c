/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cell's processes: all of our pid namespace or, without one, our descendants. A
 * process that starts during a listing is found by the next one. Nothing is allocated.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "init/init.h"

size_t dw_procs_numbers(const char *path, pid_t *list, size_t max)
{
	static char buf[16384];
	autoclose int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent64 *d;
	size_t n = 0;
	ssize_t len;

	if (fd < 0)
		return 0;
	while ((len = getdents64(fd, buf, sizeof(buf))) > 0) {
		for (ssize_t at = 0; at < len; at += d->d_reclen) {
			d = (struct dirent64 *)(buf + at);
			if (n < max && d->d_name[0] >= '1' && d->d_name[0] <= '9')
				list[n++] = (pid_t)strtol(d->d_name, NULL, 10);
		}
	}
	return n;
}

static size_t add_children_of_thread(pid_t pid, pid_t tid, pid_t *list, size_t n)
{
	static char text[32768];
	char path[64];
	const char *p = text;
	char *end;
	long child;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	if (dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0)
		return n;
	for (; n < DW_PROCS_MAX; p = end) {
		child = strtol(p, &end, 10);
		if (end == p)
			break;
		list[n++] = (pid_t)child;
	}
	return n;
}

/* A child belongs to the thread that forked it. */
static size_t add_children(pid_t pid, pid_t *list, size_t n)
{
	static pid_t threads[DW_PROCS_MAX];
	char path[64];
	size_t n_threads;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	n_threads = dw_procs_numbers(path, threads, DW_PROCS_MAX);
	for (size_t i = 0; i < n_threads; i++)
		n = add_children_of_thread(pid, threads[i], list, n);
	return n;
}

size_t dw_procs_list(pid_t *list)
{
	size_t n;

	/* As pid 1, all processes in /proc belong to the cell, except ourselves. */
	if (getpid() == 1) {
		n = dw_procs_numbers("/proc", list, DW_PROCS_MAX);
		for (size_t i = 0; i < n; i++)
			if (list[i] == 1)
				list[i--] = list[--n];
		return n;
	}
	n = add_children(getpid(), list, 0);
	for (size_t i = 0; i < n; i++)
		n = add_children(list[i], list, n);
	return n;
}

unsigned dw_procs_signal(int sig)
{
	static pid_t list[DW_PROCS_MAX];
	size_t n = dw_procs_list(list);

	for (size_t i = 0; i < n; i++)
		(void)kill(list[i], sig);
	return (unsigned)n;
}

bool dw_procs_reap(pid_t program, int *ret_status)
{
	bool over = false;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == program) {
			*ret_status = status;
			over = true;
		}
	}
	return over;
}
