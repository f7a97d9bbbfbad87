/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"

#define PLAIN_BYTES_MAX 1024
#define PLAIN_PARTS_MAX 32

static int open_how(int dir_fd, const char *path, int flags, mode_t mode,
                    uint64_t resolve)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
		/* openat2() refuses a mode if it creates nothing. */
		.mode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE
	                        ? mode & 07777
	                        : 0,
		.resolve = resolve,
	};
	long fd = -1;

	/*
	 * The kernel returns EAGAIN if anything on the host was renamed or mounted
	 * while it resolved a "..". That is rare twice in a row, but a program that
	 * renames files in a loop must not make us retry forever.
	 */
	for (int i = 0; i < 64; i++) {
		fd = syscall(SYS_openat2, dir_fd, path, &how, sizeof(how));
		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN && errno != EINTR)
			break;
	}
	return -errno;
}

int dw_path_open_beneath(int dir_fd, const char *path, int flags, mode_t mode)
{
	/* mutant: open-beneath */
	return open_how(dir_fd, path, flags | O_NOFOLLOW, mode,
	                RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS |
	                        RESOLVE_NO_XDEV);
}

int dw_path_open_in_root(int root_fd, const char *path, int flags)
{
	return open_how(root_fd, path, flags, 0, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

DIR *dw_path_opendir(int dir_fd)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir)
		dw_cleanup_close(&fd);
	return dir;
}

/* The length of the first component, up to "/" or the end. */
static size_t part_len(const char *path)
{
	return strcspn(path, "/");
}

static bool is_dots(const char *part, size_t len)
{
	return (len == 1 && part[0] == '.') ||
	       (len == 2 && part[0] == '.' && part[1] == '.');
}

bool dw_path_is_plain(const char *path)
{
	size_t len, parts = 0;

	if (strnlen(path, PLAIN_BYTES_MAX + 1) > PLAIN_BYTES_MAX)
		return false;

	for (;;) {
		len = part_len(path);
		if (len == 0 || is_dots(path, len) || ++parts > PLAIN_PARTS_MAX)
			return false;
		path += len;
		if (*path == '\0')
			return true;
		path++;
	}
}

int dw_path_make_parents(int dir_fd, const char *path, mode_t mode)
{
	autoclose int owned = -1;
	char part[NAME_MAX + 1];
	int at = dir_fd, next;
	size_t len;

	if (!dw_path_is_plain(path))
		return -EINVAL;

	for (len = part_len(path); path[len] == '/'; len = part_len(path)) {
		if (len > NAME_MAX)
			return -ENAMETOOLONG;
		memcpy(part, path, len);
		part[len] = '\0';
		path += len + 1;

		if (mkdirat(at, part, mode) < 0 && errno != EEXIST)
			return -errno;
		/* The entry may be a link that leads out: open only a real folder. */
		next = dw_path_open_beneath(at, part, O_PATH | O_DIRECTORY, 0);
		if (next < 0)
			return next;
		if (owned >= 0)
			(void)close(owned);
		at = owned = next;
	}
	return 0;
}

/*
 * Removes a tree that a hostile program made.
 *
 * A stack of SWEEP_DEPTH open folders holds the current path. A deeper folder is moved up
 * into the top folder under a fresh name, where a later pass finds it. So neither
 * descriptors nor memory grow with the tree, and each folder is moved at most once for
 * each SWEEP_DEPTH levels of its depth.
 *
 * A folder is read again as long as a pass removes an entry: some file systems skip
 * entries when others are removed during reading. If an entry cannot be removed, the
 * first errno is kept, and the other entries are still removed.
 */
#define SWEEP_DEPTH 32

struct sweep_level {
	DIR *dir;
	bool progress; /* an entry was removed from this folder, or moved into it */
	char name[NAME_MAX + 1];
};

struct sweep {
	int parent_fd;
	dev_t dev;
	int first; /* -errno of the first entry that could not be removed, or 0 */
	size_t depth;
	struct sweep_level levels[SWEEP_DEPTH];
};

static void note(struct sweep *s, int r)
{
	if (s->first == 0)
		s->first = r;
}

/* The folder above level depth: the level before it, or the parent of the tree. */
static int fd_above(const struct sweep *s, size_t depth)
{
	return depth == 0 ? s->parent_fd : dirfd(s->levels[depth - 1].dir);
}

/*
 * Open a folder with O_PATH and give its owner all permissions, through the descriptor:
 * the name could become a link meanwhile.
 */
static int unlock(struct sweep *s, int at, const char *name)
{
	autoclose int fd = -1;
	struct stat st;
	char proc[64];

	fd = dw_path_open_beneath(at, name, O_PATH | O_DIRECTORY, 0);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;

	if (s->depth == 0)
		s->dev = st.st_dev;
	if (st.st_dev != s->dev)
		return -EXDEV;

	/*
	 * fchmod() does not take an O_PATH descriptor. If chmod() fails, the caller's
	 * next step fails too, and reports why.
	 */
	if ((st.st_mode & S_IRWXU) != S_IRWXU) {
		(void)snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
		(void)chmod(proc, S_IRWXU);
	}
	return TAKE_FD(fd);
}

/* Move a folder into the top folder, under an unpredictable name. */
static int move_up(struct sweep *s, int at, const char *name)
{
	char fresh[32];
	uint64_t random;

	if (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return -EIO;
	(void)snprintf(fresh, sizeof(fresh), ".gone-%016llx", (unsigned long long)random);
	if (renameat(at, name, dirfd(s->levels[0].dir), fresh) < 0)
		return -errno;

	s->levels[0].progress = true;
	return 0;
}

static int enter(struct sweep *s, const char *name)
{
	int at = fd_above(s, s->depth);
	autoclose int owned = -1;
	struct sweep_level *level;
	size_t len = strlen(name);
	DIR *dir;

	owned = unlock(s, at, name);
	if (owned < 0)
		return owned;
	if (s->depth == SWEEP_DEPTH)
		return move_up(s, at, name);

	level = &s->levels[s->depth];
	if (len >= sizeof(level->name))
		return -ENAMETOOLONG;
	dir = dw_path_opendir(owned);
	if (!dir)
		return -errno;

	level->dir = dir;
	level->progress = false;
	memcpy(level->name, name, len + 1);
	s->depth++;
	return 0;
}

/* Remove an entry of the current folder, or enter it. */
static int remove_entry(struct sweep *s, const char *name, unsigned char type)
{
	int at = fd_above(s, s->depth);
	struct stat st;
	int unlinked;

	if (type == DT_UNKNOWN) {
		if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return -errno;
		type = S_ISDIR(st.st_mode) ? DT_DIR : DT_REG;
	}
	/* An empty folder can be removed without entering it, whatever its mode. */
	unlinked = unlinkat(at, name, type == DT_DIR ? AT_REMOVEDIR : 0);
	if (unlinked == 0) {
		if (s->depth > 0)
			s->levels[s->depth - 1].progress = true;
		return 0;
	}
	if (type == DT_DIR && (errno == ENOTEMPTY || errno == EEXIST))
		return enter(s, name);
	return -errno;
}

/* The current folder was read to its end: remove it, or read it again. */
static void leave(struct sweep *s)
{
	struct sweep_level *level = &s->levels[s->depth - 1];
	int unlinked, eno;

	unlinked = unlinkat(fd_above(s, s->depth - 1), level->name, AT_REMOVEDIR);
	eno = errno;
	if (unlinked < 0 && (eno == ENOTEMPTY || eno == EEXIST) && level->progress) {
		level->progress = false;
		rewinddir(level->dir);
		return;
	}
	if (unlinked < 0)
		note(s, -eno);

	(void)closedir(level->dir);
	s->depth--;
	if (unlinked < 0)
		return;
	if (s->depth > 0)
		s->levels[s->depth - 1].progress = true;
	else
		s->first = 0; /* nothing is left, whatever failed before */
}

int dw_path_remove_tree(int parent_fd, const char *name)
{
	struct sweep s = {.parent_fd = parent_fd};
	const struct dirent *entry;
	int r;

	if (name[part_len(name)] != '\0' || name[0] == '\0' ||
	    is_dots(name, strlen(name)))
		return -EINVAL;

	r = remove_entry(&s, name, DT_UNKNOWN);
	if (r < 0)
		return r;
	while (s.depth > 0) {
		errno = 0;
		entry = readdir(s.levels[s.depth - 1].dir);
		if (!entry) {
			note(&s, -errno);
			leave(&s);
		} else if (!is_dots(entry->d_name, strlen(entry->d_name))) {
			note(&s, remove_entry(&s, entry->d_name, entry->d_type));
		}
	}
	return s.first;
}
