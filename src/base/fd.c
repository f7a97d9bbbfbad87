/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

int dw_fd_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;
	ssize_t n;

	while (len > 0) {
		n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

ssize_t dw_fd_write_quietly(int fd, const void *data, size_t len)
{
	const struct timespec now = {0};
	sigset_t pipe, before, pending;
	ssize_t n;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	(void)pthread_sigmask(SIG_BLOCK, &pipe, &before);
	(void)sigpending(&pending);
	n = write(fd, data, len);
	n = n < 0 ? -errno : n;

	/* Remove only the signal that this write caused. */
	if (n == -EPIPE && !sigismember(&pending, SIGPIPE))
		(void)sigtimedwait(&pipe, NULL, &now);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return n;
}

ssize_t dw_fd_read_some(int fd, void *data, size_t max)
{
	char *p = data;
	size_t got = 0;
	ssize_t n;

	while (got < max) {
		n = read(fd, p + got, max - got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

int dw_fd_nonblock(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return -errno;
	return 0;
}

ssize_t dw_fd_read_attr(int dir_fd, const char *name, char *text, size_t size)
{
	autoclose int fd = -1;
	ssize_t n;

	fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;

	n = dw_fd_read_some(fd, text, size);
	if (n < 0)
		return n;
	if ((size_t)n == size)
		return -E2BIG;
	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	return n;
}

/* struct linux_dirent64 of the kernel, which the headers of a libc need not define. */
struct entry {
	uint64_t ino;
	int64_t off;
	unsigned short len;
	unsigned char type;
	char name[];
};

/* The descriptor that an entry of /proc/self/fd stands for, or -1. */
static int number_of(const char *name)
{
	int n = 0;

	if (*name < '0' || *name > '9')
		return -1;
	for (; *name >= '0' && *name <= '9'; name++) {
		if (n > (INT_MAX - 9) / 10)
			return -1;
		n = n * 10 + (*name - '0');
	}
	return n;
}

static int let_go(int fd, bool at_exec)
{
	if (!at_exec) {
		(void)close(fd); /* it is closed even on an error */
		return 0;
	}
	return fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
}

/*
 * procfs lists descriptors in the order of their numbers, so we may close them while we
 * read the list.
 */
static int walk_from(int first, bool at_exec)
{
	autoclose int dir = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(struct entry) char buf[2048];
	struct statfs fs;
	long n;
	int r;

	if (dir < 0 || fstatfs(dir, &fs) < 0)
		return -errno;
	if (fs.f_type != PROC_SUPER_MAGIC)
		return -ENOSYS;

	while ((n = syscall(SYS_getdents64, dir, buf, sizeof(buf))) > 0) {
		for (long at = 0; at < n;) {
			const struct entry *e = (const struct entry *)(buf + at);
			int fd = number_of(e->name);

			at += e->len;
			if (fd < first || fd == dir)
				continue;
			r = let_go(fd, at_exec);
			if (r < 0)
				return r;
		}
	}
	return n < 0 ? -errno : 0;
}

int dw_fd_close_from(int first)
{
	if (close_range((unsigned)first, ~0U, 0) == 0)
		return 0;
	return errno == ENOSYS ? walk_from(first, false) : -errno;
}

int dw_fd_cloexec_from(int first)
{
	if (close_range((unsigned)first, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
		return 0;
	/* EINVAL: the kernel has the call but not the flag. */
	return errno == ENOSYS || errno == EINVAL ? walk_from(first, true) : -errno;
}

void dw_fd_signal(int fd)
{
	const uint64_t one = 1;
	int saved = errno;

	(void)!write(fd, &one, sizeof(one));
	errno = saved;
}

void dw_fd_close(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}
