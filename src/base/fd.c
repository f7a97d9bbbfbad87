/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
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

	/* Take back the one that we caused, and no other. */
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

void dw_fd_close(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
}
