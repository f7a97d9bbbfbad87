/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pidfd.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"

pid_t dw_pidfd_pid(int pidfd)
{
	char path[64], text[512];
	const char *at;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	if (dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return -1;
	at = strstr(text, "\nPid:");
	return at ? (pid_t)strtol(at + strlen("\nPid:"), NULL, 10) : -1;
}
