/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/audit_own.h"
#include "base/cleanup.h"
#include "base/id.h"
#include "base/path.h"

int dw_audit_default_path(char ret[DW_AUDIT_PATH_MAX], struct dw_error *err)
{
	char folder[DW_STATE_PATH_MAX];

	if (dw_state_of_user(folder, err) < 0)
		return dw_wrap(err, "cannot find the audit file");
	if (snprintf(ret, DW_AUDIT_PATH_MAX, "%s/audit.db", folder) >= DW_AUDIT_PATH_MAX)
		return dw_fail(err, DW_E_INVALID, ENAMETOOLONG,
		               "cannot open the audit file");
	return 0;
}

void dw_audit_folder_sync(const char *path)
{
	autofree char *copy = strdup(path);
	char *slash = copy ? strrchr(copy, '/') : NULL;
	autoclose int fd = -1;

	if (slash)
		slash[slash == copy] = '\0';
	fd = open(slash ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		(void)fsync(fd); /* some file systems cannot; the file exists anyway */
}

/*
 * Never opens the file: close() would release the locks that SQLite holds on it for
 * another connection of this process.
 */
int dw_audit_file_make(const char *path, struct dw_error *err)
{
	struct stat st;
	int r = stat(path, &st);

	if (r < 0 && errno == ENOENT) {
		r = dw_state_make_folders(path, 0700);
		if (r < 0)
			return dw_fail(err, DW_E_INTERNAL, -r,
			               "cannot create the folder of %s", path);
		if (mknod(path, S_IFREG | 0600, 0) < 0 && errno != EEXIST)
			return dw_fail(err, DW_E_INTERNAL, errno,
			               "cannot create the audit file %s", path);
		r = stat(path, &st);
	}
	if (r < 0 || access(path, R_OK | W_OK) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot open the audit file %s",
		               path);
	if (!S_ISREG(st.st_mode))
		return dw_fail(err, DW_E_INVALID, 0,
		               "the audit file %s is not a regular file", path);
	return 0;
}

static int locks_path(const char *path, char *ret, size_t size)
{
	return snprintf(ret, size, "%s-locks", path) < (int)size ? 0 : -ENAMETOOLONG;
}

int dw_audit_locks_open(const char *path, int *ret_fd, struct dw_error *err)
{
	char name[DW_AUDIT_PATH_MAX];
	int fd = locks_path(path, name, sizeof(name));

	/* O_NONBLOCK: the name may be that of a pipe, and open() would block. */
	if (fd == 0)
		fd = open(name, O_CREAT | O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		          0600);
	if (fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot open %s-locks", path);
	*ret_fd = fd;
	return 0;
}

int dw_audit_locks_look(const char *path)
{
	char name[DW_AUDIT_PATH_MAX];

	if (locks_path(path, name, sizeof(name)) < 0)
		return -1;
	return open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static struct flock lock_of(int64_t owner, short type)
{
	return (struct flock){.l_type = type,
	                      .l_whence = SEEK_SET,
	                      .l_start = owner,
	                      .l_len = 1};
}

int dw_audit_locks_claim(int fd, int64_t *ret_owner, struct dw_error *err)
{
	struct flock lock;
	uint64_t random;
	int64_t owner;
	int r;

	for (;;) {
		r = dw_random(&random, sizeof(random));
		if (r < 0)
			return dw_fail(err, DW_E_INTERNAL, -r, "cannot get random bytes");
		owner = (int64_t)(random >> 2) + 1;
		lock = lock_of(owner, F_WRLCK);
		if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
			break;
		if (errno != EAGAIN && errno != EACCES)
			return dw_fail(err, DW_E_INTERNAL, errno,
			               "cannot lock a byte beside the audit file");
	}
	*ret_owner = owner;
	return 0;
}

bool dw_audit_locks_held(int fd, int64_t owner)
{
	struct flock lock = lock_of(owner, F_WRLCK);

	/* On failure assume that its owner is running. */
	return fcntl(fd, F_OFD_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
}

int dw_audit_locks_enter(int fd, struct dw_error *err)
{
	struct flock lock = lock_of(0, F_WRLCK);

	while (fcntl(fd, F_OFD_SETLKW, &lock) < 0)
		if (errno != EINTR)
			return dw_fail(err, DW_E_INTERNAL, errno,
			               "cannot lock a byte beside the audit file");
	return 0;
}

void dw_audit_locks_leave(int fd)
{
	struct flock lock = lock_of(0, F_UNLCK);

	(void)fcntl(fd, F_OFD_SETLK, &lock);
}
