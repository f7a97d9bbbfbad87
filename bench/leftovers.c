/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measure what many runs leave behind: processes, mounts, cgroups, namespaces and
 * descriptors, counted before the pool is created and after it is freed, and the
 * growth of this process in between.
 */
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "bench/bench.h"

#define RUNS 10000U
#define RUNS_A_ROUND 33U /* runs for each round, if --rounds was given */
#define FIRST_RUNS 400U  /* until the memory of this process stops growing */
#define CALLERS 2
#define MB 1048576.0
#define ALL_MS (15 * 60000U)
#define SETTLE_MS 20000U /* the kernel releases cgroups late */

struct counts {
	long processes;
	long mounts;
	long cgroups;
	long namespaces;
	long descriptors;
};

static long count_words(const char *text)
{
	long n = 0;

	for (; *text != '\0'; text++)
		n += *text != ' ' && (text[1] == ' ' || text[1] == '\0');
	return n;
}

/*
 * Count our children and, since this process is a subreaper while it counts, orphans.
 * Each thread has its own list of children.
 */
static long count_processes(void)
{
	autodir DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	char path[300], text[16384];
	long n = 0;

	while (dir && (entry = readdir(dir)) != NULL) {
		(void)snprintf(path, sizeof(path), "%s/children", entry->d_name);
		if (dw_fd_read_attr(dirfd(dir), path, text, sizeof(text)) > 0)
			n += count_words(text);
	}
	return n;
}

static long count_mounts(void)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	long n = 0;
	int c;

	if (!file)
		return 0;
	while ((c = fgetc(file)) != EOF)
		n += c == '\n';
	(void)fclose(file);
	return n;
}

/* Globals, because nftw() passes no argument to its callback. */
static long cgroups_seen;
static char cgroup_prefix[64];

static int see_cgroup(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	cgroups_seen += type == FTW_D && strncmp(path + ftw->base, cgroup_prefix,
	                                         strlen(cgroup_prefix)) == 0;
	return 0;
}

/* Cgroup names hold the pid of their creator and its pid namespace. */
static long count_cgroups(void)
{
	struct stat st = {0};

	cgroups_seen = 0;
	(void)stat("/proc/self/ns/pid", &st);
	(void)snprintf(cgroup_prefix, sizeof(cgroup_prefix), "dewar-%ju-%d-",
	               (uintmax_t)st.st_ino, getpid());
	(void)nftw("/sys/fs/cgroup", see_cgroup, 16, FTW_PHYS);
	return cgroups_seen;
}

/* Only a process (counted above) or a descriptor keeps a namespace alive. */
static void count_descriptors(struct counts *ret)
{
	autodir DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	char target[64];
	ssize_t n;

	while (dir && (entry = readdir(dir)) != NULL) {
		n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = '\0';
		ret->descriptors++;
		ret->namespaces += target[0] != '/' && strstr(target, ":[") &&
		                   strncmp(target, "pipe:", 5) != 0 &&
		                   strncmp(target, "socket:", 7) != 0;
	}
}

static struct counts count(void)
{
	struct counts c = {
		.processes = count_processes(),
		.mounts = count_mounts(),
		.cgroups = count_cgroups(),
	};

	count_descriptors(&c);
	return c;
}

static long more(long after, long before)
{
	return after > before ? after - before : 0;
}

static struct counts left_since(const struct counts *before)
{
	struct counts after = count();

	return (struct counts){
		.processes = more(after.processes, before->processes),
		.mounts = more(after.mounts, before->mounts),
		.cgroups = more(after.cgroups, before->cgroups),
		.namespaces = more(after.namespaces, before->namespaces),
		.descriptors = more(after.descriptors, before->descriptors),
	};
}

static long sum(const struct counts *c)
{
	return c->processes + c->mounts + c->cgroups + c->namespaces + c->descriptors;
}

static struct counts settle(const struct counts *before)
{
	const struct timespec pause = {.tv_nsec = 100000000};
	uint64_t until = dw_now_ms() + SETTLE_MS;
	struct counts left;

	/* Reap orphaned zombies: this process is their parent now. */
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	left = left_since(before);
	while (sum(&left) > 0 && dw_now_ms() < until) {
		(void)nanosleep(&pause, NULL);
		left = left_since(before);
	}
	return left;
}

static double resident_mb(void)
{
	char text[128], *p;

	if (dw_fd_read_attr(AT_FDCWD, "/proc/self/statm", text, sizeof(text)) <= 0)
		return NAN;
	(void)strtoul(text, &p, 10);
	return (double)strtoul(p, NULL, 10) * (double)sysconf(_SC_PAGESIZE) / MB;
}

static int run_many(struct dw_bench *b, struct dw_bench_workload *workload, uint64_t runs,
                    struct dw_bench_load *load, struct dw_error *err)
{
	*load = (struct dw_bench_load){
		.workload = workload,
		.threads = CALLERS,
		.runs_each = (runs + CALLERS - 1) / CALLERS,
		.ms = ALL_MS,
		.title = "runs, for leftovers",
	};
	return dw_bench_load(b, load, err);
}

static void note_counts(struct dw_bench_row *row, const char *when,
                        const struct counts *c)
{
	dw_bench_note(row,
	              "%s: %ld processes, %ld mounts, %ld cgroups, %ld namespaces, %ld "
	              "descriptors",
	              when, c->processes, c->mounts, c->cgroups, c->namespaces,
	              c->descriptors);
}

static void conclude(struct dw_bench_row *row, struct dw_bench_load *load,
                     const struct counts *left, double grown)
{
	dw_bench_times(row, &load->samples);
	row->failed = load->failed;
	if (load->failed > 0)
		dw_bench_note(row, "%s", load->first.text);
	note_counts(row, "left", left);
	dw_bench_check(row, &(struct dw_bench_check){
				    .what = "left behind",
				    .unit = "left",
				    .value = (double)sum(left),
				    .bar = 0,
				    .aim = NAN,
			    });
	dw_bench_check(row, &(struct dw_bench_check){
				    .what = "resident growth",
				    .unit = "MB",
				    .value = grown,
				    .bar = 2,
				    .aim = NAN,
			    });
}

static void measure(struct dw_bench *b, struct dw_bench_row *row, uint64_t runs)
{
	struct dw_bench_load first = {0}, load = {0};
	struct dw_bench_workload workload = dw_bench_python;
	const struct counts before = count();
	struct dw_bench_pool pool = {0};
	struct dw_error err = {0};
	struct counts held, left;
	double grown = NAN;
	int r;

	if (dw_bench_pool_open(b, "python", CALLERS, &pool, &err) < 0) {
		dw_bench_skip(row, err.text);
		return;
	}
	workload.pool = pool.pool;
	workload.cancel_fd = b->cancel_fd;
	r = run_many(b, &workload, FIRST_RUNS, &first, &err);
	/* A control: if the count finds nothing now, it cannot find leftovers later. */
	held = left_since(&before);
	note_counts(row, "while the pool stands", &held);
	dw_bench_pool_mark(&pool);
	if (r == 0) {
		grown = -resident_mb();
		r = run_many(b, &workload, runs, &load, &err);
		/* Memory of the samples is not growth of the pool. */
		grown += resident_mb() -
		         (double)(load.samples.size * sizeof(double)) / MB;
	}
	dw_bench_pool_close(&pool, row);
	left = settle(&before);
	if (r == 0)
		conclude(row, &load, &left, grown < 0 ? 0 : grown);
	else
		dw_bench_skip(row, err.text);
	dw_samples_finish(&first.samples);
	dw_samples_finish(&load.samples);
}

void dw_bench_leftovers(struct dw_bench *b)
{
	struct dw_bench_row *row;

	if (!dw_bench_is_selected(b, "leftovers"))
		return;
	row = dw_bench_add(b, "leftovers", "what runs of print(1) leave behind");
	if (b->quick && !b->only) {
		dw_bench_skip(row, "takes a minute: skipped by --quick, unless --only "
		                   "names it");
		return;
	}
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
	measure(b, row, b->rounds_given ? b->rounds * RUNS_A_ROUND : RUNS);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 0UL, 0UL, 0UL, 0UL);
}
