/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "verify/verify_own.h"

#define PORT 7399           /* in addition to the well-known ports */
#define ON_HOST_LISTENERS 6 /* two on the loopback interface, four unix sockets */

static void add(struct dw_listeners *l, int fd, const char *name)
{
	if (fd < 0 || l->n == DW_LISTEN_MAX)
		return;
	l->fds[l->n] = (struct pollfd){.fd = fd, .events = POLLIN};
	l->names[l->n++] = name;
}

/* Listen on IPv4 and IPv6, or on IPv4 alone if the host has no IPv6. */
static int open_ip(int type, uint16_t port)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET6, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int off = 0;

	if (fd >= 0) {
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
		if (bind(fd, (struct sockaddr *)&six, sizeof(six)) == 0)
			goto out;
		(void)close(fd);
	}
	fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&four, sizeof(four)) == 0)
		goto out;
	dw_fd_close(&fd);
out:
	if (fd >= 0 && type == SOCK_STREAM)
		(void)listen(fd, 16);
	return fd;
}

static int open_unix(int type, const char *path, bool abstract)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t len;

	(void)snprintf(addr.sun_path + abstract, sizeof(addr.sun_path) - 1, "%s", path);
	len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + abstract +
	                  strlen(path));
	if (!abstract)
		(void)unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, len) < 0) {
		dw_fd_close(&fd);
		return -1;
	}
	if (!abstract)
		(void)chmod(path, 0777);
	if (type != SOCK_DGRAM)
		(void)listen(fd, 16);
	return fd;
}

static void add_unix(struct dw_listeners *l, const char *base)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%s/docker.sock", base);
	add(l, open_unix(SOCK_STREAM, path, false), "a unix socket of the host");
	(void)snprintf(path, sizeof(path), "%s/log.sock", base);
	add(l, open_unix(SOCK_DGRAM, path, false), "a datagram socket of the host");
	add(l, open_unix(SOCK_STREAM, l->abstract, true),
	    "an abstract socket of the host");
	add(l, open_unix(SOCK_DGRAM, l->abstract_log, true),
	    "an abstract datagram socket of the host");
}

/* Listen on 127.0.0.1; with port 0, on any free port, which is written to *port. */
static int open_local(int type, uint16_t *port)
{
	struct sockaddr_in four = {.sin_family = AF_INET,
	                           .sin_port = htons(*port),
	                           .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t len = sizeof(four);

	if (fd < 0 || bind(fd, (struct sockaddr *)&four, len) < 0 ||
	    getsockname(fd, (struct sockaddr *)&four, &len) < 0)
		dw_fd_close(&fd);
	else
		*port = ntohs(four.sin_port);
	if (fd >= 0 && type == SOCK_STREAM)
		(void)listen(fd, 16);
	return fd;
}

static int open_on_host(struct dw_listeners *l, const char *base, struct dw_error *err)
{
	*l = (struct dw_listeners){0};
	(void)snprintf(l->abstract, sizeof(l->abstract), "%s", base + 1);
	(void)snprintf(l->abstract_log, sizeof(l->abstract_log), "%s-log", base + 1);
	add(l, open_local(SOCK_STREAM, &l->port), "a TCP service of the host");
	add(l, open_local(SOCK_DGRAM, &l->port), "a UDP service of the host");
	add_unix(l, base);
	if (l->n < ON_HOST_LISTENERS)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot open listeners");
	return 0;
}

int dw_listen_open(struct dw_listeners *l, const struct dw_range *range,
                   struct dw_error *err)
{
	static const uint16_t tcp[] = {PORT, 22, 25, 53, 80, 443, 853, 2375};
	static const uint16_t udp[] = {PORT, 53, 123, 443, 5353};

	if (range->on_host)
		return open_on_host(l, range->base, err);
	*l = (struct dw_listeners){.port = PORT,
	                           .abstract = "dewar-range",
	                           .abstract_log = "dewar-range-log"};
	for (size_t i = 0; i < ARRAY_SIZE(tcp); i++)
		add(l, open_ip(SOCK_STREAM, tcp[i]), "a TCP service of the host");
	for (size_t i = 0; i < ARRAY_SIZE(udp); i++)
		add(l, open_ip(SOCK_DGRAM, udp[i]), "a UDP service of the host");
	add_unix(l, range->base);
	if (l->n < ARRAY_SIZE(tcp))
		return dw_fail(err, DW_E_INTERNAL, 0, "cannot open listeners");
	return 0;
}

bool dw_listen_saw_packets(void)
{
	unsigned long long bytes = 0, packets = 0;
	char text[4096];
	const char *at;

	if (dw_fd_read_attr(AT_FDCWD, "/proc/self/net/dev", text, sizeof(text)) < 0)
		return false;
	at = strstr(text, "lo:");
	/* NOLINTNEXTLINE(cert-err34-c): the kernel writes numbers */
	return at && sscanf(at + 3, "%llu %llu", &bytes, &packets) == 2 && packets > 0;
}

void dw_listen_serve(struct dw_listeners *l, const char *secret, char *ret, size_t size)
{
	struct sockaddr_storage from;
	socklen_t len;
	char data[256];

	if (poll(l->fds, l->n, 0) <= 0)
		return;
	for (size_t i = 0; i < l->n; i++) {
		int fd;

		if (!(l->fds[i].revents & POLLIN))
			continue;
		if (ret[0] == '\0')
			(void)snprintf(ret, size, "%s was reached", l->names[i]);
		/* cppcheck-suppress nullPointer; the address is not used */
		while ((fd = accept4(l->fds[i].fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
			(void)send(fd, secret, strlen(secret), MSG_NOSIGNAL);
			(void)close(fd);
		}
		len = sizeof(from);
		while (recvfrom(l->fds[i].fd, data, sizeof(data), 0,
		                (struct sockaddr *)&from, &len) >= 0) {
			(void)sendto(l->fds[i].fd, secret, strlen(secret), MSG_NOSIGNAL,
			             (struct sockaddr *)&from, len);
			len = sizeof(from);
		}
	}
}

void dw_listen_close(struct dw_listeners *l)
{
	for (size_t i = 0; i < l->n; i++)
		dw_fd_close(&l->fds[i].fd);
	l->n = 0;
}
