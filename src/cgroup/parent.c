/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation
 *
 * In version 2 a group's children have a controller only if the group passes it on,
 * and a group that does may contain no processes (except the top of the hierarchy).
 * So we cannot simply create cells below our own group. Their parent is
 *
 *  1. our own group, if it is delegated to us: systemd says so in an attribute
 *     (Delegate=yes); without systemd no manager claims it. We move this process into
 *     a leaf first. If other processes are in the group, we must not move them, and
 *     move back;
 *  2. a group above it, under the same conditions; then no process has to move;
 *  3. a scope that systemd created for us (levels/scope.c).
 *
 *	parent ── dewar-…-own      our own process
 *	       ── dewar-…-cell     one for each cell
 *
 * A process cannot remove the leaf that it is in. systemd removes a unit with all groups
 * below it; elsewhere the empty leaf remains until another dewar sweeps.
 */
#include "cgroup/cgroup_own.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

#define PREFIX "dewar-"
#define DEPTH_MAX 16

static struct {
	pthread_mutex_t lock;
	bool looked;
	enum dw_cgroup_parent_kind state;
	int fd;
	char why[160];
	char refused[160];
} parent = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

size_t dw_cgroup_prefix(char *ret, size_t size)
{
	struct stat st = {0};

	(void)stat("/proc/self/ns/pid", &st);
	return (size_t)snprintf(ret, size, PREFIX "%llu-", (unsigned long long)st.st_ino);
}

void dw_cgroup_leaf_name(char *ret, size_t size, int pid)
{
	size_t len = dw_cgroup_prefix(ret, size);

	if (len < size)
		(void)snprintf(ret + len, size - len, "%d-own", pid);
}

static bool look_for_controllers(void)
{
	static const char *const lists[] = {"/sys/fs/cgroup/cgroup.controllers",
	                                    "/sys/fs/cgroup/unified/cgroup.controllers"};
	char text[512];

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (dw_fd_read_attr(AT_FDCWD, lists[i], text, sizeof(text)) > 0)
			return dw_cgroup_has_word(text, "memory") ||
			       dw_cgroup_has_word(text, "pids") ||
			       dw_cgroup_has_word(text, "cpu");
	return false;
}

bool dw_cgroup_is_unified(void)
{
	enum {
		UNKNOWN,
		NO,
		YES
	};
	static int known; /* the answer does not change while a host is up */
	int seen = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (seen == UNKNOWN) {
		seen = look_for_controllers() ? YES : NO;
		__atomic_store_n(&known, seen, __ATOMIC_RELAXED);
	}
	return seen == YES;
}

/*
 * Returns true if processes in the group keep it from passing controllers on. Only the
 * top of the hierarchy, which has no cgroup.type, may do so with processes in it.
 */
static bool is_occupied(int dir_fd)
{
	char text[16];

	if (faccessat(dir_fd, "cgroup.type", F_OK, 0) < 0)
		return false;
	/* A list that does not fit is an error here, and also means processes. */
	return dw_fd_read_attr(dir_fd, "cgroup.procs", text, sizeof(text)) != 0;
}

/*
 * Enable all controllers in one write, which succeeds or fails as a whole. One by one,
 * the kernel would enable some of them although the group has processes, and so make it
 * threaded; no cell can be created in a threaded group.
 */
int dw_cgroup_pass_on(int dir_fd)
{
	char has[512], passes[512], enable[64];
	int known = 0, len = 0;

	if (is_occupied(dir_fd))
		return -EBUSY;
	if (dw_fd_read_attr(dir_fd, "cgroup.controllers", has, sizeof(has)) < 0 ||
	    dw_fd_read_attr(dir_fd, "cgroup.subtree_control", passes, sizeof(passes)) < 0)
		return -ENOENT;
	for (int i = 0; i < DW_CONTROLLER_COUNT; i++) {
		const char *name = dw_controller_name(i);

		if (!dw_cgroup_has_word(has, name))
			continue;
		known += i != DW_CONTROLLER_IO; /* io alone does not suffice */
		if (!dw_cgroup_has_word(passes, name))
			len += snprintf(enable + len, sizeof(enable) - (size_t)len,
			                "+%s ", name);
	}
	if (known == 0)
		return -ENOENT;
	return len == 0 ? 0 : dw_attr_set(dir_fd, "cgroup.subtree_control", enable);
}

static int write_pid(int dir_fd, int pid)
{
	return dw_attr_set_number(dir_fd, "cgroup.procs", (uint64_t)pid);
}

int dw_cgroup_enter_leaf(int dir_fd, int pid)
{
	autoclose int leaf = -1;
	char name[64];
	int r;

	dw_cgroup_leaf_name(name, sizeof(name), pid);
	if (mkdirat(dir_fd, name, 0755) < 0 && errno != EEXIST)
		return -errno;
	leaf = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	r = leaf < 0 ? -errno : write_pid(leaf, getpid());
	if (r < 0)
		(void)unlinkat(dir_fd, name, AT_REMOVEDIR);
	return r;
}

static void leave_leaf(int dir_fd)
{
	char name[64];

	dw_cgroup_leaf_name(name, sizeof(name), getpid());
	if (write_pid(dir_fd, getpid()) == 0)
		(void)unlinkat(dir_fd, name, AT_REMOVEDIR);
}

/* Make this group the parent. 0, or -errno with nothing changed. */
static int claim(int dir_fd, bool inside)
{
	int r;

	/*
	 * To move a process from our group into a cell's, we need write permission for
	 * cgroup.procs of their common ancestor.
	 */
	if (faccessat(dir_fd, ".", W_OK, AT_EACCESS) < 0 ||
	    faccessat(dir_fd, "cgroup.procs", W_OK, AT_EACCESS) < 0)
		return -errno;
	r = dw_cgroup_pass_on(dir_fd);
	if (r != -EBUSY || !inside)
		return r;
	r = dw_cgroup_enter_leaf(dir_fd, getpid());
	if (r < 0)
		return r;
	r = dw_cgroup_pass_on(dir_fd);
	if (r < 0)
		leave_leaf(dir_fd);
	return r;
}

/* systemd marks delegated groups by an attribute; only root can read the second one. */
static bool is_delegated(int dir_fd)
{
	static const char *const marks[] = {"user.delegate", "trusted.delegate"};
	char value[4] = "";

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (fgetxattr(dir_fd, marks[i], value, sizeof(value)) == 1 &&
		    value[0] == '1')
			return true;
	return false;
}

static void explain(int r, bool managed)
{
	const char *why = "no permission to create groups below this process's group";

	if (r == -EBUSY)
		why = "other processes are in this process's group";
	else if (managed)
		why = "systemd has not delegated this process's group (Delegate=yes)";
	else if (r == -EROFS)
		why = "the hierarchy is mounted read-only";
	(void)snprintf(parent.why, sizeof(parent.why), "%s", why);
}

/* Search from our own group upwards, as far as the hierarchy is visible. */
static enum dw_cgroup_parent_kind find(void)
{
	bool managed = access("/run/systemd/system", F_OK) == 0;
	autoclose int fd = dw_cgroup_open_own();
	int r = 0, worst = 0;

	for (int depth = 0; fd >= 0 && depth < DEPTH_MAX; depth++) {
		int up;

		/* Without this file, we are above the top of the hierarchy. */
		if (faccessat(fd, "cgroup.procs", F_OK, 0) < 0)
			break;
		if (!managed || is_delegated(fd)) {
			r = claim(fd, depth == 0);
			if (r == 0) {
				parent.fd = TAKE_FD(fd);
				return DW_CGROUP_PARENT_KIND_OURS;
			}
			if (worst != -EBUSY)
				worst = r;
		}
		up = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		dw_fd_close(&fd);
		fd = up;
	}
	explain(worst, managed);
	return DW_CGROUP_PARENT_KIND_FOREIGN;
}

enum dw_cgroup_parent_kind dw_cgroup_settle(void)
{
	enum dw_cgroup_parent_kind state;

	pthread_mutex_lock(&parent.lock);
	if (!parent.looked) {
		parent.state = dw_cgroup_is_unified() ? find()
		                                      : DW_CGROUP_PARENT_KIND_NONE;
		parent.looked = true;
	}
	state = parent.state;
	pthread_mutex_unlock(&parent.lock);
	return state;
}

void dw_cgroup_parent_set(int fd)
{
	pthread_mutex_lock(&parent.lock);
	dw_fd_close(&parent.fd);
	parent.fd = fd;
	parent.state = DW_CGROUP_PARENT_KIND_OURS;
	pthread_mutex_unlock(&parent.lock);
}

void dw_cgroup_parent_lost(void)
{
	pthread_mutex_lock(&parent.lock);
	dw_fd_close(&parent.fd);
	parent.state = DW_CGROUP_PARENT_KIND_FOREIGN;
	pthread_mutex_unlock(&parent.lock);
}

void dw_cgroup_parent_refused(const char *why)
{
	pthread_mutex_lock(&parent.lock);
	(void)snprintf(parent.refused, sizeof(parent.refused), "%s", why);
	pthread_mutex_unlock(&parent.lock);
}

int dw_cgroup_parent_open(char *why, size_t size)
{
	int fd = -1;

	(void)dw_cgroup_settle();
	pthread_mutex_lock(&parent.lock);
	if (parent.fd >= 0)
		fd = fcntl(parent.fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0 && parent.state == DW_CGROUP_PARENT_KIND_FOREIGN)
		(void)snprintf(why, size, "%s%s%s", parent.why,
		               parent.refused[0] != '\0' ? "; " : "", parent.refused);
	pthread_mutex_unlock(&parent.lock);
	return fd;
}

void dw_cgroup_remove_leaf(void)
{
	char name[64];

	dw_cgroup_leaf_name(name, sizeof(name), getpid());
	if (parent.fd >= 0)
		(void)unlinkat(parent.fd, name, AT_REMOVEDIR);
}
