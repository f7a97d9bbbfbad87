/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/cgroup_own.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/sysmacros.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

#define PERIOD_US 100000U
#define YIELDING_PERIOD_US 10000U
#define PIDS_LOOK_NS 25000000

/*
 * Each of these sets a limit: 0 or -errno, with the value read back in *ret, in the
 * caller's units. limit_memory() also limits swap, or pages could escape the limit.
 */

static int limit_memory(int version, int dir, uint64_t bytes, uint64_t *ret)
{
	const char *attr = version == 2 ? "memory.max" : "memory.limit_in_bytes";
	const char *swap = version == 2 ? "memory.swap.max"
	                                : "memory.memsw.limit_in_bytes";
	int r = dw_attr_set_limit(dir, attr, bytes, ret);

	if (r < 0)
		return r;
	r = dw_attr_set_number(dir, swap, version == 2 ? 0 : bytes);
	if (r < 0 && r != -ENOENT) /* a kernel that does not count swap lacks the file */
		return r;
	if (version == 2)
		(void)dw_attr_set(dir, "memory.oom.group", "1");
	else /* version 1 counts TCP buffers separately, if at all */
		(void)dw_attr_set_number(dir, "memory.kmem.tcp.limit_in_bytes",
		                         bytes / 8);
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
		r = dw_attr_set(dir, "cpu.max", text);
		*ret = dw_attr_number(dir, "cpu.max") * 100 / period_us;
	} else {
		/*
		 * The quota first: until the period is set, too, the share is at most the
		 * requested one. A larger share might exceed the parent's, which the
		 * kernel refuses.
		 */
		r = dw_attr_set_limit(dir, "cpu.cfs_quota_us", quota, ret);
		if (r == 0)
			r = dw_attr_set_number(dir, "cpu.cfs_period_us", period_us);
		*ret = *ret * 100 / period_us;
	}
	return r;
}

/* Limit reading and writing on each disk; *ret is the highest limit for writing. */
static int limit_io(int dir, uint64_t bytes, uint64_t *ret)
{
	unsigned long long most = bytes, read_back;
	struct dw_disks disks;
	char text[4096], want[64];
	const char *line;
	int r = dw_disks_find(&disks);

	if (r == 0 && disks.n == 0)
		r = -ENODEV;
	for (size_t i = 0; r == 0 && i < disks.n; i++) {
		(void)snprintf(want, sizeof(want), "%u:%u rbps=%llu wbps=%llu",
		               major(disks.list[i]), minor(disks.list[i]), most, most);
		r = dw_attr_set(dir, "io.max", want);
	}
	*ret = 0;
	if (r < 0)
		return r;
	if (dw_fd_read_attr(dir, "io.max", text, sizeof(text)) <= 0)
		return -EIO;
	for (line = strstr(text, "wbps="); line; line = strstr(line + 1, "wbps=")) {
		read_back = strtoull(line + strlen("wbps="), NULL, 10);
		if (read_back > *ret)
			*ret = read_back;
	}
	return 0;
}

int dw_cgroup_limit(enum dw_controller controller, struct dw_controlled *c,
                    const struct dw_limits *limits, uint64_t pids)
{
	switch (controller) {
	case DW_CONTROLLER_MEMORY:
		return limit_memory(c->version, c->dir_fd, limits->memory_bytes,
		                    &c->kernel);
	case DW_CONTROLLER_CPU:
		return limit_cpu(c->version, c->dir_fd, limits->cpu_percent, PERIOD_US,
		                 &c->kernel);
	case DW_CONTROLLER_IO:
		return limit_io(c->dir_fd, limits->io_bytes, &c->kernel);
	default:
		return dw_attr_set_limit(c->dir_fd, "pids.max", pids, &c->kernel);
	}
}

/* Version 1 reports events through an eventfd, version 2 through the file itself. */
int dw_cgroup_watch_memory(const struct dw_controlled *c)
{
	autoclose int control = -1;
	autoclose int event = -1;
	char text[32];

	if (c->version == 0)
		return -1;
	if (c->version == 2) {
		event = openat(c->dir_fd, "memory.events", O_RDONLY | O_CLOEXEC);
		dw_cgroup_rearm(event);
		return TAKE_FD(event);
	}

	control = openat(c->dir_fd, "memory.oom_control", O_RDONLY | O_CLOEXEC);
	event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (control < 0 || event < 0)
		return -1;
	(void)snprintf(text, sizeof(text), "%d %d", event, control);
	if (dw_attr_set(c->dir_fd, "cgroup.event_control", text) < 0)
		return -1;
	return TAKE_FD(event);
}

/* Version 1 sends no event for a refused fork: a timer makes the caller check. */
int dw_cgroup_watch_pids(const struct dw_controlled *c)
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

	if (cg->controllers[DW_CONTROLLER_PIDS].version == 1 && cg->pids_fd >= 0)
		(void)timerfd_settime(cg->pids_fd, 0, &often, NULL);
}

short dw_cgroup_events(const struct dw_cgroup *cg, enum dw_controller controller)
{
	return cg->controllers[controller].version == 2 ? POLLPRI : POLLIN;
}

void dw_cgroup_rearm(int fd)
{
	char text[256];

	/* Read an attribute from its start; pread() fails on an eventfd or timer. */
	if (pread(fd, text, sizeof(text), 0) < 0)
		(void)!read(fd, text, sizeof(uint64_t));
}

void dw_cgroup_read(const struct dw_cgroup *cg, struct dw_cgroup_usage *ret)
{
	const struct dw_controlled *memory = &cg->controllers[DW_CONTROLLER_MEMORY];
	const struct dw_controlled *pids = &cg->controllers[DW_CONTROLLER_PIDS];

	*ret = (struct dw_cgroup_usage){UINT64_MAX, UINT64_MAX, UINT64_MAX};
	if (memory->version == 2) {
		ret->memory_peak = dw_attr_number(memory->dir_fd, "memory.peak");
		ret->oom_kills = dw_attr_event(memory->dir_fd, "memory.events",
		                               "oom_kill");
	} else if (memory->version == 1) {
		ret->memory_peak = dw_attr_number(memory->dir_fd,
		                                  "memory.max_usage_in_bytes");
		ret->oom_kills = dw_attr_event(memory->dir_fd, "memory.oom_control",
		                               "oom_kill");
	}
	if (pids->version != 0)
		ret->pids_refused = dw_attr_event(pids->dir_fd, "pids.events", "max");
}

uint64_t dw_cgroup_yield(const struct dw_cgroup *cg, uint64_t percent)
{
	const struct dw_controlled *cpu = &cg->controllers[DW_CONTROLLER_CPU];
	uint64_t kernel;

	if (cpu->version == 0)
		return 0;
	/* Kernels before 5.15 lack cpu.idle: there only the smaller share helps. */
	(void)dw_attr_set(cpu->dir_fd, "cpu.idle", "1");
	if (limit_cpu(cpu->version, cpu->dir_fd, percent, YIELDING_PERIOD_US, &kernel) <
	    0)
		return cpu->kernel;
	return kernel;
}

void dw_cgroup_unthrottle(const struct dw_cgroup *cg)
{
	const struct dw_controlled *cpu = &cg->controllers[DW_CONTROLLER_CPU];

	if (cpu->version == 2)
		(void)dw_attr_set(cpu->dir_fd, "cpu.max", "max");
	else if (cpu->version == 1)
		(void)dw_attr_set(cpu->dir_fd, "cpu.cfs_quota_us", "-1");
}
