/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/listen.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/values.h"

#define SOCKETS_MAX 16

void dw_sd_notify(const char *text)
{
	autoclose int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	size_t len = path ? strlen(path) : 0;

	if (fd < 0 || len < 2 || len >= sizeof(at.sun_path))
		return;
	memcpy(at.sun_path, path, len);
	if (path[0] == '@')
		at.sun_path[0] = '\0';
	(void)sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&at,
	             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
}

int dw_sd_sockets(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	uint64_t n = 0, pid_given = 0;

	if (!pid || !fds || dw_parse_uint(pid, INT32_MAX, &pid_given, NULL) < 0 ||
	    dw_parse_uint(fds, SOCKETS_MAX, &n, NULL) < 0 || (pid_t)pid_given != getpid())
		n = 0;
	(void)unsetenv("LISTEN_PID");
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
	for (int i = 0; i < (int)n; i++)
		(void)fcntl(DW_SD_FIRST + i, F_SETFD, FD_CLOEXEC);
	return (int)n;
}
