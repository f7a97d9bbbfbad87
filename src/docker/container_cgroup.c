/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/docker_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/kernel.h"
#include "cgroup/cgroup.h"

#define UNKNOWN UINT64_MAX
/* Version 1 shows "no limit" as a number near 2^63. */
#define NO_LIMIT (1ULL << 62)

static const char *const unified[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
static const char *const controllers[] = {"memory", "cpu", "pids"};
/* For each controller, a file that exists only if the cgroup has that controller. */
static const char *const files_v2[] = {"memory.max", "cpu.max", "pids.max"};
static const char *const files_v1[] = {"memory.limit_in_bytes", "cpu.cfs_quota_us",
                                       "pids.max"};
_Static_assert(ARRAY_SIZE(controllers) == DW_DOCKER_LIMIT_COUNT, "one for each");

static bool has(const char *dir, const char *file)
{
	char path[1024];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, file);
	return access(path, R_OK) == 0;
}

static bool find_in(const char *mount, const char *path, const char *file, char *ret,
                    size_t size)
{
	(void)snprintf(ret, size, "%s%s", mount, path);
	if (has(ret, file))
		return true;
	ret[0] = '\0';
	return false;
}

static bool find_v1(const char *text, const char *id, const char *controller,
                    const char *file, char *ret, size_t size)
{
	char path[640], mount[64];

	if (dw_cgroup_own_path(text, controller, path, sizeof(path)) < 0 ||
	    !strstr(path, id))
		return false;
	(void)snprintf(mount, sizeof(mount), "/sys/fs/cgroup/%s", controller);
	return find_in(mount, path, file, ret, size);
}

void dw_container_cgroup_find(struct dw_container_cgroup *cg, const char *text,
                              const char *id)
{
	char path[640];
	bool has_v2 = dw_cgroup_own_path(text, NULL, path, sizeof(path)) == 0 &&
	              strstr(path, id) != NULL;

	memset(cg, 0, sizeof(*cg));
	for (int i = 0; i < DW_DOCKER_LIMIT_COUNT; i++) {
		char *dir = cg->group[i].dir;
		size_t size = sizeof(cg->group[i].dir);

		for (size_t j = 0; has_v2 && j < ARRAY_SIZE(unified); j++)
			if (cg->group[i].version == 0 &&
			    find_in(unified[j], path, files_v2[i], dir, size))
				cg->group[i].version = 2;
		if (cg->group[i].version == 0 &&
		    find_v1(text, id, controllers[i], files_v1[i], dir, size))
			cg->group[i].version = 1;
	}
	(void)find_v1(text, id, "cpuacct", "cpuacct.usage", cg->cpuacct,
	              sizeof(cg->cpuacct));
}

/* The paths at which engines create a container's cgroup, through cgroupfs or systemd. */
static const struct {
	const char *before, *after; /* the parts of the path around the id */
} usual[] = {
	{"/docker/", ""},
	{"/system.slice/docker-", ".scope"},
	{"/libpod_parent/libpod-", ""},
	{"/machine.slice/libpod-", ".scope/container"},
	{"/machine.slice/libpod-", ".scope"},
};

/*
 * Try the usual paths. We need this if we are in another pid namespace and cannot read
 * /proc/PID/cgroup. No other container's cgroup has this id in its path.
 */
static void find_usual(struct dw_container_cgroup *cg, const char *id)
{
	char text[2048], path[256];
	int len;

	for (size_t i = 0; i < ARRAY_SIZE(usual) && cg->group[0].version == 0; i++) {
		(void)snprintf(path, sizeof(path), "%s%s%s", usual[i].before, id,
		               usual[i].after);
		len = snprintf(text, sizeof(text),
		               "5:memory:%s\n4:cpu:%s\n3:cpuacct:%s\n2:pids:%s\n0::%s\n",
		               path, path, path, path, path);
		if (len > 0 && (size_t)len < sizeof(text))
			dw_container_cgroup_find(cg, text, id);
	}
}

void dw_container_cgroup_find_pid(struct dw_container_cgroup *cg, int pid, const char *id)
{
	char path[64], text[8192];

	(void)snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	if (pid <= 0 || dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0)
		text[0] = '\0';
	dw_container_cgroup_find(cg, text, id);
	if (text[0] == '\0')
		find_usual(cg, id);
}

void dw_container_namespaces(int pid, uint64_t ret[DW_NS_COUNT])
{
	for (int i = 0; pid > 0 && i < DW_NS_COUNT; i++)
		if (ret[i] == 0)
			ret[i] = dw_ns_of(pid, i);
}

static uint64_t read_number(const char *dir, const char *file)
{
	char path[1024];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, file);
	return dir[0] == '\0' ? UNKNOWN : dw_attr_number(AT_FDCWD, path);
}

static uint64_t read_word(const char *dir, const char *file, const char *word)
{
	char path[1024];

	(void)snprintf(path, sizeof(path), "%s/%s", dir, file);
	return dir[0] == '\0' ? UNKNOWN : dw_attr_event(AT_FDCWD, path, word);
}

static void read_memory(const char *dir, int version, struct dw_docker_enforced *ret)
{
	uint64_t max = read_number(dir, version == 2 ? files_v2[0] : files_v1[0]);
	uint64_t swap = read_number(dir, version == 2 ? "memory.swap.max"
	                                              : "memory.memsw.limit_in_bytes");

	if (max >= NO_LIMIT)
		return;
	ret->kernel = max;
	ret->version = (uint32_t)version;
	/* A kernel without swap accounting has no such file. */
	if (version == 2)
		ret->swap = has(dir, "memory.swap.max") && swap != 0;
	else
		ret->swap = swap != UNKNOWN && swap > max;
}

static void read_cpu(const char *dir, int version, struct dw_docker_enforced *ret)
{
	uint64_t quota, period;
	char path[1024], text[128], *end;

	if (version == 2) {
		(void)snprintf(path, sizeof(path), "%s/cpu.max", dir);
		if (dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) <= 0)
			return;
		quota = strtoull(text, &end, 10); /* 0 for "max" */
		period = strtoull(end, NULL, 10);
	} else {
		quota = read_number(dir, "cpu.cfs_quota_us");
		period = read_number(dir, "cpu.cfs_period_us");
	}
	if (quota == 0 || quota >= NO_LIMIT || period == 0 || period >= NO_LIMIT)
		return;
	ret->kernel = quota * 100 / period;
	ret->version = (uint32_t)version;
}

void dw_container_cgroup_limits(const struct dw_container_cgroup *cg,
                                struct dw_docker_enforced *ret)
{
	memset(ret, 0, sizeof(*ret) * DW_DOCKER_LIMIT_COUNT);
	for (int i = 0; i < DW_DOCKER_LIMIT_COUNT; i++) {
		const char *dir = cg->group[i].dir;
		int version = cg->group[i].version;
		uint64_t n;

		if (version == 0)
			continue;
		if (i == DW_DOCKER_MEMORY) {
			read_memory(dir, version, &ret[i]);
		} else if (i == DW_DOCKER_CPU) {
			read_cpu(dir, version, &ret[i]);
		} else {
			n = read_number(dir, "pids.max");
			if (n < NO_LIMIT)
				ret[i] = (struct dw_docker_enforced){n, (uint32_t)version,
				                                     0};
		}
	}
}

static uint64_t cpu_ns(const struct dw_container_cgroup *cg)
{
	uint64_t us;

	if (cg->group[DW_DOCKER_CPU].version != 2)
		return read_number(cg->cpuacct, "cpuacct.usage");
	us = read_word(cg->group[DW_DOCKER_CPU].dir, "cpu.stat", "usage_usec");
	return us == UNKNOWN ? UNKNOWN : us * 1000U;
}

static uint64_t oom_kills(const struct dw_container_cgroup *cg)
{
	const char *dir = cg->group[DW_DOCKER_MEMORY].dir;

	return read_word(dir,
	                 cg->group[DW_DOCKER_MEMORY].version == 2 ? "memory.events"
	                                                          : "memory.oom_control",
	                 "oom_kill");
}

static uint64_t refused(const struct dw_container_cgroup *cg)
{
	return read_word(cg->group[DW_DOCKER_PIDS].dir, "pids.events", "max");
}

void dw_container_cgroup_start(struct dw_container_cgroup *cg)
{
	char path[1024];
	autoclose int fd = -1;

	cg->cpu_before = cpu_ns(cg);
	cg->oom_before = oom_kills(cg);
	cg->pids_before = refused(cg);
	if (cg->group[DW_DOCKER_MEMORY].version == 0)
		return;
	/*
	 * So far the peak is that of the runtime. If the kernel does not let us reset it,
	 * it counts as the program's peak.
	 */
	(void)snprintf(path, sizeof(path), "%s/%s", cg->group[DW_DOCKER_MEMORY].dir,
	               cg->group[DW_DOCKER_MEMORY].version == 2
	                       ? "memory.peak"
	                       : "memory.max_usage_in_bytes");
	fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0)
		(void)dw_fd_write_all(fd, "0", 1);
}

static bool grew(uint64_t before, uint64_t now)
{
	return before != UNKNOWN && now != UNKNOWN && now > before;
}

void dw_container_cgroup_events(const struct dw_container_cgroup *cg,
                                struct dw_docker_end *ret)
{
	ret->oom |= grew(cg->oom_before, oom_kills(cg));
	ret->pids |= grew(cg->pids_before, refused(cg));
}

void dw_container_cgroup_usage(const struct dw_container_cgroup *cg,
                               struct dw_docker_end *ret)
{
	const char *dir = cg->group[DW_DOCKER_MEMORY].dir;
	uint64_t peak = read_number(dir, cg->group[DW_DOCKER_MEMORY].version == 2
	                                         ? "memory.peak"
	                                         : "memory.max_usage_in_bytes");
	uint64_t cpu = cpu_ns(cg);

	dw_container_cgroup_events(cg, ret);
	if (peak != UNKNOWN)
		ret->memory_peak = peak;
	if (grew(cg->cpu_before, cpu))
		ret->cpu_ns = cpu - cg->cpu_before;
}
