/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "verify/verify_own.h"

#define CPU_WINDOW_MS 400

static DIR *open_folder(pid_t pid, const char *name)
{
	char path[96];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return opendir(path);
}

static unsigned long long files_of(pid_t pid)
{
	autodir DIR *dir = open_folder(pid, "fd");
	unsigned long long n = 0;

	while (dir && readdir(dir) != NULL)
		n++;
	return n > 2 ? n - 2 : 0; /* readdir() also returns . and .. */
}

/* Files counted so far: a file counts once, even if several descriptors refer to it. */
struct seen {
	ino_t inodes[1024];
	size_t n;
};

static bool is_new(struct seen *seen, ino_t inode)
{
	for (size_t i = 0; i < seen->n; i++)
		if (seen->inodes[i] == inode)
			return false;
	if (seen->n < ARRAY_SIZE(seen->inodes))
		seen->inodes[seen->n++] = inode;
	return true;
}

static unsigned long long memfds_in(pid_t pid, const char *folder, struct seen *seen)
{
	autodir DIR *dir = open_folder(pid, folder);
	unsigned long long sum = 0;
	const struct dirent *e;
	char target[64];
	struct stat st;
	ssize_t n;

	while (dir && (e = readdir(dir)) != NULL) {
		n = readlinkat(dirfd(dir), e->d_name, target, sizeof(target) - 1);
		target[n < 0 ? 0 : n] = '\0';
		if (strncmp(target, "/memfd:", 7) == 0 &&
		    fstatat(dirfd(dir), e->d_name, &st, 0) == 0 &&
		    is_new(seen, st.st_ino))
			sum += (unsigned long long)st.st_blocks * 512;
	}
	return sum;
}

/*
 * Sum the memory of all memfds, mapped or not. A thread may have its own descriptor
 * table.
 */
static unsigned long long memfds_of(pid_t pid)
{
	autodir DIR *dir = open_folder(pid, "task");
	struct seen seen = {.n = 0};
	unsigned long long sum = 0;
	const struct dirent *e;
	char path[64];

	while (dir && (e = readdir(dir)) != NULL) {
		(void)snprintf(path, sizeof(path), "task/%.16s/fd", e->d_name);
		sum += memfds_in(pid, path, &seen);
	}
	return sum;
}

/* Sum the bytes that are queued in the pipes of a process. */
static unsigned long long queued_of(pid_t pid)
{
	autodir DIR *dir = open_folder(pid, "fd");
	struct seen seen = {.n = 0};
	unsigned long long sum = 0;
	const struct dirent *e;

	while (dir && (e = readdir(dir)) != NULL) {
		autoclose int fd = -1;
		struct stat st;
		int bytes = 0;

		/* Open only pipes: opening another file may have side effects. */
		if (fstatat(dirfd(dir), e->d_name, &st, 0) < 0 || !S_ISFIFO(st.st_mode))
			continue;
		if (!is_new(&seen, st.st_ino))
			continue;
		fd = openat(dirfd(dir), e->d_name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (fd >= 0 && ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0)
			sum += (unsigned long long)bytes;
	}
	return sum;
}

/* Sum the CPU time of the threads in nanoseconds: clock ticks would be too coarse. */
static unsigned long long cpu_ns(pid_t pid)
{
	autodir DIR *dir = open_folder(pid, "task");
	unsigned long long sum = 0;
	const struct dirent *e;
	char path[64];

	while (dir && (e = readdir(dir)) != NULL) {
		autofree char *text = NULL;

		(void)snprintf(path, sizeof(path), "task/%.16s/schedstat", e->d_name);
		text = e->d_name[0] == '.' ? NULL : dw_procs_read(pid, path);
		sum += text ? strtoull(text, NULL, 10) : 0;
	}
	return sum;
}

static unsigned long long count_cpu(const pid_t *pids, size_t n)
{
	const struct timespec window = {.tv_nsec = CPU_WINDOW_MS * 1000000L};
	static unsigned long long before[DW_PROCS_MAX];
	unsigned long long now, sum = 0, begin = dw_now_ms();

	for (size_t i = 0; i < n; i++)
		before[i] = cpu_ns(pids[i]);
	(void)nanosleep(&window, NULL);
	for (size_t i = 0; i < n; i++) {
		now = cpu_ns(pids[i]); /* 0 if the process has ended since */
		sum += now > before[i] ? now - before[i] : 0;
	}
	return sum / 10000 / (dw_now_ms() - begin);
}

/*
 * Stat the file system that the attack writes to: that of the cell or, without a
 * cell, of the range.
 */
static bool stat_tmp(const pid_t *pids, size_t n, struct statvfs *ret)
{
	char path[64];

	if (n == 0)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%d/cwd", pids[0]);
	return statvfs(path, ret) == 0;
}

static unsigned long long count_tmp_mb(const pid_t *pids, size_t n)
{
	struct statvfs vfs;

	return stat_tmp(pids, n, &vfs) ? (vfs.f_blocks - vfs.f_bfree) * vfs.f_frsize >> 20
	                               : 0;
}

static unsigned long long count_tmp_files(const pid_t *pids, size_t n)
{
	struct statvfs vfs;

	return stat_tmp(pids, n, &vfs) ? vfs.f_files - vfs.f_ffree : 0;
}

static unsigned long long count_processes(const pid_t *pids, size_t n)
{
	(void)pids;
	return n;
}

static unsigned long long threads_of(pid_t pid)
{
	return dw_procs_field(pid, "status", "Threads:");
}

static unsigned long long memory_of(pid_t pid)
{
	return dw_procs_field(pid, "smaps_rollup", "Pss:") << 10;
}

static unsigned long long locked_of(pid_t pid)
{
	return dw_procs_field(pid, "status", "VmLck:") << 10;
}

/*
 * A counter has either a function for one process, whose values are added (or
 * compared, for the maximum) and divided by 1 << shift, or a function for all
 * processes together.
 */
static const struct counter {
	const char *name;
	unsigned long long (*each)(pid_t pid);
	unsigned shift;
	bool most;
	unsigned long long (*all)(const pid_t *pids, size_t n);
} counters[] = {
	{.name = "processes", .all = count_processes},
	{.name = "threads", .each = threads_of},
	{.name = "memory_mb", .each = memory_of, .shift = 20},
	{.name = "locked_mb", .each = locked_of, .shift = 20},
	{.name = "memfd_mb", .each = memfds_of, .shift = 20},
	{.name = "queued_mb", .each = queued_of, .shift = 20},
	{.name = "open_files", .each = files_of, .most = true},
	{.name = "cpu_percent", .all = count_cpu},
	{.name = "tmp_mb", .all = count_tmp_mb},
	{.name = "tmp_files", .all = count_tmp_files},
};

static unsigned long long count(const struct counter *c, const pid_t *pids, size_t n)
{
	unsigned long long sum = 0, one;

	if (c->all)
		return c->all(pids, n);
	for (size_t i = 0; i < n; i++) {
		one = c->each(pids[i]);
		if (!c->most)
			sum += one;
		else if (one > sum)
			sum = one;
	}
	return sum >> c->shift;
}

bool dw_oracle_count(const char *nonce, const char *oracle, char *ret, size_t size)
{
	unsigned long long most, seen;
	pid_t pids[DW_PROCS_MAX];
	char what[32];

	/* NOLINTNEXTLINE(cert-err34-c): tools/attacks.py has checked it */
	if (sscanf(oracle, "count %31s > %llu", what, &most) != 2)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		if (strcmp(counters[i].name, what) != 0)
			continue;
		seen = count(&counters[i], pids,
		             dw_procs_list(nonce, pids, DW_PROCS_MAX));
		(void)snprintf(ret, size, "counted from outside: %s %llu", what, seen);
		return seen > most;
	}
	return false;
}
