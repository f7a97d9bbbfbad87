/* SPDX-License-Identifier: Apache-2.0 */
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

#include "base/cleanup.h"
#include "base/path.h"
#include "verify/verify_own.h"

#define MANIFEST_MAX (1U << 20)
#define KEYCTL_INVALIDATE_OP 21
#define NOBODY " 65534 " /* the user of containers, formatted as in /proc/sysvipc */

/*
 * Folders in which an escaped attack would create a file whose name contains the
 * nonce.
 */
static const char *const public_folders[] = {
	"/",          "/tmp",     "/var/tmp", "/dev/shm", "/dev/mqueue",
	"/dev",       "/usr",     "/usr/bin", "/usr/lib", "/usr/local/bin",
	"/usr/local", "/etc",     "/run",     "/root",    "/home",
	"/opt",       "/var/lib", "/var/run", "/boot",
};

/* Globals, because nftw() passes no argument to its callback. */
static struct dw_buf walk_buf;
static char walk_writable[DW_RANGE_PATH_MAX]; /* the writable folder, or "" */

/*
 * Returns true if a cell may create this file: it is in the writable folder, and it
 * is neither a set-id program nor a device, which would help to attack the host.
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

static char *describe_files(const struct dw_fixture *fixture)
{
	static const char *const trees[] = {"flag", "deep", "private",
	                                    "home", "ws",   "places"};
	char path[DW_RANGE_PATH_MAX];

	dw_buf_init(&walk_buf, MANIFEST_MAX);
	walk_writable[0] = '\0';
	if (fixture->out_is_writable)
		(void)dw_range_path(fixture->range, "ws/out", walk_writable);
	for (size_t i = 0; i < ARRAY_SIZE(trees); i++) {
		(void)nftw(dw_range_path(fixture->range, trees[i], path), note_file, 16,
		           FTW_PHYS);
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

/*
 * Add a numbered line for each matching line of a kernel file, so that each new
 * entry there adds one.
 */
static void note_lines(struct dw_buf *buf, const char *path, const char *only)
{
	autofree char *line = NULL;
	size_t size = 0, n = 0;
	FILE *file = fopen(path, "re");

	while (file && getline(&line, &size, file) > 0)
		if (!only || strstr(line, only))
			(void)dw_buf_printf(buf, "%s: %zu\n", path, ++n);
	if (file)
		(void)fclose(file);
}

static char *describe_leftovers(const struct dw_fixture *fixture)
{
	/* On the host, look only for objects of user nobody or with the nonce. */
	const char *owner = fixture->range->on_host ? NOBODY : NULL;
	const char *name = fixture->range->on_host ? fixture->nonce : "";
	struct dw_buf buf;
	char path[DW_RANGE_PATH_MAX];

	dw_buf_init(&buf, MANIFEST_MAX);
	note_names(&buf, dw_range_path(fixture->range, "t", path), "");
	note_names(&buf, "/dev/shm", name);
	note_names(&buf, "/dev/mqueue", name);
	note_lines(&buf, "/proc/self/mountinfo",
	           fixture->range->on_host ? fixture->nonce : NULL);
	note_lines(&buf, "/proc/sysvipc/shm", owner);
	note_lines(&buf, "/proc/sysvipc/sem", owner);
	note_lines(&buf, "/proc/sysvipc/msg", owner);
	note_lines(&buf, "/proc/keys", fixture->nonce);
	return dw_buf_take(&buf, NULL);
}

/* Find the first line that differs. */
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
	/* A removed line appears only in the old text. */
	if (after[i] == '\0')
		after = before;
	(void)snprintf(ret, size, "%.*s", (int)strcspn(after + i, "\n"), after + i);
	return true;
}

static bool has_line(const char *text, const char *line, size_t len)
{
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		if (strncmp(text, line, len) == 0 && text[len] == '\n')
			return true;
	return false;
}

/*
 * Find the first line that was added. A missing line is no leftover: when the host
 * removes a folder on which it had mounted something, the kernel also removes the
 * range's copy of that mount.
 */
static bool first_new_line(const char *before, const char *after, char *ret, size_t size)
{
	size_t len;

	for (; *after; after += len + 1) {
		len = strcspn(after, "\n");
		if (!has_line(before, after, len)) {
			(void)snprintf(ret, size, "%.*s", (int)len, after);
			return true;
		}
		if (after[len] == '\0')
			break;
	}
	return false;
}

int dw_snapshot_take(struct dw_fixture *fixture, struct dw_error *err)
{
	fixture->files = describe_files(fixture);
	fixture->leftovers = describe_leftovers(fixture);
	if (!fixture->files || !fixture->leftovers)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM,
		               "cannot take a snapshot of the range");
	return 0;
}

bool dw_snapshot_files_changed(const struct dw_fixture *fixture, char *ret, size_t size)
{
	autofree char *now = describe_files(fixture);
	autobuf struct dw_buf created;
	size_t at;

	dw_buf_init(&created, MANIFEST_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(public_folders); i++)
		note_names(&created, public_folders[i], fixture->nonce);
	if (created.len > 0) {
		(void)snprintf(ret, size, "%.*s was created",
		               (int)strcspn(created.data, "\n"), created.data);
		return true;
	}
	if (!now || !first_difference(fixture->files, now, ret, size))
		return false;
	/* Keep the path, the first field of the line. */
	at = strcspn(ret, " ");
	(void)snprintf(ret + at, size - at, " was changed");
	return true;
}

static char group_prefix[40];
static char found_group[256];
static struct dw_buf dead_groups; /* existed before the first attempt; one per line */

/*
 * Visit the cgroups. The names of those of the range contain the number of its pid
 * namespace.
 */
static void walk_groups(int (*visit)(const char *path, const struct stat *st, int type,
                                     struct FTW *ftw))
{
	struct stat st;

	found_group[0] = '\0';
	if (stat("/proc/self/ns/pid", &st) < 0)
		return;
	(void)snprintf(group_prefix, sizeof(group_prefix), "dewar-%lu-",
	               (unsigned long)st.st_ino);
	(void)nftw("/sys/fs/cgroup", visit, 16, FTW_PHYS);
}

static bool is_group(const char *path, int type, const struct FTW *ftw)
{
	return type == FTW_D && ftw->level <= 6 &&
	       strncmp(path + ftw->base, group_prefix, strlen(group_prefix)) == 0;
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

void dw_snapshot_init(void)
{
	dw_buf_init(&dead_groups, MANIFEST_MAX);
	walk_groups(note_group);
}

static bool is_group_left(void)
{
	walk_groups(match_group);
	return found_group[0] != '\0';
}

bool dw_snapshot_leftovers(const struct dw_fixture *fixture, char *ret, size_t size)
{
	autofree char *now = NULL;
	char seen[160];

	if (dw_procs_left(fixture->nonce, fixture->witness.pid, ret, size))
		return true;
	if (!fixture->range->on_host && is_group_left()) {
		(void)snprintf(ret, size, "the cgroup %s was left behind", found_group);
		return true;
	}
	now = describe_leftovers(fixture);
	if (!now || !first_new_line(fixture->leftovers, now, seen, sizeof(seen)))
		return false;
	(void)snprintf(ret, size, "left behind: %s", seen);
	return true;
}

/* Remove all files and folders whose names contain this string. */
static void remove_names(const char *folder, const char *only)
{
	autodir DIR *dir = opendir(folder);
	const struct dirent *e;

	while (dir && (e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
		    strstr(e->d_name, only))
			(void)dw_path_remove_tree(dirfd(dir), e->d_name);
}

void dw_snapshot_empty(const char *path)
{
	remove_names(path, "");
}

/* Remove the mounts of attacks; in the range they mount only below its base folder. */
static void unmount(const struct dw_fixture *fixture)
{
	autofree char *line = NULL;
	size_t size = 0, len = strlen(fixture->range->base);
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char path[256];

	while (mounts && getline(&line, &size, mounts) > 0)
		/* NOLINTNEXTLINE(cert-err34-c): no number is read */
		if (sscanf(line, "%*s %*s %*s %*s %255s", path) == 1 &&
		    strncmp(path, fixture->range->base, len) == 0 && path[len] == '/')
			(void)umount2(path, MNT_DETACH);
	if (mounts)
		(void)fclose(mounts);
}

void dw_snapshot_clean(const struct dw_fixture *fixture)
{
	autofree char *line = NULL;
	size_t size = 0;
	FILE *keys = fopen("/proc/keys", "re");

	if (!fixture->range->on_host) {
		unmount(fixture);
		dw_snapshot_empty("/dev/shm");
		dw_snapshot_empty("/dev/mqueue");
	}
	while (keys && getline(&line, &size, keys) > 0)
		if (strstr(line, fixture->nonce))
			(void)syscall(SYS_keyctl, KEYCTL_INVALIDATE_OP,
			              (int)strtoul(line, NULL, 16));
	if (keys)
		(void)fclose(keys);
	for (size_t i = 0; i < ARRAY_SIZE(public_folders); i++)
		remove_names(public_folders[i], fixture->nonce);
}
