/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter's open files.
 *
 * A child closes all of the zygote's descriptors, but the interpreter still uses some: the
 * code's file, if it opens that file before it waits, and eventfds with which it wakes
 * itself. The child opens each again under the same number; files are now those in the
 * /tmp of its own cell.
 */
#include "runners/zygote.h"

#define FILES_MAX 8
#define FDS_MAX 64
#define AT_FDCWD (-100)
#define F_GETFD 1
#define F_GETFL 3
#define FD_CLOEXEC 1
#define O_NONBLOCK 04000
#define O_CLOEXEC 02000000

struct open_file {
	int fd;
	int flags;
	char path[64];
};

static struct open_file all[FILES_MAX];
static uint32_t n_files;

static bool is_eventfd(const struct open_file *k)
{
	return dw_is_same(k->path, "anon_inode:[eventfd]");
}

/* Our own files, in /tmp/.dewar, do not exist in the child's cell. */
static bool is_wanted(const struct open_file *k)
{
	return is_eventfd(k) || (dw_after(k->path, "/tmp/") != 0 &&
	                         dw_after(k->path, "/tmp/.dewar/") == 0);
}

void dw_open_files_note(void)
{
	for (int fd = DW_JOB_FD; fd < FDS_MAX && n_files < FILES_MAX; fd++) {
		struct open_file *k = &all[n_files];
		char link[40];
		long n;

		dw_name(link, "/proc/self/fd/", fd, "");
		n = sys(__NR_readlinkat, AT_FDCWD, link, k->path, sizeof(k->path) - 1);
		if (n <= 0)
			continue;
		k->path[n] = '\0';
		k->fd = fd;
		k->flags = (int)sys(__NR_fcntl, fd, F_GETFL) & O_NONBLOCK;
		if (sys(__NR_fcntl, fd, F_GETFD) & FD_CLOEXEC)
			k->flags |= O_CLOEXEC;
		if (is_wanted(k))
			n_files++;
	}
}

static bool make(const struct open_file *k, struct failure *f)
{
	long fd = is_eventfd(k) ? sys(__NR_eventfd2, 0, k->flags)
	                        : sys(__NR_openat, AT_FDCWD, k->path, k->flags, 0);
	long r = fd;

	if (fd >= 0 && fd != k->fd) {
		r = sys(__NR_dup3, fd, k->fd, k->flags & O_CLOEXEC);
		(void)sys(__NR_close, fd);
	}
	return !failed(f, "open what the interpreter had open", r);
}

/* In ascending order, so that none takes the number of another. */
bool dw_open_files_reopen(struct failure *f)
{
	for (uint32_t i = 0; i < n_files; i++)
		if (!make(&all[i], f))
			return false;
	return true;
}
