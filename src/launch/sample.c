/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the cell's processes use, where no cgroup counts for us: we look.
 *
 * The processes are all of our pid namespace or, where we have none of our own,
 * those that descend from us. One that is born while we look is seen next time.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "launch/launch.h"

#define MAX_SEEN 4096

/* The names in a folder that are numbers; how many were put into list. */
static size_t list_numbers(const char *path, pid_t *list, size_t max)
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
	for (; n < MAX_SEEN; p = end) {
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
	static pid_t threads[MAX_SEEN];
	char path[64];
	size_t n_threads;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	n_threads = list_numbers(path, threads, MAX_SEEN);
	for (size_t i = 0; i < n_threads; i++)
		n = add_children_of_thread(pid, threads[i], list, n);
	return n;
}

static size_t descendants(pid_t *list)
{
	size_t n;

	/* As pid 1 all that /proc shows is ours; the first of it are we. */
	if (getpid() == 1) {
		n = list_numbers("/proc", list, MAX_SEEN);
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

static uint64_t read_pss(pid_t pid, uint64_t otherwise)
{
	char path[64], text[2048];
	const char *at;

	(void)snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	if (dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0)
		return otherwise;
	at = strstr(text, "\nPss:");
	return at ? strtoull(at + 5, NULL, 10) * 1024U : otherwise;
}

/*
 * /proc/PID/stat, after the name, which may hold anything: field 3 is the
 * state; 14 and 15 the times, 20 the threads, 24 the resident pages.
 */
static bool add_process(pid_t pid, struct dw_sample *sum, uint64_t *ret_rss)
{
	static long ticks, page;
	char path[64], text[1024];
	uint64_t field[25] = {0};
	char *p;

	if (ticks == 0) {
		ticks = sysconf(_SC_CLK_TCK);
		page = sysconf(_SC_PAGESIZE);
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0)
		return false;
	p = strrchr(text, ')');
	if (!p || p[1] != ' ' || p[2] == '\0')
		return false;
	p += 3;
	for (int i = 4; i <= 24; i++)
		field[i] = strtoull(p, &p, 10);

	sum->cpu_ms += (field[14] + field[15]) * 1000U / (uint64_t)ticks;
	sum->pids += field[20];
	*ret_rss = field[24] * (uint64_t)page;
	return true;
}

/* What is in the cell's own file systems is memory too. */
static uint64_t tmpfs_bytes(void)
{
	static const char *const mounts[] = {"/tmp", "/dev/shm"};
	struct statvfs vfs;
	uint64_t sum = 0;

	for (size_t i = 0; getpid() == 1 && i < ARRAY_SIZE(mounts); i++)
		if (statvfs(mounts[i], &vfs) == 0)
			sum += (vfs.f_blocks - vfs.f_bfree) * vfs.f_frsize;
	return sum;
}

void dw_sample_take(uint64_t memory_limit, struct dw_sample *ret)
{
	static pid_t list[MAX_SEEN];
	static uint64_t rss[MAX_SEEN];
	struct dw_sample sum = {0};
	size_t n = descendants(list);
	uint64_t files = tmpfs_bytes();

	sum.memory = files;
	for (size_t i = 0; i < n; i++) {
		rss[i] = 0;
		if (add_process(list[i], &sum, &rss[i]))
			sum.memory += rss[i];
	}

	/* Pages that several share were counted for each. Only now it matters. */
	if (sum.memory > memory_limit) {
		sum.memory = files;
		for (size_t i = 0; i < n; i++)
			sum.memory += rss[i] == 0 ? 0 : read_pss(list[i], rss[i]);
	}
	*ret = sum;
}

unsigned dw_descendants_signal(int sig)
{
	static pid_t list[MAX_SEEN];
	size_t n = descendants(list);

	for (size_t i = 0; i < n; i++)
		(void)kill(list[i], sig);
	return (unsigned)n;
}
