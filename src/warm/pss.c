/* SPDX-License-Identifier: Apache-2.0 */
#include "warm/warm_own.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"

static uint64_t pss_of(long pid)
{
	char path[64], text[4096];
	const char *at;

	(void)snprintf(path, sizeof(path), "/proc/%ld/smaps_rollup", pid);
	if (dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return 0;
	at = strstr(text, "\nPss:");
	return at ? strtoull(at + strlen("\nPss:"), NULL, 10) << 10 : 0;
}

uint64_t dw_pss_of_cell(const struct dw_cell *cell, unsigned processes)
{
	const struct dw_launched *l = (const struct dw_launched *)cell;
	uint64_t sum = pss_of(l->pid);
	char path[64], text[1024];
	char *p = text, *end;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", l->pid, l->pid);
	if (dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return sum;
	for (; processes > 0; processes--, p = end) {
		long pid = strtol(p, &end, 10);

		if (end == p)
			break;
		sum += pss_of(pid);
	}
	return sum;
}
