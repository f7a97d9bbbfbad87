/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "verify/stage.h"
#include "verify/traces.h"

static int write_file(int dir, const char *name, const char *text, mode_t mode)
{
	autoclose int fd = -1;

	(void)dw_path_make_parents(dir, name, 0755);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
	            mode);
	return fd < 0 ? -errno : dw_fd_write_all(fd, text, strlen(text));
}

static const char *const plain[] = {"ws/readme.txt", "ws/.git/config", "ws/out/old.txt",
                                    "ws/src/main.py"};

/*
 * The program of a container is nobody on the host as well: it shall not be the mode of
 * a file that keeps it from writing there.
 */
static int open_to_nobody(int base)
{
	static const char *const folders[] = {"ws", "ws/.git", "ws/src"};

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (fchmodat(base, plain[i], 0666, 0) < 0)
			return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (fchmodat(base, folders[i], 0777, 0) < 0)
			return -errno;
	return 0;
}

int dw_plant(const struct dw_stage *stage, struct dw_error *err)
{
	static const char *const fresh[] = {"home", "cwd",     "t",     "into",   "ws",
	                                    "deep", "private", "names", "mounted"};
	static const char *const secrets[] = {
		"flag",
		"deep/a/b/c/flag",
		"private/flag",
		"home/.ssh/id_ed25519",
		"home/.aws/credentials",
		"home/.kube/config",
		"home/.config/gh/hosts.yml",
		"home/.env",
		"home/.bash_history",
		"home/.gitconfig",
		"ws/.env.link-target",
	};
	const struct dw_range *range = stage->range;
	autoclose int base = open(range->base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char path[96];
	int r = base < 0 ? -errno : 0;

	for (size_t i = 0; i < ARRAY_SIZE(fresh) && r == 0; i++) {
		(void)dw_path_remove_tree(base, fresh[i]);
		if (mkdirat(base, fresh[i], 0755) < 0)
			r = -errno;
	}
	for (size_t i = 0; i < ARRAY_SIZE(secrets) && r == 0; i++)
		r = write_file(base, secrets[i], stage->secret, 0644);
	for (size_t i = 0; i < ARRAY_SIZE(plain) && r == 0; i++)
		r = write_file(base, plain[i], "plain\n", 0644);
	if (r == 0)
		r = fchmodat(base, "private", 0700, 0) < 0 ? -errno : 0;
	/* A mount with a telling name in the table of mounts. */
	(void)snprintf(path, sizeof(path), "%s/mounted", range->base);
	if (r == 0 && !range->outside &&
	    mount(stage->secret, path, "tmpfs", MS_NODEV, "size=64k") < 0)
		r = -errno;
	/* A folder with a telling name, and another way to it. */
	(void)snprintf(path, sizeof(path), "names/%s", stage->secret);
	if (r == 0 && (mkdirat(base, path, 0755) < 0 ||
	               symlinkat(stage->secret, base, "names/project") < 0))
		r = -errno;
	if (r == 0 && range->outside)
		r = open_to_nobody(base);
	/* A folder that is made writable must be the cell's to write to, too. */
	if (r == 0)
		r = fchmodat(base, "ws/out", 0777, 0) < 0 ? -errno : 0;

	for (const struct dw_place *p = range->places; p->name && r == 0; p++) {
		dw_traces_empty(p->path);
		(void)snprintf(path, sizeof(path), "places/%s/flag", p->name);
		r = write_file(base, path, stage->secret, 0644);
	}
	dw_range_cover_again(range);
	for (const struct dw_place *p = range->files; p->name && r == 0; p++) {
		(void)snprintf(path, sizeof(path), "places/%s", p->name);
		r = write_file(base, path, stage->secret, 0600);
	}
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "plant secrets below %s",
		               range->base);
	return 0;
}

/*
 * A group with a telling name, in a hierarchy that limits nothing, so that whoever
 * is in it runs as before. Only root can make one, and only with version 1.
 */
static bool name_group(const struct dw_stage *stage, char *ret, size_t size)
{
	(void)snprintf(ret, size, "/sys/fs/cgroup/freezer/dewar-verify-%s",
	               stage->secret);
	return stage->range->root;
}

void dw_plant_group(const struct dw_stage *stage)
{
	char path[128];

	if (name_group(stage, path, sizeof(path)))
		(void)mkdir(path, 0755);
}

void dw_plant_join_group(const struct dw_stage *stage)
{
	autoclose int fd = -1;
	char path[128];
	size_t len;

	if (!name_group(stage, path, sizeof(path)))
		return;
	len = strlen(path);
	(void)snprintf(path + len, sizeof(path) - len, "/tasks");
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0)
		(void)dw_fd_write_all(fd, "0", 1);
}

void dw_plant_remove_group(const struct dw_stage *stage)
{
	char path[128];

	if (name_group(stage, path, sizeof(path)))
		(void)rmdir(path);
}
