/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/report.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

union control {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

int dw_report_send(int sock, const struct dw_report *report, int fd)
{
	struct iovec iov = {.iov_base = (void *)report, .iov_len = sizeof(*report)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	union control control = {0};
	struct cmsghdr *cmsg;
	ssize_t n;

	if (fd >= 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof(control.bytes);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	}
	do
		n = sendmsg(sock, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int dw_report_receive(int sock, struct dw_report *ret, int *ret_fd)
{
	struct iovec iov = {.iov_base = ret, .iov_len = sizeof(*ret)};
	union control control = {0};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *cmsg;
	ssize_t n;

	*ret_fd = -1;
	do
		n = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;

	cmsg = CMSG_FIRSTHDR(&msg);
	if (cmsg && cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(cmsg), sizeof(*ret_fd));
	if (n == 0)
		return 0;
	if ((size_t)n != sizeof(*ret)) {
		if (*ret_fd >= 0)
			(void)close(*ret_fd);
		*ret_fd = -1;
		return -EPROTO;
	}
	return 1;
}
