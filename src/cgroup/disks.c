/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/cgroup_own.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "base/cleanup.h"
#include "base/fd.h"

/* Parse "254:1". */
static bool read_numbers(const char *text, dev_t *ret)
{
	unsigned int ma, mi;

	/* NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers */
	if (sscanf(text, "%u:%u", &ma, &mi) != 2)
		return false;
	*ret = makedev(ma, mi);
	return true;
}

/* The disk that a partition is on; for any other device the device itself. */
static dev_t whole(dev_t dev)
{
	char path[64], text[32];
	dev_t disk;

	(void)snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/partition", major(dev),
	               minor(dev));
	if (dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) < 0)
		return dev;
	(void)snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../dev", major(dev),
	               minor(dev));
	if (dw_fd_read_attr(AT_FDCWD, path, text, sizeof(text)) <= 0 ||
	    !read_numbers(text, &disk))
		return dev;
	return disk;
}

static bool has(const struct dw_disks *disks, dev_t dev)
{
	for (size_t i = 0; i < disks->n; i++)
		if (disks->list[i] == dev)
			return true;
	return false;
}

static int add(struct dw_disks *disks, dev_t dev)
{
	dev = whole(dev);
	if (has(disks, dev))
		return 0;
	if (disks->n == DW_DISKS_MAX)
		return -E2BIG;
	disks->list[disks->n++] = dev;
	return 0;
}

struct mounted {
	dev_t dev;       /* as in st_dev; major 0 if the file system has no disk */
	dev_t disk;      /* the disk that it is on, or 0 */
	char kind[32];   /* ext4 */
	char source[64]; /* /dev/vda, or any text */
};

/* Parse "36 35 98:0 /root /point options optional... - ext4 /dev/root options". */
static bool parse(const char *line, struct mounted *ret)
{
	const char *rest = strstr(line, " - "), *at = strchr(line, ' ');
	struct stat st;

	*ret = (struct mounted){0};
	at = at ? strchr(at + 1, ' ') : NULL;
	if (!rest || !at || !read_numbers(at + 1, &ret->dev) ||
	    sscanf(rest, " - %31s %63s", ret->kind, ret->source) != 2)
		return false;
	if (major(ret->dev) != 0)
		ret->disk = whole(ret->dev);
	else if (strncmp(ret->source, "/dev/", 5) == 0 && stat(ret->source, &st) == 0 &&
	         S_ISBLK(st.st_mode))
		ret->disk = whole(st.st_rdev);
	return true;
}

int dw_disks_find(struct dw_disks *ret)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	autofree char *line = NULL;
	struct mounted m;
	size_t size = 0;
	int r = 0;

	ret->n = 0;
	if (!mounts)
		return -errno;
	while (r == 0 && getline(&line, &size, mounts) > 0)
		if (parse(line, &m) && m.disk != 0)
			r = add(ret, m.disk);
	(void)fclose(mounts);
	return r;
}

/* Find the mount of the file system with this number. */
static bool find_mounted(dev_t dev, struct mounted *ret)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	autofree char *line = NULL;
	bool found = false;
	size_t size = 0;

	while (mounts && !found && getline(&line, &size, mounts) > 0)
		found = parse(line, ret) && ret->dev == dev;
	if (mounts)
		(void)fclose(mounts);
	return found;
}

bool dw_disks_hold(const struct dw_disks *disks, const char *path, char *kind,
                   size_t size)
{
	struct mounted m;
	struct statfs fs;
	struct stat st;

	(void)snprintf(kind, size, "unknown");
	if (stat(path, &st) < 0 || statfs(path, &fs) < 0)
		return false;
	if (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC)
		return true;
	if (major(st.st_dev) != 0)
		return has(disks, whole(st.st_dev));
	if (!find_mounted(st.st_dev, &m))
		return false;
	(void)snprintf(kind, size, "%s", m.kind);
	return m.disk != 0 && has(disks, m.disk);
}
