/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attach to a container: the only call of the Engine API that does not use libcurl. After
 * the engine's answer the connection carries raw bytes in both directions. With
 * CURLOPT_CONNECT_ONLY libcurl would save us only the connect().
 */
#include "docker/docker_own.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"

#define HEAD_MAX 16384U

int dw_attach_head(const char *text, size_t len, size_t *ret_len)
{
	const char *end = memmem(text, len, "\r\n\r\n", 4);
	long status;

	if (len >= 5 && memcmp(text, "HTTP/", 5) != 0)
		return -1;
	if (!end)
		return len >= HEAD_MAX ? -1 : 0;
	/* "HTTP/1.1 101 UPGRADED" */
	if (len < 13 || text[8] != ' ')
		return -1;
	status = strtol(text + 9, NULL, 10);
	if (status < 100 || status > 599)
		return -1;
	*ret_len = (size_t)(end - text) + 4;
	return (int)status;
}

static int wait_for(int fd, short events, int cancel_fd, const struct dw_engine *e,
                    struct dw_error *err)
{
	struct pollfd fds[] = {{.fd = fd, .events = events},
	                       {.fd = cancel_fd, .events = POLLIN}};
	int n;

	do
		n = poll(fds, 2, dw_ms_until(e->deadline_ms));
	while (n < 0 && errno == EINTR);
	/*
	 * During this call Podman starts the container, so a cancelled call goes on for a
	 * while: see DW_DOCKER_HTTP_GRACE_MS.
	 */
	if (fds[1].revents && !fds[0].revents &&
	    poll(fds, 1, DW_DOCKER_HTTP_GRACE_MS) <= 0)
		return dw_fail(err, DW_E_BUSY, 0, "the run was cancelled");
	if (n <= 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the engine at %s does not answer", e->socket);
	return 0;
}

static int send_request(int fd, const struct dw_engine *e, const char *id,
                        struct dw_error *err)
{
	char text[1024];
	int len = snprintf(text, sizeof(text),
	                   "POST %s/containers/%s/attach"
	                   "?stream=1&stdin=1&stdout=1&stderr=1 HTTP/1.1\r\n"
	                   "Host: localhost\r\nContent-Length: 0\r\n"
	                   "Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n",
	                   e->prefix, id);

	/*
	 * The empty send buffer of a new connection always has room for so short a
	 * request.
	 */
	if (send(fd, text, (size_t)len, MSG_NOSIGNAL) != len)
		return dw_fail(err, DW_E_UNSUPPORTED, errno,
		               "cannot write to the engine at %s", e->socket);
	return 0;
}

static int read_answer(int fd, const struct dw_engine *e, int cancel_fd,
                       struct dw_buf *rest, struct dw_error *err)
{
	autobuf struct dw_buf head;
	char chunk[4096], text[200];
	size_t len = 0;
	int status = 0;
	ssize_t n;

	dw_buf_init(&head, HEAD_MAX + sizeof(chunk));
	while (status == 0) {
		if (wait_for(fd, POLLIN, cancel_fd, e, err) < 0)
			return -1;
		n = recv(fd, chunk, sizeof(chunk), 0);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0 || dw_buf_add(&head, chunk, (size_t)n) < 0)
			return dw_fail(err, DW_E_UNSUPPORTED, 0,
			               "the engine at %s ended its answer early",
			               e->socket);
		status = dw_attach_head(head.data, head.len, &len);
	}
	if (status < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the engine at %s did not answer with HTTP", e->socket);
	if (status != 101 && status != 200) {
		dw_engine_message(head.data + len, head.len - len, text, sizeof(text));
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "cannot attach to the container: the engine says %d: %s",
		               status, text);
	}
	if (dw_buf_add(rest, head.data + len, head.len - len) < 0)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM,
		               "cannot attach to the container");
	return 0;
}

int dw_attach(const struct dw_engine *e, const char *id, int cancel_fd, int *ret_fd,
              struct dw_buf *ret_rest, struct dw_error *err)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", e->socket);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, errno,
		               "cannot connect to the engine at %s", e->socket);
	(void)dw_fd_nonblock(fd);
	if (send_request(fd, e, id, err) < 0 ||
	    read_answer(fd, e, cancel_fd, ret_rest, err) < 0)
		return -1;
	*ret_fd = TAKE_FD(fd);
	return 0;
}
