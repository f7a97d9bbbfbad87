/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/audit.h"
#include "base/cleanup.h"
#include "base/state.h"

int dw_audit_default_path(char ret[DW_AUDIT_PATH_MAX], struct dw_error *err)
{
	char folder[DW_STATE_PATH_MAX];

	if (dw_state_of_user(folder, err) < 0)
		return dw_wrap(err, "the audit file, without DEWAR_AUDIT");
	if (snprintf(ret, DW_AUDIT_PATH_MAX, "%s/audit.db", folder) >= DW_AUDIT_PATH_MAX)
		return dw_fail(err, DW_E_INVALID, ENAMETOOLONG, "the audit file");
	return 0;
}

void dw_audit_place_sync(const char *path)
{
	autofree char *copy = strdup(path);
	char *slash = copy ? strrchr(copy, '/') : NULL;
	autoclose int fd = -1;

	if (slash)
		slash[slash == copy] = '\0';
	fd = open(slash ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		(void)fsync(
			fd); /* some file systems cannot: the file is there all the same */
}

/*
 * The file is never opened here: closing it would take away, without a word, the
 * locks that SQLite holds on it for another thread of ours.
 */
int dw_audit_place_make(const char *path, struct dw_error *err)
{
	struct stat st;
	int r = stat(path, &st);

	if (r < 0 && errno == ENOENT) {
		r = dw_state_make_folders(path, 0700);
		if (r < 0)
			return dw_fail(err, DW_E_INTERNAL, -r, "make the folder of %s",
			               path);
		if (mknod(path, S_IFREG | 0600, 0) < 0 && errno != EEXIST)
			return dw_fail(err, DW_E_INTERNAL, errno,
			               "make the audit file %s", path);
		r = stat(path, &st);
	}
	if (r < 0 || access(path, R_OK | W_OK) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "open the audit file %s", path);
	if (!S_ISREG(st.st_mode))
		return dw_fail(err, DW_E_INVALID, 0, "the audit file %s is not a file",
		               path);
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

	/* A pipe of that name must not hold us. */
	if (fd == 0)
		fd = open(name, O_CREAT | O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		          0600);
	if (fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "open %s-locks", path);
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

	for (;;) {
		if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
			return dw_fail(err, DW_E_INTERNAL, errno, "get a random number");
		owner = (int64_t)(random >> 2) + 1;
		lock = lock_of(owner, F_WRLCK);
		if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
			break;
		if (errno != EAGAIN && errno != EACCES)
			return dw_fail(err, DW_E_INTERNAL, errno,
			               "lock a byte beside the audit file");
	}
	*ret_owner = owner;
	return 0;
}

bool dw_audit_locks_held(int fd, int64_t owner)
{
	struct flock lock = lock_of(owner, F_WRLCK);

	/* If we cannot tell, somebody may be there. */
	return fcntl(fd, F_OFD_GETLK, &lock) < 0 || lock.l_type != F_UNLCK;
}

int dw_audit_locks_enter(int fd, struct dw_error *err)
{
	struct flock lock = lock_of(0, F_WRLCK);

	while (fcntl(fd, F_OFD_SETLKW, &lock) < 0)
		if (errno != EINTR)
			return dw_fail(err, DW_E_INTERNAL, errno,
			               "lock a byte beside the audit file");
	return 0;
}

void dw_audit_locks_leave(int fd)
{
	struct flock lock = lock_of(0, F_UNLCK);

	(void)fcntl(fd, F_OFD_SETLK, &lock);
}
