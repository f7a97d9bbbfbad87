/* SPDX-License-Identifier: Apache-2.0 */
#include "base/kernel.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"

static const char *const files[] = {
	[DW_NS_USER] = "user",     [DW_NS_MOUNT] = "mnt", [DW_NS_PID] = "pid",
	[DW_NS_NET] = "net",       [DW_NS_IPC] = "ipc",   [DW_NS_UTS] = "uts",
	[DW_NS_CGROUP] = "cgroup",
};
_Static_assert(ARRAY_SIZE(files) == DW_NS_COUNT, "a file for each namespace");

uint64_t dw_ns_of(pid_t pid, int which)
{
	char path[64];
	struct stat st;

	if (pid == 0)
		(void)snprintf(path, sizeof(path), "/proc/self/ns/%s", files[which]);
	else
		(void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, files[which]);
	return stat(path, &st) == 0 ? st.st_ino : 0;
}

/* This process never changes its namespaces, so each is read once. */
static uint64_t ours(int which)
{
	static _Atomic uint64_t seen[DW_NS_COUNT];

	if (seen[which] == 0)
		seen[which] = dw_ns_of(0, which);
	return seen[which];
}

uint32_t dw_ns_not_ours(const uint64_t ns[DW_NS_COUNT])
{
	uint32_t others = 0;

	for (int i = 0; i < DW_NS_COUNT; i++)
		if (ns[i] != 0 && ours(i) != 0 && ours(i) != ns[i])
			others |= 1U << i;
	return others;
}

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
