/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/cgroup_own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

int dw_attr_set(int dir_fd, const char *attr, const char *value)
{
	autoclose int fd = openat(dir_fd, attr, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	/* The kernel takes an attribute in one write or not at all. */
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		return -errno;
	return 0;
}

int dw_attr_set_number(int dir_fd, const char *attr, uint64_t value)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return dw_attr_set(dir_fd, attr, text);
}

int dw_attr_set_limit(int dir_fd, const char *attr, uint64_t value, uint64_t *ret)
{
	autoclose int fd = openat(dir_fd, attr, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	char text[32] = "";
	int len = snprintf(text, sizeof(text), "%llu", (unsigned long long)value);

	*ret = UINT64_MAX;
	if (fd < 0 || write(fd, text, (size_t)len) < 0)
		return -errno;
	memset(text, 0, sizeof(text));
	if (pread(fd, text, sizeof(text) - 1, 0) > 0)
		*ret = strtoull(text, NULL, 10);
	return 0;
}

uint64_t dw_attr_number(int dir_fd, const char *attr)
{
	char text[64];

	if (dw_fd_read_attr(dir_fd, attr, text, sizeof(text)) <= 0 || text[0] < '0' ||
	    text[0] > '9')
		return UINT64_MAX;
	return strtoull(text, NULL, 10);
}

/* For lines such as "oom_kill 3". */
uint64_t dw_attr_event(int dir_fd, const char *attr, const char *word)
{
	char text[1024];
	size_t len = strlen(word);

	if (dw_fd_read_attr(dir_fd, attr, text, sizeof(text)) < 0)
		return UINT64_MAX;
	for (const char *p = text; p; p = strchr(p, '\n'), p = p ? p + 1 : NULL)
		if (strncmp(p, word, len) == 0 && p[len] == ' ')
			return strtoull(p + len + 1, NULL, 10);
	return UINT64_MAX;
}
