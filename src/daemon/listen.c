/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/values.h"

#define BACKLOG 1024

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
	struct sockaddr_storage room;
};

/*
 * Describe the address as the kernel reports it: port 0 has been replaced by a real port.
 */
static int describe(int fd, struct dw_listener *ret, struct dw_error *err)
{
	socklen_t len = sizeof(union address);
	char text[INET6_ADDRSTRLEN];
	union address at = {0};

	*ret = (struct dw_listener){0};
	if (getsockname(fd, &at.any, &len) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot read the address of the socket");
	switch (at.any.sa_family) {
	case AF_UNIX:
		ret->unix_socket = true;
		(void)snprintf(ret->address, sizeof(ret->address), "unix:%.100s",
		               at.un.sun_path);
		return 0;
	case AF_INET:
		(void)inet_ntop(AF_INET, &at.in.sin_addr, text, sizeof(text));
		ret->loopback = (ntohl(at.in.sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
		(void)snprintf(ret->address, sizeof(ret->address), "%s:%u", text,
		               ntohs(at.in.sin_port));
		return 0;
	case AF_INET6:
		(void)inet_ntop(AF_INET6, &at.in6.sin6_addr, text, sizeof(text));
		ret->loopback = IN6_IS_ADDR_LOOPBACK(&at.in6.sin6_addr);
		(void)snprintf(ret->address, sizeof(ret->address), "[%s]:%u", text,
		               ntohs(at.in6.sin6_port));
		return 0;
	default:
		return dw_fail(err, DW_E_INVALID, 0,
		               "cannot serve a socket that is neither IP nor unix");
	}
}

/*
 * Parse "127.0.0.1:80" or "[::1]:80". Returns the length of the address, 0 if it is
 * invalid.
 */
static socklen_t read_address(const char *text, union address *ret)
{
	const char *colon = strrchr(text, ':');
	uint64_t port;
	char host[64];
	size_t len;

	if (!colon || dw_parse_uint(colon + 1, 65535, &port, NULL) < 0)
		return 0;
	len = (size_t)(colon - text);
	if (len < 2 || len >= sizeof(host))
		return 0;
	(void)snprintf(host, sizeof(host), "%.*s", (int)len, text);
	*ret = (union address){0};
	if (host[0] == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		ret->in6.sin6_family = AF_INET6;
		ret->in6.sin6_port = htons((uint16_t)port);
		return inet_pton(AF_INET6, host + 1, &ret->in6.sin6_addr) == 1
		               ? sizeof(ret->in6)
		               : 0;
	}
	ret->in.sin_family = AF_INET;
	ret->in.sin_port = htons((uint16_t)port);
	return inet_pton(AF_INET, host, &ret->in.sin_addr) == 1 ? sizeof(ret->in) : 0;
}

bool dw_listen_is_address(const char *text)
{
	union address at;

	return read_address(text, &at) > 0;
}

int dw_listen_tcp(const char *address, struct dw_listener *ret, struct dw_error *err)
{
	autoclose int fd = -1;
	union address at;
	socklen_t len = read_address(address, &at);
	const int on = 1;

	if (len == 0)
		return dw_fail(err, DW_E_INVALID, 0,
		               "listen must be an address and a port, such as "
		               "127.0.0.1:7443 "
		               "or [::1]:7443, not \"%.100s\"",
		               address);
	fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot create a socket");
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, &at.any, len) < 0 || listen(fd, BACKLOG) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot listen on %s", address);
	return describe(fd, ret, err) < 0 ? -1 : TAKE_FD(fd);
}

/*
 * Returns true if the socket belongs to a daemon that was killed: connect() is refused.
 */
static bool is_stale(const union address *at)
{
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct stat st;

	return fd >= 0 && lstat(at->un.sun_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
	       connect(fd, &at->any, sizeof(at->un)) < 0 && errno == ECONNREFUSED;
}

int dw_listen_unix(const char *path, struct dw_listener *ret, struct dw_error *err)
{
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	union address at = {.un = {.sun_family = AF_UNIX}};
	mode_t before;
	int r;

	if (strlen(path) >= sizeof(at.un.sun_path))
		return dw_fail(err, DW_E_INVALID, 0,
		               "the socket path %.50s... is too long", path);
	(void)snprintf(at.un.sun_path, sizeof(at.un.sun_path), "%s", path);
	if (fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot create a socket");
	if (is_stale(&at))
		(void)unlink(path);
	before = umask(0177);
	r = bind(fd, &at.any, sizeof(at.un));
	(void)umask(before);
	if (r < 0 || listen(fd, BACKLOG) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot listen on %s", path);
	return describe(fd, ret, err) < 0 ? -1 : TAKE_FD(fd);
}

int dw_listen_given(int fd, struct dw_listener *ret, struct dw_error *err)
{
	if (describe(fd, ret, err) < 0)
		return -1;
	ret->given = true;
	return fd;
}
