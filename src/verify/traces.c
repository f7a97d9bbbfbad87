/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/traces.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/path.h"
#include "verify/look.h"

#define MANIFEST_MAX (1U << 20)
#define KEYCTL_INVALIDATE_OP 21
#define NOBODY \
	" 65534 " /* as /proc/sysvipc has the owner, who a container's program is */

/* Where somebody who gets out would leave a file that bears the attempt's name. */
static const char *const public_folders[] = {
	"/",          "/tmp",     "/var/tmp", "/dev/shm", "/dev/mqueue",
	"/dev",       "/usr",     "/usr/bin", "/usr/lib", "/usr/local/bin",
	"/usr/local", "/etc",     "/run",     "/root",    "/home",
	"/opt",       "/var/lib", "/var/run", "/boot",
};

static struct dw_buf walk_buf; /* nftw() has no place for it */
static char walk_writable[64]; /* nor for this, which is empty or a folder */

/*
 * In a folder that was made writable a cell may do what it likes, but for what
 * would serve it as a tool on the host: set-id programs and devices.
 */
static bool is_allowed(const char *path, const struct stat *st)
{
	size_t len = strlen(walk_writable);

	if (len == 0 || strncmp(path, walk_writable, len) != 0 ||
	    (path[len] != '\0' && path[len] != '/'))
		return false;
	return S_ISDIR(st->st_mode) || S_ISLNK(st->st_mode) || S_ISFIFO(st->st_mode) ||
	       S_ISSOCK(st->st_mode) ||
	       (S_ISREG(st->st_mode) && !(st->st_mode & (S_ISUID | S_ISGID)));
}

static int note_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char head[128] = "";
	ssize_t n = 0;

	(void)type;
	(void)ftw;
	if (is_allowed(path, st))
		return 0;
	if (S_ISLNK(st->st_mode)) {
		n = readlink(path, head, sizeof(head) - 1);
	} else if (S_ISREG(st->st_mode)) {
		autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

		n = fd < 0 ? 0 : read(fd, head, sizeof(head) - 1);
	}
	head[n < 0 ? 0 : n] = '\0';
	(void)dw_buf_printf(&walk_buf, "%s %o %u %u %lld %lld.%09ld %lu %s\n", path,
	                    st->st_mode, st->st_uid, st->st_gid, (long long)st->st_size,
	                    (long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
	                    (unsigned long)st->st_nlink, head);
	return 0;
}

static char *describe_files(const struct dw_stage *stage)
{
	static const char *const trees[] = {"flag", "deep", "private",
	                                    "home", "ws",   "places"};
	char path[96];

	dw_buf_init(&walk_buf, MANIFEST_MAX);
	walk_writable[0] = '\0';
	if (stage->out_is_writable)
		(void)snprintf(walk_writable, sizeof(walk_writable), "%s/ws/out",
		               stage->range->base);
	for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", stage->range->base, trees[i]);
		(void)nftw(path, note_file, 16, FTW_PHYS);
	}
	return dw_buf_take(&walk_buf, NULL);
}

static void note_names(struct dw_buf *buf, const char *folder, const char *only)
{
	autodir DIR *dir = opendir(folder);
	const struct dirent *e;

	while (dir && (e = readdir(dir)) != NULL)
		if (strstr(e->d_name, only))
			(void)dw_buf_printf(buf, "%s/%s\n", folder, e->d_name);
}

/* The lines of a kernel file, without what changes by itself. */
static void note_lines(struct dw_buf *buf, const char *path, const char *only)
{
	autofree char *line = NULL;
	size_t size = 0, n = 0;
	FILE *file = fopen(path, "re");

	while (file && getline(&line, &size, file) > 0)
		if (!only || strstr(line, only))
			n++;
	if (file)
		(void)fclose(file);
	(void)dw_buf_printf(buf, "%s: %zu\n", path, n);
}

static char *describe_remains(const struct dw_stage *stage)
{
	/* Outside there are others, who come and go; but nobody is nobody's. */
	const char *owner = stage->range->outside ? NOBODY : NULL;
	const char *name = stage->range->outside ? stage->nonce : "";
	struct dw_buf buf;
	char path[64];

	dw_buf_init(&buf, MANIFEST_MAX);
	(void)snprintf(path, sizeof(path), "%s/t", stage->range->base);
	note_names(&buf, path, "");
	note_names(&buf, "/dev/shm", name);
	note_names(&buf, "/dev/mqueue", name);
	note_lines(&buf, "/proc/self/mountinfo",
	           stage->range->outside ? stage->nonce : NULL);
	note_lines(&buf, "/proc/sysvipc/shm", owner);
	note_lines(&buf, "/proc/sysvipc/sem", owner);
	note_lines(&buf, "/proc/sysvipc/msg", owner);
	note_lines(&buf, "/proc/keys", stage->nonce);
	return dw_buf_take(&buf, NULL);
}

/* The first line of one text that the other does not have. */
static bool first_difference(const char *before, const char *after, char *ret,
                             size_t size)
{
	size_t i = 0;

	if (strcmp(before, after) == 0)
		return false;
	while (before[i] == after[i])
		i++;
	while (i > 0 && after[i - 1] != '\n')
		i--;
	/* What was removed has no line of its own any more. */
	if (after[i] == '\0')
		after = before;
	(void)snprintf(ret, size, "%.*s", (int)strcspn(after + i, "\n"), after + i);
	return true;
}

int dw_traces_note(struct dw_stage *stage, struct dw_error *err)
{
	stage->files = describe_files(stage);
	stage->remains = describe_remains(stage);
	if (!stage->files || !stage->remains)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "note how the range is");
	return 0;
}

bool dw_traces_in_files(const struct dw_stage *stage, char *ret, size_t size)
{
	autofree char *now = describe_files(stage);
	size_t at;

	for (size_t i = 0; i < ARRAY_SIZE(public_folders); i++) {
		autodir DIR *dir = opendir(public_folders[i]);
		const struct dirent *e;

		while (dir && (e = readdir(dir)) != NULL)
			if (strstr(e->d_name, stage->nonce)) {
				(void)snprintf(ret, size, "%s/%s was made",
				               public_folders[i], e->d_name);
				return true;
			}
	}
	if (!now || !first_difference(stage->files, now, ret, size))
		return false;
	/* Its path comes first; what it was and is says nothing to a reader. */
	at = strcspn(ret, " ");
	(void)snprintf(ret + at, size - at, " was changed");
	return true;
}

static char wanted_group[40];
static char found_group[256];
static struct dw_buf dead_groups; /* a line each */

/* The groups of every dewar in the range have the number of its pid namespace. */
static void walk_groups(int (*visit)(const char *path, const struct stat *st, int type,
                                     struct FTW *ftw))
{
	struct stat st;

	found_group[0] = '\0';
	if (stat("/proc/self/ns/pid", &st) < 0)
		return;
	(void)snprintf(wanted_group, sizeof(wanted_group), "dewar-%lu-",
	               (unsigned long)st.st_ino);
	(void)nftw("/sys/fs/cgroup", visit, 16, FTW_PHYS);
}

static bool is_group(const char *path, int type, const struct FTW *ftw)
{
	return type == FTW_D && ftw->level <= 6 &&
	       strncmp(path + ftw->base, wanted_group, strlen(wanted_group)) == 0;
}

static int note_group(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	if (is_group(path, type, ftw))
		(void)dw_buf_printf(&dead_groups, "%s\n", path);
	return 0;
}

static int match_group(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char line[1024];

	(void)st;
	if (!is_group(path, type, ftw))
		return 0;
	(void)snprintf(line, sizeof(line), "%s\n", path);
	if (dead_groups.data && strstr(dead_groups.data, line))
		return 0;
	(void)snprintf(found_group, sizeof(found_group), "%s", path);
	return 1;
}

void dw_traces_begin(void)
{
	dw_buf_init(&dead_groups, MANIFEST_MAX);
	walk_groups(note_group);
}

static bool is_group_left(void)
{
	walk_groups(match_group);
	return found_group[0] != '\0';
}

bool dw_traces_remain(const struct dw_stage *stage, char *ret, size_t size)
{
	autofree char *now = NULL;
	char seen[160];

	if (dw_look_somebody(stage->nonce, stage->witness.pid, ret, size))
		return true;
	if (!stage->range->outside && is_group_left()) {
		(void)snprintf(ret, size, "the cgroup %s is left", found_group);
		return true;
	}
	now = describe_remains(stage);
	if (!now || !first_difference(stage->remains, now, seen, sizeof(seen)))
		return false;
	(void)snprintf(ret, size, "something is left: %s", seen);
	return true;
}

void dw_traces_empty(const char *path)
{
	autodir DIR *dir = opendir(path);
	const struct dirent *e;

	while (dir && (e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			(void)dw_path_remove_tree(dirfd(dir), e->d_name);
}

/* What an attack mounted in the range, it mounted in its own folder. */
static void unmount(const struct dw_stage *stage)
{
	autofree char *line = NULL;
	size_t size = 0, len = strlen(stage->range->base);
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char path[256];

	while (mounts && getline(&line, &size, mounts) > 0)
		/* NOLINTNEXTLINE(cert-err34-c): no number is read */
		if (sscanf(line, "%*s %*s %*s %*s %255s", path) == 1 &&
		    strncmp(path, stage->range->base, len) == 0 && path[len] == '/')
			(void)umount2(path, MNT_DETACH);
	if (mounts)
		(void)fclose(mounts);
}

void dw_traces_remove(const struct dw_stage *stage)
{
	autofree char *line = NULL;
	size_t size = 0;
	FILE *keys = fopen("/proc/keys", "re");

	if (!stage->range->outside) {
		unmount(stage);
		dw_traces_empty("/dev/shm");
		dw_traces_empty("/dev/mqueue");
	}
	while (keys && getline(&line, &size, keys) > 0)
		if (strstr(line, stage->nonce))
			(void)syscall(SYS_keyctl, KEYCTL_INVALIDATE_OP,
			              (int)strtoul(line, NULL, 16));
	if (keys)
		(void)fclose(keys);
	for (size_t i = 0; i < ARRAY_SIZE(public_folders); i++) {
		autodir DIR *dir = opendir(public_folders[i]);
		const struct dirent *e;

		while (dir && (e = readdir(dir)) != NULL)
			if (strstr(e->d_name, stage->nonce))
				(void)dw_path_remove_tree(dirfd(dir), e->d_name);
	}
}
