/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DOCKER_HELD_LIMITS_H
#define DW_DOCKER_HELD_LIMITS_H

#include <stddef.h>

#include "wire/docker.h"

/*
 * What the kernel, and not the engine, says of a container: the files of its
 * cgroups, found through its first process.
 */
struct dw_held {
	struct {
		int version; /* 2, 1, or 0: not to be found */
		char dir[768];
	} group[DW_DOCKER_LIMIT_COUNT];
	char cpuacct[768]; /* version 1 counts cpu time elsewhere */
	uint64_t cpu_before;
	uint64_t oom_before;
	uint64_t pids_before;
};

/*
 * text is /proc/PID/cgroup. Only groups with the id of the container in their path
 * are the container's own: what else a process is in, others are in, too.
 */
void dw_held_find(struct dw_held *h, const char *text, const char *id);
void dw_held_find_pid(struct dw_held *h, int pid, const char *id);

/* The namespaces of a process, where the kernel lets us see them, for those that are 0. */
void dw_held_namespaces(int pid, uint64_t ret[DW_NS_COUNT]);

void dw_held_read(const struct dw_held *h, struct dw_docker_held *ret);

/* From here on it is the program's. */
void dw_held_begin(struct dw_held *h);

/* Did the kernel kill for memory, or refuse a process, since then? */
void dw_held_events(const struct dw_held *h, struct dw_docker_end *ret);
void dw_held_usage(const struct dw_held *h, struct dw_docker_end *ret);

#endif
