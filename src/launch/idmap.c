/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "launch/launch_own.h"

/*
 * A cell that root starts has an id that owns nothing, so the cell could not read a
 * folder that only the folder's owner may read. An id-mapped mount shows the owner's
 * files as the cell's own, on this mount only.
 *
 * The kernel takes the mapping from a user namespace; an idle child provides one.
 */

static int write_map(pid_t pid, const char *name, uint32_t from, uint32_t to)
{
	autoclose int fd = -1;
	char path[64], text[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	(void)snprintf(text, sizeof(text), "%u %u 1", from, to);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	return dw_fd_write_all(fd, text, strlen(text));
}

static int open_mapping(pid_t pid, const struct stat *st, uint32_t id)
{
	char path[64];
	int fd, r;

	r = write_map(pid, "uid_map", st->st_uid, id);
	if (r == 0)
		r = write_map(pid, "gid_map", st->st_gid, id);
	if (r < 0)
		return r;
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int dw_idmap(int mount_fd, uint32_t id, struct dw_error *err)
{
	struct clone_args args = {.flags = CLONE_NEWUSER, .exit_signal = SIGCHLD};
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP};
	autoclose int mapping = -1;
	struct stat st;
	long pid;

	if (fstat(mount_fd, &st) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "fstat");

	pid = dw_clone(&args);
	if (pid < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "create a user namespace");
	if (pid == 0)
		for (;;)
			(void)pause();

	mapping = open_mapping((pid_t)pid, &st, id);
	(void)kill((pid_t)pid, SIGKILL);
	(void)waitpid((pid_t)pid, NULL, 0);
	if (mapping < 0)
		return dw_fail(err, DW_E_INTERNAL, -mapping, "write the id map");

	/*
	 * On a file system without id-mapped mounts the cell reads only what every user
	 * may read: less, never more.
	 */
	attr.userns_fd = (uint64_t)mapping;
	if (mount_setattr(mount_fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
	                  sizeof(attr)) < 0 &&
	    errno != EINVAL && errno != EPERM && errno != EOPNOTSUPP)
		return dw_fail(err, DW_E_INTERNAL, errno, "set the id map of the mount");
	return 0;
}
