/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/known_bad.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* clang-format off */
static const struct dw_known_bad table[] = {
	{DW_PART_KERNEL, "CVE-2016-5195", {2, 6, 22, DW_NO_RC},
	 {"4.4.26", "4.7.9", "4.8.3"},
	 "a race in copy-on-write makes files writable that are not (Dirty COW)",
	 NULL, {0}},
	{DW_PART_KERNEL, "CVE-2021-22555", {2, 6, 19, DW_NO_RC},
	 {"4.4.267", "4.9.267", "4.14.231", "4.19.188", "5.4.113", "5.10.31", "5.11.15"},
	 "a write past the end in netfilter, for whoever has rights over a network",
	 "cells have no capability, and unshare to get some is refused", {"unshare"}},
	{DW_PART_KERNEL, "CVE-2022-0185", {5, 1, 0, DW_NO_RC},
	 {"5.4.173", "5.10.93", "5.15.16", "5.16.2"},
	 "a write past the end in the new mount calls",
	 "fsopen and fsconfig are refused, and so is unshare",
	 {"fsopen", "fsconfig", "unshare"}},
	{DW_PART_KERNEL, "CVE-2022-0492", {2, 6, 24, DW_NO_RC},
	 {"4.9.301", "4.14.266", "4.19.229", "5.4.177", "5.10.97", "5.15.20", "5.16.6"},
	 "a cgroup's release_agent runs on the host for whoever can mount it",
	 "mount and unshare are refused, and no cgroup is visible in a cell",
	 {"mount", "unshare", "fsopen"}},
	{DW_PART_KERNEL, "CVE-2022-0847", {5, 8, 0, DW_NO_RC},
	 {"5.10.102", "5.15.25", "5.16.11"},
	 "a pipe writes into files that are read-only (Dirty Pipe)",
	 NULL, {0}},
	{DW_PART_KERNEL, "CVE-2022-29582", {5, 10, 0, DW_NO_RC},
	 {"5.10.111", "5.15.34", "5.16.20", "5.17.3"},
	 "a use after free in io_uring's timeouts",
	 "io_uring is refused", {"io_uring_setup", "io_uring_enter", "io_uring_register"}},
	{DW_PART_KERNEL, "CVE-2023-0386", {5, 11, 0, DW_NO_RC},
	 {"5.15.91", "6.1.9", "6.2"},
	 "overlayfs copies up a set-user-id program of a user namespace's",
	 "mount and unshare are refused, and cells have no_new_privs",
	 {"mount", "unshare", "fsopen"}},
	{DW_PART_KERNEL, "CVE-2023-2598", {6, 3, 0, DW_NO_RC},
	 {"6.3.2"},
	 "io_uring's fixed buffers reach physical memory behind them",
	 "io_uring is refused", {"io_uring_setup", "io_uring_enter", "io_uring_register"}},
	{DW_PART_KERNEL, "CVE-2023-32233", {3, 13, 0, DW_NO_RC},
	 {"4.14.315", "4.19.283", "5.4.243", "5.10.180", "5.15.111", "6.1.28", "6.2.15", "6.3.2"},
	 "a use after free in nf_tables, for whoever has rights over a network",
	 "unshare is refused, and of netlink only routes can be asked for", {"unshare"}},
	{DW_PART_KERNEL, "CVE-2024-1086", {3, 15, 0, DW_NO_RC},
	 {"4.19.307", "5.4.269", "5.10.210", "5.15.149", "6.1.76", "6.6.15", "6.7.3"},
	 "a double free in nf_tables, for whoever has rights over a network",
	 "unshare is refused, and of netlink only routes can be asked for", {"unshare"}},

	{DW_PART_RUNC, "CVE-2019-5736", {0, 0, 0, DW_NO_RC}, {"1.0.0-rc7"},
	 "root in a container overwrites the host's runc",
	 "at level docker the program is nobody and never root; no other level uses runc", {0}},
	{DW_PART_RUNC, "CVE-2021-30465", {0, 0, 0, DW_NO_RC}, {"1.0.0-rc95"},
	 "links that change while volumes are mounted lead out to the host",
	 "at level docker no two containers share a volume; no other level uses runc", {0}},
	{DW_PART_RUNC, "CVE-2024-21626", {1, 0, 0, 93}, {"1.1.12"},
	 "an image's working folder names a leaked descriptor of the host's tree",
	 "at level docker the working folder is ours and not the image's; no other level "
	 "uses runc", {0}},
	{DW_PART_RUNC, "CVE-2025-31133", {0, 0, 0, DW_NO_RC}, {"1.2.8", "1.3.3", "1.4.0-rc3"},
	 "a /dev/null replaced in time unmasks /proc (with CVE-2025-52565 and CVE-2025-52881)",
	 "at level docker the program is nobody in a read-only root; no other level uses runc",
	 {0}},

	{DW_PART_CONTAINERD, "CVE-2020-15257", {0, 0, 0, DW_NO_RC}, {"1.3.9", "1.4.3"},
	 "root in a container with the host's network commands containerd",
	 "no container of ours has the host's network, or is root", {0}},

	{DW_PART_QEMU, "CVE-2015-3456", {0, 0, 0, DW_NO_RC}, {"2.3.1", "2.4.0"},
	 "a guest writes past the end in the floppy's controller (VENOM)",
	 "no level of this version starts QEMU", {0}},
	{DW_PART_QEMU, "CVE-2020-14364", {0, 0, 0, DW_NO_RC}, {"5.2.0"},
	 "a guest reads and writes past the end in USB's emulation",
	 "no level of this version starts QEMU", {0}},
};
/* clang-format on */

const struct dw_known_bad *dw_known_bad_table(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(table);
	return table;
}

/* A number of the version; the digits are gone behind it. Absurd ones are no number. */
static bool read_number(const char **at, int *ret)
{
	char *end;
	long n;

	if (!isdigit((unsigned char)**at))
		return false;
	n = strtol(*at, &end, 10);
	if (n > 1000000)
		return false;
	*at = end;
	*ret = (int)n;
	return true;
}

bool dw_version_read(const char *text, struct dw_version *ret)
{
	for (const char *p = text; *p != '\0'; p++) {
		struct dw_version v = {0, 0, 0, DW_NO_RC};
		const char *at = p;

		if (p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '.'))
			continue;
		if (*at == 'v')
			at++;
		if (!read_number(&at, &v.major) || *at++ != '.' ||
		    !read_number(&at, &v.minor))
			continue;
		if (at[0] == '.' && isdigit((unsigned char)at[1])) {
			at++;
			if (!read_number(&at, &v.patch))
				continue;
		}
		/* 1.0.0-rc93, 1.0.0~rc93+ds1 as Debian has it, 1.4.0-rc.3 */
		if (*at == '-' || *at == '~' || *at == '+')
			at++;
		if (strncmp(at, "rc", 2) == 0) {
			at += 2 + (at[2] == '.' || at[2] == '-');
			if (!read_number(&at, &v.rc))
				v.rc = 0;
		}
		*ret = v;
		return true;
	}
	return false;
}

static int order(int a, int b)
{
	return (a > b) - (a < b);
}

int dw_version_compare(const struct dw_version *a, const struct dw_version *b)
{
	int c = order(a->major, b->major);

	if (c == 0)
		c = order(a->minor, b->minor);
	if (c == 0)
		c = order(a->patch, b->patch);
	return c != 0 ? c : order(a->rc, b->rc);
}

bool dw_version_of_kernel(const char *release, const char *version, const char *signature,
                          struct dw_version *ret)
{
	const char *debian = strstr(version, "Debian "), *last = strrchr(signature, ' ');

	if (debian && dw_version_read(debian + strlen("Debian "), ret))
		return true;
	if (strncmp(signature, "Ubuntu ", 7) == 0 && last &&
	    dw_version_read(last + 1, ret))
		return true;
	return dw_version_read(release, ret);
}

bool dw_known_bad_has(const struct dw_known_bad *bad, const struct dw_version *version)
{
	struct dw_version fixed, newest = {0};

	if (dw_version_compare(version, &bad->from) < 0 && bad->from.major > 0)
		return false;
	for (size_t i = 0; i < DW_FIXED_MAX && bad->fixed[i]; i++) {
		if (!dw_version_read(bad->fixed[i], &fixed))
			continue;
		if (fixed.major == version->major && fixed.minor == version->minor)
			return dw_version_compare(version, &fixed) < 0;
		if (dw_version_compare(&fixed, &newest) > 0)
			newest = fixed;
	}
	return dw_version_compare(version, &newest) < 0;
}
