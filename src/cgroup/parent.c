/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theory of operation
 *
 * In version 2 a group's children have a controller only if the group passes it on,
 * and a group that does may hold no processes (the top of the hierarchy excepted).
 * So cells can't simply be made below the group that we are in. The home is
 *
 *  1. our own group, if it is ours to divide: systemd says so in an attribute
 *     (Delegate=yes), and where there is no systemd nobody else claims it. We stand in
 *     the way then, and move into a leaf of it. If others stand there, too, they are
 *     not ours to move, and we go back;
 *  2. one above it, under the same conditions; nobody has to be moved for that;
 *  3. what somebody asked for on our behalf (levels/scope.c: a scope of systemd's).
 *
 *	home ── dewar-…-engine   us
 *	     ── dewar-…-cell     a cell each
 *
 * Nobody can remove the leaf that it is in. Systemd removes what is below a unit along
 * with it; elsewhere the leaf stays, empty, until another one of us sweeps.
 */
#include "cgroup/parent.h"

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
#include "cgroup/attr.h"
#include "cgroup/find.h"

#define PREFIX "dewar-"
#define DEPTH_MAX 16

static struct {
	pthread_mutex_t lock;
	bool looked;
	enum dw_cgroup_parent_kind state;
	int fd;
	char why[160];
	char refused[160];
} home = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

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
		(void)snprintf(ret + len, size - len, "%d-engine", pid);
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
	static int known; /* a host does not change its mind */
	int seen = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (seen == UNKNOWN) {
		seen = look_for_controllers() ? YES : NO;
		__atomic_store_n(&known, seen, __ATOMIC_RELAXED);
	}
	return seen == YES;
}

/* Only the top of the hierarchy has no type, and may hold processes nevertheless. */
static bool is_occupied(int dir_fd)
{
	char text[16];

	if (faccessat(dir_fd, "cgroup.type", F_OK, 0) < 0)
		return false;
	/* There may be more of them than fit: that is an error, and they are there. */
	return dw_fd_read_attr(dir_fd, "cgroup.procs", text, sizeof(text)) != 0;
}

/*
 * All in one write, which the kernel follows as a whole. Some controllers it would pass
 * on in spite of processes, and make the group a threaded one where no cell can be.
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
		known += i != DW_CONTROLLER_IO; /* by itself it holds nothing */
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

int dw_cgroup_step_aside(int dir_fd, int pid)
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

static void step_back(int dir_fd)
{
	char name[64];

	dw_cgroup_leaf_name(name, sizeof(name), getpid());
	if (write_pid(dir_fd, getpid()) == 0)
		(void)unlinkat(dir_fd, name, AT_REMOVEDIR);
}

/* Make this one the home: 0, or -errno and all is as before. */
static int take(int dir_fd, bool inside)
{
	int r;

	/* Cells come from our own group, so the one above both has to let them. */
	if (faccessat(dir_fd, ".", W_OK, AT_EACCESS) < 0 ||
	    faccessat(dir_fd, "cgroup.procs", W_OK, AT_EACCESS) < 0)
		return -errno;
	r = dw_cgroup_pass_on(dir_fd);
	if (r != -EBUSY || !inside)
		return r;
	r = dw_cgroup_step_aside(dir_fd, getpid());
	if (r < 0)
		return r;
	r = dw_cgroup_pass_on(dir_fd);
	if (r < 0)
		step_back(dir_fd);
	return r;
}

/* Systemd marks what it does not divide itself; the second only root can read. */
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
	const char *why = "this process's group is not ours to divide";

	if (r == -EBUSY)
		why = "other processes are in this process's group";
	else if (managed)
		why = "systemd has not delegated this process's group (Delegate=yes)";
	else if (r == -EROFS)
		why = "the hierarchy is mounted read-only";
	(void)snprintf(home.why, sizeof(home.why), "%s", why);
}

/* From our own group upwards, as far as we see. */
static enum dw_cgroup_parent_kind find(void)
{
	bool managed = access("/run/systemd/system", F_OK) == 0;
	autoclose int fd = dw_cgroup_open_own();
	int r = 0, worst = 0;

	for (int depth = 0; fd >= 0 && depth < DEPTH_MAX; depth++) {
		int up;

		/* Above the top of the hierarchy there is no such file any more. */
		if (faccessat(fd, "cgroup.procs", F_OK, 0) < 0)
			break;
		if (!managed || is_delegated(fd)) {
			r = take(fd, depth == 0);
			if (r == 0) {
				home.fd = TAKE_FD(fd);
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

	pthread_mutex_lock(&home.lock);
	if (!home.looked) {
		home.state = dw_cgroup_is_unified() ? find() : DW_CGROUP_PARENT_KIND_NONE;
		home.looked = true;
	}
	state = home.state;
	pthread_mutex_unlock(&home.lock);
	return state;
}

void dw_cgroup_move_in(int fd)
{
	pthread_mutex_lock(&home.lock);
	dw_fd_close(&home.fd);
	home.fd = fd;
	home.state = DW_CGROUP_PARENT_KIND_OURS;
	pthread_mutex_unlock(&home.lock);
}

void dw_cgroup_move_out(void)
{
	pthread_mutex_lock(&home.lock);
	dw_fd_close(&home.fd);
	home.state = DW_CGROUP_PARENT_KIND_FOREIGN;
	pthread_mutex_unlock(&home.lock);
}

void dw_cgroup_parent_refused(const char *why)
{
	pthread_mutex_lock(&home.lock);
	(void)snprintf(home.refused, sizeof(home.refused), "%s", why);
	pthread_mutex_unlock(&home.lock);
}

int dw_cgroup_parent_open(char *why, size_t size)
{
	int fd = -1;

	(void)dw_cgroup_settle();
	pthread_mutex_lock(&home.lock);
	if (home.fd >= 0)
		fd = fcntl(home.fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0 && home.state == DW_CGROUP_PARENT_KIND_FOREIGN)
		(void)snprintf(why, size, "%s%s%s", home.why,
		               home.refused[0] != '\0' ? "; " : "", home.refused);
	pthread_mutex_unlock(&home.lock);
	return fd;
}

void dw_cgroup_clear_leaf(void)
{
	char name[64];

	dw_cgroup_leaf_name(name, sizeof(name), getpid());
	if (home.fd >= 0)
		(void)unlinkat(home.fd, name, AT_REMOVEDIR);
}
