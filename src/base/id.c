/* SPDX-License-Identifier: Apache-2.0 */
#include "base/id.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/cleanup.h"
#include "base/fd.h"

static int read_urandom(void *data, size_t len)
{
	autoclose int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = dw_fd_read_some(fd, data, len);
	if (n < 0)
		return (int)n;
	return (size_t)n == len ? 0 : -EIO;
}

int dw_random(void *data, size_t len)
{
	char *at = data;
	size_t got = 0;
	ssize_t n;

	while (got < len) {
		n = getrandom(at + got, len - got, 0);
		/* Until the kernel is seeded the call waits, and a signal may end it. */
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return read_urandom(data, len);
		got += (size_t)n;
	}
	return 0;
}

int dw_id_make(char ret[DW_ID_MAX], struct dw_error *err)
{
	unsigned char bytes[(DW_ID_MAX - 1) / 2];
	int r = dw_random(bytes, sizeof(bytes));

	ret[0] = '\0';
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r,
		               "cannot get random bytes for an id");
	for (size_t i = 0; i < sizeof(bytes); i++)
		(void)snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}
