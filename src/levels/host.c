/* SPDX-License-Identifier: Apache-2.0 */
#include "levels/host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/kernel.h"

static long read_setting(const char *path)
{
	char text[32];

	if (dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return DW_HOST_NO_SETTING;
	return strtol(text, NULL, 10);
}

/* ---- namespaces ---- */

/* The names of each kind of namespace in the sysctl and in /proc/self/ns. */
static const struct {
	const char *limit, *file;
} kinds[] = {
	{"user", "user"}, {"mnt", "mnt"}, {"pid", "pid"},       {"net", "net"},
	{"ipc", "ipc"},   {"uts", "uts"}, {"cgroup", "cgroup"},
};

static void look_at_namespaces(struct dw_host *ret)
{
	char path[64];

	for (size_t i = ARRAY_SIZE(kinds); i-- > 0;) {
		(void)snprintf(path, sizeof(path), "/proc/sys/user/max_%s_namespaces",
		               kinds[i].limit);
		if (read_setting(path) == 0)
			(void)snprintf(ret->zero_namespaces, sizeof(ret->zero_namespaces),
			               "%s", kinds[i].limit);
		(void)snprintf(path, sizeof(path), "/proc/self/ns/%s", kinds[i].file);
		if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
		    errno == ENOENT)
			(void)snprintf(ret->no_namespaces, sizeof(ret->no_namespaces),
			               "%s", kinds[i].limit);
	}
}

/* ---- mounts ---- */

/* Mount points that the kernel keeps empty: a mount there hides nothing. */
static bool is_mount_point(const char *path)
{
	static const char *const known[] = {"/proc/sys/fs/binfmt_misc", "/proc/fs/nfsd"};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(path, known[i]) == 0)
			return true;
	return false;
}

static void read_mount(const char *point, const char *options, const char *type,
                       struct dw_host *ret)
{
	if (strncmp(point, "/proc/", 6) == 0 && ret->masked[0] == '\0' &&
	    !is_mount_point(point))
		(void)snprintf(ret->masked, sizeof(ret->masked), "%.95s", point);
	if (strcmp(point, "/etc/hosts") == 0 || strcmp(point, "/etc/hostname") == 0)
		ret->bound_etc = true;
	/* The last mount at a path is the visible one. */
	if (strcmp(point, "/proc") == 0)
		ret->proc_readonly = strncmp(options, "ro", 2) == 0;
	if (strcmp(point, "/") == 0)
		ret->ramfs = strcmp(type, "rootfs") == 0;
}

void dw_host_read_mounts(const char *text, struct dw_host *ret)
{
	char point[256], options[64], type[32];

	ret->masked[0] = '\0';
	ret->proc_readonly = ret->bound_etc = ret->ramfs = false;
	for (const char *line = text; *line != '\0';) {
		const char *dash = strstr(line, " - "), *end = line + strcspn(line, "\n");

		if (dash && dash < end && sscanf(dash + 3, "%31s", type) == 1 &&
		    sscanf(line, "%*s %*s %*s %*s %255s %63s", point, options) == 2)
			read_mount(point, options, type, ret);
		line = end + (*end == '\n');
	}
}

#define MOUNTS_MAX (256U << 10)

static void look_at_mounts(struct dw_host *ret)
{
	autofree char *text = malloc(MOUNTS_MAX);
	autoclose int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	if (!text || fd < 0)
		return;
	while (len < MOUNTS_MAX - 1 &&
	       (n = read(fd, text + len, MOUNTS_MAX - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	dw_host_read_mounts(text, ret);
}

/*
 * A root that is not the root of a mount is certainly a chroot. Else compare with the
 * first process's root, if we may read it and it is in our mount namespace.
 */
static enum dw_chroot look_at_root(void)
{
	const unsigned want = STATX_INO | STATX_MNT_ID;
	uint64_t ns = dw_ns_of(1, DW_NS_MOUNT);
	struct statx ours, first;

	if (statx(AT_FDCWD, "/", 0, want, &ours) < 0)
		return DW_CHROOT_UNKNOWN;
	if ((ours.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) &&
	    !(ours.stx_attributes & STATX_ATTR_MOUNT_ROOT))
		return DW_CHROOT_YES;
	if (ns != 0 && ns == dw_ns_of(0, DW_NS_MOUNT) &&
	    statx(AT_FDCWD, "/proc/1/root", 0, want, &first) == 0)
		return first.stx_ino == ours.stx_ino &&
		                       first.stx_mnt_id == ours.stx_mnt_id
		               ? DW_CHROOT_NO
		               : DW_CHROOT_YES;
	return DW_CHROOT_UNKNOWN;
}

/* ---- filters, profiles, containers ---- */

static void look_at_filter(struct dw_host *ret)
{
	char text[4096];
	const char *at;

	if (dw_fd_read_attr(AT_FDCWD, "/proc/self/status", text, sizeof(text)) <= 0)
		return;
	at = strstr(text, "\nSeccomp:");
	ret->filtered = at && strtol(at + strlen("\nSeccomp:"), NULL, 10) == 2;
}

static void look_at_profile(struct dw_host *ret)
{
	static const char *const files[] = {"/proc/self/attr/apparmor/current",
	                                    "/proc/self/attr/current"};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (dw_fd_read_attr(AT_FDCWD, files[i], ret->profile,
		                    sizeof(ret->profile)) > 0)
			break;
	ret->profile[strcspn(ret->profile, " \n")] = '\0';
	if (strcmp(ret->profile, "unconfined") == 0)
		ret->profile[0] = '\0';
}

/*
 * An image made from a container keeps the engine's file (/.dockerenv), and a machine may
 * boot from it. So that file alone does not prove that we are in a container.
 */
static enum dw_container look_for_container(const struct dw_host *host)
{
	const char *named = getenv("container");

	if (host->bound_etc && access("/.dockerenv", F_OK) == 0)
		return DW_CONTAINER_DOCKER;
	if (host->bound_etc && access("/run/.containerenv", F_OK) == 0)
		return DW_CONTAINER_PODMAN;
	return (named && *named) || access("/run/systemd/container", F_OK) == 0
	               ? DW_CONTAINER_OTHER
	               : DW_CONTAINER_NONE;
}

void dw_host_look(struct dw_host *ret)
{
	struct statfs fs;

	*ret = (struct dw_host){
		.userns_clone = read_setting(
			"/proc/sys/kernel/unprivileged_userns_clone"),
		.restrict_userns = read_setting(
			"/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
		.proc = statfs("/proc", &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC,
	};
	ret->chroot = DW_CHROOT_UNKNOWN;
	if (!ret->proc)
		return;
	look_at_namespaces(ret);
	look_at_mounts(ret);
	ret->container = look_for_container(ret);
	look_at_filter(ret);
	ret->chroot = look_at_root();
	look_at_profile(ret);
}
