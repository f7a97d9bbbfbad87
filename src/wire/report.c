/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/report.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

int dw_report_seal(const char *name, const struct iovec *parts, size_t n,
                   struct dw_error *err)
{
	autoclose int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int r = fd < 0 ? -errno : 0;

	for (size_t i = 0; r == 0 && i < n; i++)
		r = dw_fd_write_all(fd, parts[i].iov_base, parts[i].iov_len);
	if (r == 0 && fcntl(fd, F_ADD_SEALS, DW_REPORT_SEALS) < 0)
		r = -errno;
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "cannot write the memfd %s", name);
	return TAKE_FD(fd);
}

void *dw_report_map(int fd, size_t *ret_len)
{
	struct stat st;
	void *map;

	if (fcntl(fd, F_GET_SEALS) != DW_REPORT_SEALS || fstat(fd, &st) < 0 ||
	    st.st_size <= 0)
		return NULL;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	*ret_len = (size_t)st.st_size;
	return map == MAP_FAILED ? NULL : map;
}

union control {
	char bytes[CMSG_SPACE(sizeof(int) * DW_REPORT_FDS_MAX)];
	struct cmsghdr align;
};

/* The kernel also fills padding with descriptors: an odd maximum would get one more. */
_Static_assert(sizeof(union control) == CMSG_LEN(sizeof(int) * DW_REPORT_FDS_MAX),
               "even");

static int send_with(int sock, const void *data, size_t len, const int *fds, int n_fds)
{
	struct iovec iov = {.iov_base = (void *)data, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	size_t size = sizeof(int) * (size_t)n_fds;
	union control control = {0};
	struct cmsghdr *cmsg;
	ssize_t n;

	assert(n_fds <= DW_REPORT_FDS_MAX);
	if (n_fds > 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(size);
		cmsg = CMSG_FIRSTHDR(&msg);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(size);
		memcpy(CMSG_DATA(cmsg), fds, size);
	}
	do
		n = sendmsg(sock, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* Returns the length of the packet, with *ret_n descriptors attached; or -errno. */
static ssize_t receive_with(int sock, void *data, size_t len, int flags, int *ret_fds,
                            int *ret_n)
{
	struct iovec iov = {.iov_base = data, .iov_len = len};
	union control control = {0};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *cmsg;
	ssize_t n;

	*ret_n = 0;
	/* MSG_TRUNC: the length is the packet's, even if the packet does not fit. */
	do
		n = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC | MSG_TRUNC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	cmsg = CMSG_FIRSTHDR(&msg);
	if (cmsg && cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_RIGHTS) {
		*ret_n = (int)((cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(ret_fds, CMSG_DATA(cmsg), sizeof(int) * (size_t)*ret_n);
	}
	return n;
}

int dw_report_send_fds(int sock, const int *fds, int n)
{
	return send_with(sock, "p", 1, fds, n);
}

int dw_report_send_data(int sock, const void *data, size_t len, const int *fds, int n)
{
	return send_with(sock, data, len, fds, n);
}

ssize_t dw_report_receive_data(int sock, void *data, size_t len,
                               int ret[DW_REPORT_FDS_MAX], int *ret_n)
{
	return receive_with(sock, data, len, 0, ret, ret_n);
}

int dw_report_receive_fds(int sock, int ret[DW_REPORT_FDS_MAX])
{
	char byte;
	int n_fds;
	ssize_t n = receive_with(sock, &byte, 1, 0, ret, &n_fds);

	return n < 0 ? (int)n : n_fds;
}

int dw_report_send(int sock, const struct dw_report *report, int fd)
{
	return send_with(sock, report, sizeof(*report), &fd, fd >= 0);
}

/* Returns true if text is one terminated line, as from dw_fail(). */
static bool is_line(const char *text, size_t size)
{
	size_t len = strnlen(text, size);

	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return false;
	return len > 0 && len < size;
}

bool dw_report_is_sound(const struct dw_report *report)
{
	const struct dw_error *error = &report->error;
	unsigned char known;

	switch (report->kind) {
	case DW_REPORT_HELLO:
	case DW_REPORT_NETWORK:
	case DW_REPORT_HANDED:
	case DW_REPORT_USERNS:
	case DW_REPORT_PIDNS:
	case DW_REPORT_EMPTY:
	case DW_REPORT_TMP:
	case DW_REPORT_START:
	case DW_REPORT_END:
		return true;
	case DW_REPORT_WALLS:
		/* Reading a bool that is neither 0 nor 1 is undefined. */
		memcpy(&known, &report->walls.known, sizeof(known));
		return known <= 1;
	case DW_REPORT_ERROR:
		return error->code > DW_OK && error->code < DW_E_COUNT &&
		       report->stage < DW_STAGE_COUNT &&
		       is_line(error->text, sizeof(error->text));
	default:
		return false;
	}
}

int dw_report_receive(int sock, struct dw_report *ret, int *ret_fd)
{
	int fds[DW_REPORT_FDS_MAX], n_fds;
	ssize_t n = receive_with(sock, ret, sizeof(*ret), MSG_DONTWAIT, fds, &n_fds);
	bool ours = n == (ssize_t)sizeof(*ret) && n_fds <= 1 && dw_report_is_sound(ret);

	for (int i = 0; !ours && i < n_fds; i++)
		(void)close(fds[i]);
	*ret_fd = ours && n_fds == 1 ? fds[0] : -1;
	if (n <= 0)
		return (int)n;
	return ours ? 1 : -EPROTO;
}
