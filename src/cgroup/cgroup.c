/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "cgroup/cgroup_own.h"

#define REMOVE_TRIES 200 /* with pauses of 0.2 to 20 ms */

static const char *const controller_names[] = {
	[DW_CONTROLLER_MEMORY] = "memory",
	[DW_CONTROLLER_CPU] = "cpu",
	[DW_CONTROLLER_PIDS] = "pids",
	[DW_CONTROLLER_IO] = "io",
};
_Static_assert(ARRAY_SIZE(controller_names) == DW_CONTROLLER_COUNT, "a name each");

const char *dw_controller_name(enum dw_controller controller)
{
	return controller_names[controller];
}

static int make_folder(int parent, const char *name)
{
	int fd;

	if (mkdirat(parent, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

/* The first controller in version 2, which owns the shared folder; or NULL. */
static const struct dw_controlled *first_unified(const struct dw_cgroup *cg)
{
	for (int i = 0; i < DW_CONTROLLER_COUNT; i++)
		if (cg->controllers[i].version == 2)
			return &cg->controllers[i];
	return NULL;
}

/* In version 2 all controllers share a folder; the first one creates it. */
static int open_unified(const struct dw_cgroup *cg, struct dw_controlled *c,
                        const char *attr)
{
	const struct dw_controlled *first = first_unified(cg);

	c->dir_fd = first ? fcntl(first->dir_fd, F_DUPFD_CLOEXEC, 3)
	                  : make_folder(c->parent_fd, cg->name);
	if (c->dir_fd < 0)
		return first ? -errno : c->dir_fd;
	return faccessat(c->dir_fd, attr, F_OK, 0) < 0 ? -errno : 0;
}

static int open_controller(const struct dw_cgroup *cg, enum dw_controller controller,
                           struct dw_controlled *c, int version)
{
	static const char *const attrs[] = {"memory.max", "cpu.max", "pids.max",
	                                    "io.max"};

	if (version == 2)
		return open_unified(cg, c, attrs[controller]);
	c->dir_fd = make_folder(c->parent_fd, cg->name);
	return c->dir_fd < 0 ? c->dir_fd : 0;
}

/* Open the folder for the group. Returns its version, or 0 with the reason in c->why. */
static int find_parent(const struct dw_cgroup *beside,
                       const struct dw_cgroup_places *places,
                       enum dw_controller controller, struct dw_controlled *c)
{
	if (beside && beside->controllers[controller].version != 0) {
		c->parent_fd = fcntl(beside->controllers[controller].parent_fd,
		                     F_DUPFD_CLOEXEC, 3);
		return beside->controllers[controller].version;
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
			r = dw_cgroup_limit(controller, &c, limits, pids);
		if (r < 0) {
			(void)snprintf(c.why, sizeof(c.why),
			               "no permission to use the %s cgroup (version "
			               "%d): %s",
			               dw_controller_name(controller), version,
			               strerrordesc_np(-r));
			/* Another controller may use the same folder. */
			if (c.dir_fd >= 0 && !(version == 2 && first_unified(cg)))
				(void)unlinkat(c.parent_fd, cg->name, AT_REMOVEDIR);
			dw_fd_close(&c.dir_fd);
			dw_fd_close(&c.parent_fd);
			c.version = 0;
		}
	}
	cg->controllers[controller] = c;
}

void dw_cgroup_init(struct dw_cgroup *cg)
{
	*cg = (struct dw_cgroup){.oom_fd = -1, .pids_fd = -1};
	for (int i = 0; i < DW_CONTROLLER_COUNT; i++)
		cg->controllers[i].dir_fd = cg->controllers[i].parent_fd = -1;
}

/*
 * The io controller is used only for a disk limit, and exists only in version 2. Version
 * 1 has one for disks too (blkio), but it does not count writes through the page cache
 * for the cell, so its limit would miss most of them.
 */
static bool is_wanted(enum dw_controller controller, const struct dw_limits *limits)
{
	return controller != DW_CONTROLLER_IO || limits->io_bytes != 0;
}

static bool holds_all(const struct dw_cgroup *cg, const struct dw_limits *limits)
{
	for (int i = 0; i < DW_CONTROLLER_COUNT; i++)
		if (cg->controllers[i].version == 0 && is_wanted(i, limits))
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
	len = dw_cgroup_prefix(cg->name, sizeof(cg->name));
	(void)snprintf(cg->name + len, sizeof(cg->name) - len, "%d-%.16s", getpid(),
	               name);
	dw_cgroup_look(&places, !beside || !holds_all(beside, limits));
	for (int i = 0; i < DW_CONTROLLER_COUNT; i++)
		if (is_wanted(i, limits))
			hold(cg, beside, &places, i, limits, pids);
	dw_cgroup_look_finish(&places);
	cg->oom_fd = dw_cgroup_watch_memory(&cg->controllers[DW_CONTROLLER_MEMORY]);
	cg->pids_fd = dw_cgroup_watch_pids(&cg->controllers[DW_CONTROLLER_PIDS]);
}

/* One folder of version 2 serves all controllers; version 1 has one for each. */
static bool has_own_folder(const struct dw_cgroup *cg, int i)
{
	const struct dw_controlled *c = &cg->controllers[i];

	return c->version == 1 || (c->version == 2 && first_unified(cg) == c);
}

int dw_cgroup_born_in(const struct dw_cgroup *cg)
{
	const struct dw_controlled *c = first_unified(cg);

	return c ? c->dir_fd : -1;
}

int dw_cgroup_open_procs(const struct dw_cgroup *cg, bool born, int *ret,
                         struct dw_error *err)
{
	int n = 0;

	for (int i = 0; i < DW_CONTROLLER_COUNT; i++) {
		if (!has_own_folder(cg, i) || (born && cg->controllers[i].version == 2))
			continue;
		/*
		 * Moving a process waits for an RCU grace period, 10 to 20 ms on an
		 * idle host. A thread that moves itself through version 1's "tasks"
		 * does not wait, and the launcher has one thread.
		 */
		ret[n] = openat(cg->controllers[i].dir_fd,
		                cg->controllers[i].version == 1 ? "tasks"
		                                                : "cgroup.procs",
		                O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
		if (ret[n] < 0) {
			(void)dw_fail(err, DW_E_INTERNAL, errno,
			              "cannot open the %s cgroup", dw_controller_name(i));
			while (n > 0)
				(void)close(ret[--n]);
			return -1;
		}
		n++;
	}
	return n;
}

static void kill_members(int dir_fd)
{
	autoclose int fd = -1;
	char text[4096];
	long pid = 0;
	ssize_t n;

	if (dw_attr_set(dir_fd, "cgroup.kill", "1") == 0)
		return;
	fd = openat(dir_fd, "cgroup.procs", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	/* The list may be long, so a number may be split between two reads. */
	while (fd >= 0 && (n = read(fd, text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				pid = pid * 10 + (text[i] - '0');
				continue;
			}
			/* 0 is a process outside our pid namespace. */
			if (pid > 0)
				(void)kill((pid_t)pid, SIGKILL);
			pid = 0;
		}
}

void dw_cgroup_kill(const struct dw_cgroup *cg)
{
	/* On a busy host the processes of a cell that yields might never run to exit. */
	if (cg->controllers[DW_CONTROLLER_CPU].version != 0)
		(void)dw_attr_set(cg->controllers[DW_CONTROLLER_CPU].dir_fd, "cpu.idle",
		                  "0");
	for (int i = 0; i < DW_CONTROLLER_COUNT; i++)
		if (cg->controllers[i].version != 0)
			kill_members(cg->controllers[i].dir_fd);
}

/* The kernel reports EBUSY for a moment after the last process has ended. */
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
		struct dw_controlled *c = &cg->controllers[i];

		r = c->version == 0 ? 0 : remove_folder(c, cg->name);
		if (r < 0)
			result = dw_fail(err, DW_E_INTERNAL, -r,
			                 "cannot remove the %s cgroup %s",
			                 dw_controller_name(i), cg->name);
		dw_fd_close(&c->dir_fd);
		dw_fd_close(&c->parent_fd);
		c->version = 0;
	}
	return result;
}

/* Returns true if the creator was a process of our pid namespace, and has ended. */
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
	autodir DIR *dir = dw_path_opendir(parent_fd);
	struct dirent *d;

	while (dir && (d = readdir(dir)) != NULL)
		if (is_abandoned(d->d_name, own))
			(void)unlinkat(parent_fd, d->d_name, AT_REMOVEDIR);
}

void dw_cgroup_sweep(const struct dw_cgroup *cg)
{
	char own[64];

	(void)dw_cgroup_prefix(own, sizeof(own));
	for (int i = 0; i < DW_CONTROLLER_COUNT; i++)
		if (has_own_folder(cg, i))
			sweep_folder(cg->controllers[i].parent_fd, own);
}
