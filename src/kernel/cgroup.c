/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "kernel/cgroup_find.h"

#define PREFIX "dewar-"
#define PERIOD_US 100000U
#define YIELDING_PERIOD_US 10000U
#define PIDS_LOOK_NS 25000000
#define REMOVE_TRIES 200 /* of 1 ms and more each */

static const char *const controller_names[] = {
	[DW_CONTROLLER_MEMORY] = "memory",
	[DW_CONTROLLER_CPU] = "cpu",
	[DW_CONTROLLER_PIDS] = "pids",
};
_Static_assert(ARRAY_SIZE(controller_names) == DW_CONTROLLER_COUNT, "a name each");

const char *dw_controller_name(enum dw_controller controller)
{
	return controller_names[controller];
}

static int set_attr(int dir_fd, const char *attr, const char *value)
{
	autoclose int fd = openat(dir_fd, attr, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	/* The kernel takes an attribute in one write or not at all. */
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		return -errno;
	return 0;
}

static int set_number(int dir_fd, const char *attr, uint64_t value)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return set_attr(dir_fd, attr, text);
}

/* The same, and what the kernel made of it. */
static int set_limit_number(int dir_fd, const char *attr, uint64_t value, uint64_t *ret)
{
	autoclose int fd = openat(dir_fd, attr, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	char text[32] = "";
	int len = snprintf(text, sizeof(text), "%llu", (unsigned long long)value);

	*ret = UINT64_MAX;
	if (fd < 0 || write(fd, text, (size_t)len) < 0)
		return -errno;
	memset(text, 0, sizeof(text));
	if (pread(fd, text, sizeof(text) - 1, 0) > 0)
		*ret = strtoull(text, NULL, 10);
	return 0;
}

static uint64_t get_number(int dir_fd, const char *attr)
{
	char text[64];

	if (dw_fd_read_attr(dir_fd, attr, text, sizeof(text)) <= 0)
		return UINT64_MAX;
	return strtoull(text, NULL, 10);
}

/* The number behind a word at the start of a line: "oom_kill 3". */
static uint64_t get_event(int dir_fd, const char *attr, const char *word)
{
	char text[1024];
	size_t len = strlen(word);

	if (dw_fd_read_attr(dir_fd, attr, text, sizeof(text)) < 0)
		return UINT64_MAX;
	for (const char *p = text; p; p = strchr(p, '\n'), p = p ? p + 1 : NULL)
		if (strncmp(p, word, len) == 0 && p[len] == ' ')
			return strtoull(p + len + 1, NULL, 10);
	return UINT64_MAX;
}

/*
 * Setting a limit: 0 or -errno, and what the kernel made of it in *ret, in the
 * caller's units. Swap is closed along with memory: a limit that pages move out
 * of is none.
 */

static int limit_memory(int version, int dir, uint64_t bytes, uint64_t *ret)
{
	const char *attr = version == 2 ? "memory.max" : "memory.limit_in_bytes";
	const char *swap = version == 2 ? "memory.swap.max"
	                                : "memory.memsw.limit_in_bytes";
	int r = set_limit_number(dir, attr, bytes, ret);

	if (r < 0)
		return r;
	r = set_number(dir, swap, version == 2 ? 0 : bytes);
	if (r < 0 && r != -ENOENT) /* a kernel without swap has no file for it */
		return r;
	if (version == 2)
		(void)set_attr(dir, "memory.oom.group", "1");
	else /* buffers of TCP, which version 1 counts apart, if at all */
		(void)set_number(dir, "memory.kmem.tcp.limit_in_bytes", bytes / 8);
	return 0;
}

static int limit_cpu(int version, int dir, uint64_t percent, unsigned period_us,
                     uint64_t *ret)
{
	uint64_t quota = percent * period_us / 100;
	char text[64];
	int r;

	if (version == 2) {
		(void)snprintf(text, sizeof(text), "%llu %u", (unsigned long long)quota,
		               period_us);
		r = set_attr(dir, "cpu.max", text);
		*ret = get_number(dir, "cpu.max") * 100 / period_us;
	} else {
		/* In this order it is never more than either: a parent may not have it. */
		r = set_limit_number(dir, "cpu.cfs_quota_us", quota, ret);
		if (r == 0)
			r = set_number(dir, "cpu.cfs_period_us", period_us);
		*ret = *ret * 100 / period_us;
	}
	return r;
}

static int set_limit(enum dw_controller controller, struct dw_controlled *c,
                     const struct dw_limits *limits, uint64_t pids)
{
	switch (controller) {
	case DW_CONTROLLER_MEMORY:
		return limit_memory(c->version, c->dir_fd, limits->memory_bytes,
		                    &c->kernel);
	case DW_CONTROLLER_CPU:
		return limit_cpu(c->version, c->dir_fd, limits->cpu_percent, PERIOD_US,
		                 &c->kernel);
	default:
		return set_limit_number(c->dir_fd, "pids.max", pids, &c->kernel);
	}
}

static int make_folder(int parent, const char *name)
{
	int fd;

	if (mkdirat(parent, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

/*
 * In version 2 a child has a controller only if its parent passes it on, and a
 * parent that holds processes may not. We go up until one does or may.
 */
static int make_unified(int *parent, const char *name, const char *attr,
                        const char *enable)
{
	for (int depth = 0; depth < 16; depth++) {
		autoclose int fd = -1;
		int up;

		(void)set_attr(*parent, "cgroup.subtree_control", enable);
		fd = make_folder(*parent, name);
		if (fd >= 0 && faccessat(fd, attr, F_OK, 0) == 0)
			return TAKE_FD(fd);
		if (fd >= 0)
			(void)unlinkat(*parent, name, AT_REMOVEDIR);

		/* Above the top of the hierarchy there is no such file any more. */
		up = openat(*parent, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (up < 0)
			return -errno;
		dw_fd_close(parent);
		*parent = up;
		if (faccessat(up, "cgroup.procs", F_OK, 0) < 0)
			break;
	}
	return -EACCES;
}

/* The folder of version 2 that an earlier controller got, or NULL. */
static const struct dw_controlled *first_unified(const struct dw_cgroup *cg)
{
	for (int i = 0; i < DW_CONTROLLER_COUNT; i++)
		if (cg->held[i].version == 2)
			return &cg->held[i];
	return NULL;
}

static int share_unified(struct dw_controlled *c, const struct dw_controlled *first,
                         const char *attr, const char *enable)
{
	dw_fd_close(&c->parent_fd);
	(void)set_attr(first->parent_fd, "cgroup.subtree_control", enable);
	if (faccessat(first->dir_fd, attr, F_OK, 0) < 0)
		return -errno;
	c->parent_fd = fcntl(first->parent_fd, F_DUPFD_CLOEXEC, 3);
	c->dir_fd = fcntl(first->dir_fd, F_DUPFD_CLOEXEC, 3);
	return c->parent_fd < 0 || c->dir_fd < 0 ? -EMFILE : 0;
}

static int open_controller(const struct dw_cgroup *cg, enum dw_controller controller,
                           struct dw_controlled *c, int version)
{
	static const char *const attrs[] = {"memory.max", "cpu.max", "pids.max"};
	const struct dw_controlled *first = first_unified(cg);
	char enable[32];

	(void)snprintf(enable, sizeof(enable), "+%s", dw_controller_name(controller));
	if (version == 2 && first)
		return share_unified(c, first, attrs[controller], enable);
	c->dir_fd = version == 2 ? make_unified(&c->parent_fd, cg->name,
	                                        attrs[controller], enable)
	                         : make_folder(c->parent_fd, cg->name);
	return c->dir_fd < 0 ? c->dir_fd : 0;
}

/* Where to make the group; the version that is there, or 0 and why in c. */
static int find_parent(const struct dw_cgroup *beside,
                       const struct dw_cgroup_places *places,
                       enum dw_controller controller, struct dw_controlled *c)
{
	if (beside && beside->held[controller].version != 0) {
		c->parent_fd = fcntl(beside->held[controller].parent_fd, F_DUPFD_CLOEXEC,
		                     3);
		return beside->held[controller].version;
	}
	return dw_cgroup_find(places, controller, &c->parent_fd, c->why, sizeof(c->why));
}

static void hold(struct dw_cgroup *cg, const struct dw_cgroup *beside,
                 const struct dw_cgroup_places *places, enum dw_controller controller,
                 const struct dw_limits *limits, uint64_t pids)
{
	struct dw_controlled c = {.dir_fd = -1, .parent_fd = -1};
	int version, r;

	version = find_parent(beside, places, controller, &c);
	if (version != 0) {
		r = open_controller(cg, controller, &c, version);
		c.version = version;
		if (r == 0)
			r = set_limit(controller, &c, limits, pids);
		if (r < 0) {
			(void)snprintf(c.why, sizeof(c.why),
			               "the %s cgroup (version %d) is not ours to use: %s",
			               dw_controller_name(controller), version,
			               strerrordesc_np(-r));
			/* Another controller may hold the same folder. */
			if (c.dir_fd >= 0 && !(version == 2 && first_unified(cg)))
				(void)unlinkat(c.parent_fd, cg->name, AT_REMOVEDIR);
			dw_fd_close(&c.dir_fd);
			dw_fd_close(&c.parent_fd);
			c.version = 0;
		}
	}
	cg->held[controller] = c;
}

/* Version 1 tells through an eventfd; version 2 through the file itself. */
static int watch_memory(const struct dw_controlled *c)
{
	autoclose int control = -1;
	autoclose int event = -1;
	char text[32];

	if (c->version == 0)
		return -1;
	if (c->version == 2)
		return openat(c->dir_fd, "memory.events", O_RDONLY | O_CLOEXEC);

	control = openat(c->dir_fd, "memory.oom_control", O_RDONLY | O_CLOEXEC);
	event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (control < 0 || event < 0)
		return -1;
	(void)snprintf(text, sizeof(text), "%d %d", event, control);
	if (set_attr(c->dir_fd, "cgroup.event_control", text) < 0)
		return -1;
	return TAKE_FD(event);
}

/* Version 1 counts refused forks but tells nobody: a clock makes us look. */
static int watch_pids(const struct dw_controlled *c)
{
	int fd;

	if (c->version == 0)
		return -1;
	if (c->version == 2) {
		fd = openat(c->dir_fd, "pids.events", O_RDONLY | O_CLOEXEC);
		dw_cgroup_rearm(fd);
		return fd;
	}
	return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
}

void dw_cgroup_arm(const struct dw_cgroup *cg)
{
	const struct itimerspec often = {
		.it_value.tv_nsec = PIDS_LOOK_NS,
		.it_interval.tv_nsec = PIDS_LOOK_NS,
	};

	if (cg->held[DW_CONTROLLER_PIDS].version == 1 && cg->pids_fd >= 0)
		(void)timerfd_settime(cg->pids_fd, 0, &often, NULL);
}

short dw_cgroup_events(const struct dw_cgroup *cg, enum dw_controller controller)
{
	return cg->held[controller].version == 2 ? POLLPRI : POLLIN;
}

void dw_cgroup_rearm(int fd)
{
	char text[256];

	/* An attribute is read from its start; an eventfd or clock has none. */
	if (pread(fd, text, sizeof(text), 0) < 0)
		(void)!read(fd, text, sizeof(uint64_t));
}

/* "dewar-4026531836-": a pid says who made a group only within its namespace. */
static size_t name_prefix(char *ret, size_t size)
{
	struct stat st = {0};

	(void)stat("/proc/self/ns/pid", &st);
	return (size_t)snprintf(ret, size, PREFIX "%llu-", (unsigned long long)st.st_ino);
}

void dw_cgroup_init(struct dw_cgroup *cg)
{
	*cg = (struct dw_cgroup){.oom_fd = -1, .pids_fd = -1};
	for (int i = 0; i < DW_CONTROLLER_COUNT; i++)
		cg->held[i].dir_fd = cg->held[i].parent_fd = -1;
}

static bool holds_all(const struct dw_cgroup *cg)
{
	for (int i = 0; i < DW_CONTROLLER_COUNT; i++)
		if (cg->held[i].version == 0)
			return false;
	return true;
}

void dw_cgroup_create(struct dw_cgroup *cg, const char *name,
                      const struct dw_cgroup *beside, const struct dw_limits *limits,
                      uint64_t pids)
{
	struct dw_cgroup_places places;
	size_t len;

	dw_cgroup_init(cg);
	len = name_prefix(cg->name, sizeof(cg->name));
	(void)snprintf(cg->name + len, sizeof(cg->name) - len, "%d-%.16s", getpid(),
	               name);
	dw_cgroup_look(&places, !beside || !holds_all(beside));
	for (int i = 0; i < DW_CONTROLLER_COUNT; i++)
		hold(cg, beside, &places, i, limits, pids);
	dw_cgroup_look_finish(&places);
	cg->oom_fd = watch_memory(&cg->held[DW_CONTROLLER_MEMORY]);
	cg->pids_fd = watch_pids(&cg->held[DW_CONTROLLER_PIDS]);
}

/* One folder of version 2 serves all controllers; version 1 has one for each. */
static bool has_own_folder(const struct dw_cgroup *cg, int i)
{
	const struct dw_controlled *c = &cg->held[i];

	return c->version == 1 || (c->version == 2 && first_unified(cg) == c);
}

int dw_cgroup_open_procs(const struct dw_cgroup *cg, int *ret, struct dw_error *err)
{
	int n = 0;

	for (int i = 0; i < DW_CONTROLLER_COUNT; i++) {
		if (!has_own_folder(cg, i))
			continue;
		/*
		 * Moving a process takes a lock that waits for an RCU grace period,
		 * 10 to 20 ms on an idle host. A thread that moves itself does not
		 * need it, and version 1 has a file for that; the launcher has one
		 * thread.
		 */
		ret[n] = openat(cg->held[i].dir_fd,
		                cg->held[i].version == 1 ? "tasks" : "cgroup.procs",
		                O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
		if (ret[n] < 0) {
			(void)dw_fail(err, DW_E_INTERNAL, errno, "open the %s cgroup",
			              dw_controller_name(i));
			while (n > 0)
				(void)close(ret[--n]);
			return -1;
		}
		n++;
	}
	return n;
}

void dw_cgroup_read(const struct dw_cgroup *cg, struct dw_cgroup_usage *ret)
{
	const struct dw_controlled *memory = &cg->held[DW_CONTROLLER_MEMORY];
	const struct dw_controlled *pids = &cg->held[DW_CONTROLLER_PIDS];

	*ret = (struct dw_cgroup_usage){UINT64_MAX, UINT64_MAX, UINT64_MAX};
	if (memory->version == 2) {
		ret->memory_peak = get_number(memory->dir_fd, "memory.peak");
		ret->oom_kills = get_event(memory->dir_fd, "memory.events", "oom_kill");
	} else if (memory->version == 1) {
		ret->memory_peak = get_number(memory->dir_fd,
		                              "memory.max_usage_in_bytes");
		ret->oom_kills = get_event(memory->dir_fd, "memory.oom_control",
		                           "oom_kill");
	}
	if (pids->version != 0)
		ret->pids_refused = get_event(pids->dir_fd, "pids.events", "max");
}

static void kill_members(int dir_fd)
{
	autoclose int fd = -1;
	char text[4096];
	long pid = 0;
	ssize_t n;

	if (set_attr(dir_fd, "cgroup.kill", "1") == 0)
		return;
	fd = openat(dir_fd, "cgroup.procs", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	/* There may be any number of them: a number may be cut by the end of a read. */
	while (fd >= 0 && (n = read(fd, text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				pid = pid * 10 + (text[i] - '0');
				continue;
			}
			/* 0 is one that our pid namespace does not have. */
			if (pid > 0)
				(void)kill((pid_t)pid, SIGKILL);
			pid = 0;
		}
}

uint64_t dw_cgroup_yield(const struct dw_cgroup *cg, uint64_t percent)
{
	const struct dw_controlled *cpu = &cg->held[DW_CONTROLLER_CPU];
	uint64_t kernel;

	if (cpu->version == 0)
		return 0;
	/* Kernels before 5.15 do not have it: there the share alone helps. */
	(void)set_attr(cpu->dir_fd, "cpu.idle", "1");
	if (limit_cpu(cpu->version, cpu->dir_fd, percent, YIELDING_PERIOD_US, &kernel) <
	    0)
		return cpu->kernel;
	return kernel;
}

void dw_cgroup_unthrottle(const struct dw_cgroup *cg)
{
	const struct dw_controlled *cpu = &cg->held[DW_CONTROLLER_CPU];

	if (cpu->version == 2)
		(void)set_attr(cpu->dir_fd, "cpu.max", "max");
	else if (cpu->version == 1)
		(void)set_attr(cpu->dir_fd, "cpu.cfs_quota_us", "-1");
}

void dw_cgroup_kill(const struct dw_cgroup *cg)
{
	/* One that yields could take for ever to die on a busy host. */
	if (cg->held[DW_CONTROLLER_CPU].version != 0)
		(void)set_attr(cg->held[DW_CONTROLLER_CPU].dir_fd, "cpu.idle", "0");
	for (int i = 0; i < DW_CONTROLLER_COUNT; i++)
		if (cg->held[i].version != 0)
			kill_members(cg->held[i].dir_fd);
}

/* A folder is busy for a moment after its last process has gone. */
static int remove_folder(const struct dw_controlled *c, const char *name)
{
	struct timespec pause = {.tv_nsec = 200000};

	for (int i = 0; i < REMOVE_TRIES; i++) {
		if (unlinkat(c->parent_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
			return 0;
		if (errno != EBUSY)
			return -errno;
		kill_members(c->dir_fd);
		(void)nanosleep(&pause, NULL);
		if (pause.tv_nsec < 20000000)
			pause.tv_nsec *= 2;
	}
	return -EBUSY;
}

int dw_cgroup_destroy(struct dw_cgroup *cg, struct dw_error *err)
{
	int result = 0, r;

	dw_fd_close(&cg->oom_fd);
	dw_fd_close(&cg->pids_fd);
	for (int i = 0; i < DW_CONTROLLER_COUNT; i++) {
		struct dw_controlled *c = &cg->held[i];

		r = c->version == 0 ? 0 : remove_folder(c, cg->name);
		if (r < 0)
			result = dw_fail(err, DW_E_INTERNAL, -r,
			                 "remove the %s cgroup %s", dw_controller_name(i),
			                 cg->name);
		dw_fd_close(&c->dir_fd);
		dw_fd_close(&c->parent_fd);
		c->version = 0;
	}
	return result;
}

/* Made by a process of our own pid namespace (elsewhere pids mean others) that is gone? */
static bool is_abandoned(const char *name, const char *own)
{
	size_t len = strlen(own);
	long pid;

	if (strncmp(name, own, len) != 0)
		return false;
	pid = strtol(name + len, NULL, 10);
	return pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

static void sweep_folder(int parent_fd, const char *own)
{
	int fd = openat(parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autodir DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;

	while (dir && (d = readdir(dir)) != NULL)
		if (is_abandoned(d->d_name, own))
			(void)unlinkat(parent_fd, d->d_name, AT_REMOVEDIR);
}

void dw_cgroup_sweep(const struct dw_cgroup *cg)
{
	char own[64];

	(void)name_prefix(own, sizeof(own));
	for (int i = 0; i < DW_CONTROLLER_COUNT; i++)
		if (has_own_folder(cg, i))
			sweep_folder(cg->held[i].parent_fd, own);
}
