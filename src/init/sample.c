/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of what the cell's processes use, from /proc, where no cgroup counts it.
 *
 * Memory is the processes' own pages plus shared ones: of tmpfs, memfds and shared
 * mappings. Shared pages show as files and in the processes that map them, and neither
 * view is complete; we take the larger.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "init/init.h"

#define FDS_MAX 8192   /* inspected, in all */
#define MEMFDS_MAX 512 /* counted once each */

struct process {
	pid_t pid;
	uint64_t rss;
	char folder[48]; /* the /proc folder that shows its memory and descriptors, or "" */
};

static uint64_t kb_after(const char *text, const char *field)
{
	const char *at = strstr(text, field);

	return at ? strtoull(at + strlen(field), NULL, 10) * 1024U : 0;
}

/* A shared page counts in proportion (PSS), or in full if the kernel reports no share. */
static void add_exact(const struct process *proc, uint64_t *own, uint64_t *shared)
{
	char path[64], text[2048];
	uint64_t shmem;

	(void)snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", proc->pid);
	if (dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) <= 0) {
		*own += proc->rss;
		return;
	}
	shmem = kb_after(text, "\nPss_Shmem:");
	*own += kb_after(text, "\nPss:") - shmem;
	*shared += shmem;
}

bool dw_sample_parse_stat(const char *text, char *ret_state, uint64_t field[25])
{
	const char *p = strrchr(text, ')');
	char *end;

	if (!p || p[1] != ' ' || p[2] == '\0')
		return false;
	*ret_state = p[2];
	p += 3;
	for (int i = 4; i <= 24; i++, p = end)
		field[i] = strtoull(p, &end, 10);
	return true;
}

static bool read_stat(const char *path, char *ret_state, uint64_t field[25])
{
	char text[1024];

	return dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) >= 0 &&
	       dw_sample_parse_stat(text, ret_state, field);
}

/*
 * Find a /proc folder that shows the process's memory and descriptors. Every thread's
 * folder does, except that of a first thread that has ended before the others.
 */
static void live_thread(pid_t pid, char state, uint64_t field[25], char *ret, size_t size)
{
	static pid_t threads[DW_PROCS_MAX];
	char path[64];
	size_t n = 0;

	(void)snprintf(ret, size, "/proc/%d", pid);
	if (state == 'Z' && field[20] > 1) {
		(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
		n = dw_procs_numbers(path, threads, DW_PROCS_MAX);
	}
	for (size_t i = 0; i < n && field[24] == 0; i++) {
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid,
		               threads[i]);
		(void)read_stat(path, &state, field);
		(void)snprintf(ret, size, "/proc/%d/task/%d", pid, threads[i]);
	}
}

struct sample {
	uint64_t memory; /* bytes; shared pages once, as far as the kernel reports */
	uint64_t cpu_ms; /* of the processes that are alive */
	uint64_t pids;   /* processes and threads */
};

static bool add_process(struct process *proc, struct sample *sum)
{
	static long ticks, page;
	uint64_t field[25] = {0};
	char path[64], state;

	if (ticks == 0) {
		ticks = sysconf(_SC_CLK_TCK);
		page = sysconf(_SC_PAGESIZE);
	}
	proc->rss = 0;
	proc->folder[0] = '\0';
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", proc->pid);
	if (!read_stat(path, &state, field))
		return false;
	sum->cpu_ms += (field[14] + field[15] + field[16] + field[17]) * 1000U /
	               (uint64_t)ticks;
	sum->pids += field[20];
	live_thread(proc->pid, state, field, proc->folder, sizeof(proc->folder));
	proc->rss = field[24] * (uint64_t)page;
	return true;
}

/* Files in the cell's tmpfs are memory, too. */
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

/* The file system of memfds has no path: create one to find its device. */
static dev_t memfd_device(void)
{
	static dev_t device;
	struct stat st;
	int fd;

	if (device == 0) {
		fd = memfd_create("look", MFD_CLOEXEC);
		if (fd >= 0 && fstat(fd, &st) == 0)
			device = st.st_dev;
		if (fd >= 0)
			(void)close(fd);
	}
	return device;
}

/*
 * Returns true if the process runs a program that is not readable, and so cannot be
 * inspected. A process that has just ended cannot be inspected either, but holds no
 * memory.
 */
static bool hides(const struct process *proc)
{
	uint64_t field[25] = {0};
	char path[64], state;

	(void)snprintf(path, sizeof(path), "%s/fd", proc->folder);
	if (access(path, R_OK) == 0 || errno != EACCES)
		return false;
	(void)snprintf(path, sizeof(path), "%s/stat", proc->folder);
	return read_stat(path, &state, field) && field[24] > 0;
}

/* Bytes in memfds that any process holds open, each counted once. */
static uint64_t memfd_bytes(const struct process *procs, size_t n)
{
	static pid_t fds[FDS_MAX];
	static ino_t seen[MEMFDS_MAX];
	size_t n_seen = 0, left = FDS_MAX;
	uint64_t sum = 0;
	char path[64];
	struct stat st;

	for (size_t i = 0; i < n; i++) {
		size_t count, k;

		/* Too many descriptors to inspect: treat as over the limit. */
		if (left == 0)
			return UINT64_MAX / 4;

		(void)snprintf(path, sizeof(path), "%s/fd", procs[i].folder);
		if (procs[i].rss > 0 && hides(&procs[i]))
			return UINT64_MAX / 4;
		count = procs[i].folder[0] ? dw_procs_numbers(path, fds, left) : 0;
		left -= count;
		for (size_t j = 0; j < count; j++) {
			(void)snprintf(path, sizeof(path), "%s/fd/%d", procs[i].folder,
			               fds[j]);
			if (stat(path, &st) < 0 || st.st_dev != memfd_device())
				continue;
			for (k = 0; k < n_seen && seen[k] != st.st_ino; k++)
				;
			if (k < n_seen)
				continue;
			if (n_seen < MEMFDS_MAX)
				seen[n_seen++] = st.st_ino;
			sum += (uint64_t)st.st_blocks * 512U;
		}
	}
	return sum;
}

/* System V shared memory of the cell's own ipc namespace. */
static uint64_t sysv_bytes(void)
{
	struct shm_info info;

	if (getpid() != 1 || shmctl(0, SHM_INFO, (struct shmid_ds *)&info) < 0)
		return 0;
	return info.shm_rss * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* peak is the most memory that earlier samples saw. */
static void take(uint64_t memory_limit, uint64_t peak, struct sample *ret)
{
	static pid_t list[DW_PROCS_MAX];
	static struct process procs[DW_PROCS_MAX];
	struct sample sum = {0};
	size_t n = dw_procs_list(list);
	uint64_t own = 0, shared = 0, files;

	for (size_t i = 0; i < n; i++) {
		procs[i].pid = list[i];
		if (add_process(&procs[i], &sum))
			own += procs[i].rss;
	}
	files = tmpfs_bytes() + memfd_bytes(procs, n) + sysv_bytes();

	/*
	 * Shared pages were counted once for each process. The exact count is slow, so
	 * we take it only past the limit, or for a new peak.
	 */
	if (own + files > memory_limit ||
	    ((n > 1 || files > 0) && own + files > peak + peak / 8)) {
		own = 0;
		for (size_t i = 0; i < n; i++)
			if (procs[i].rss > 0)
				add_exact(&procs[i], &own, &shared);
	}
	sum.memory = own + (shared > files ? shared : files);
	*ret = sum;
}

uint64_t dw_sample_dead_cpu_ns(void)
{
	struct rusage ru = {0};

	(void)getrusage(RUSAGE_CHILDREN, &ru);
	return (uint64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000000U +
	       (uint64_t)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000U;
}

enum dw_reason dw_sample_check(const struct dw_plan_header *h, struct dw_report_end *end)
{
	struct sample now;

	take(h->memory, end->peak_memory, &now);
	if (now.memory > end->peak_memory)
		end->peak_memory = now.memory;
	if (now.pids > end->peak_pids)
		end->peak_pids = now.pids;

	if ((h->flags & DW_PLAN_SAMPLE_MEMORY) && now.memory > h->memory)
		return DW_REASON_OOM;
	if ((h->flags & DW_PLAN_SAMPLE_PIDS) && now.pids > h->pids)
		return DW_REASON_PIDS;
	if ((h->flags & DW_PLAN_SAMPLE_CPU) &&
	    now.cpu_ms + dw_sample_dead_cpu_ns() / 1000000U > h->cpu_ms)
		return DW_REASON_TIMEOUT_CPU;
	return DW_REASON_EXIT;
}
