/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copy files into the cell, and out of it.
 *
 * When files are sent out, every process that could change them is dead. Names are
 * resolved below a descriptor of /tmp without following links; only folders and regular
 * files are read. dewar-docker does not trust the names and sizes, and checks them again.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "guest/guest_own.h"

#define DEPTH_MAX 32

static char chunk[DW_GUEST_PAYLOAD_MAX];

/* ---- in ---- */

static int create(const char *path, uint32_t mode, struct dw_error *err)
{
	char part[DW_GUEST_NAME_MAX + 16];
	int fd;

	/* No other process is alive: plain paths are safe here. */
	for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		(void)snprintf(part, sizeof(part), "%.*s", (int)(p - path), path);
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return dw_fail(err, DW_E_INTERNAL, errno,
			               "cannot make %s in the cell", part);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot create %s in the cell",
		               path);
	return fd;
}

void dw_guest_take_file(size_t len)
{
	struct dw_guest_file header;
	char path[DW_GUEST_NAME_MAX + 16];
	struct dw_guest_frame frame;
	struct dw_error err = {0};
	autoclose int fd = -1;
	int r;

	if (len <= sizeof(header) || len - sizeof(header) >= sizeof(path))
		dw_guest_end();
	dw_guest_read(&header, sizeof(header));
	dw_guest_read(path, len - sizeof(header));
	path[len - sizeof(header)] = '\0';

	fd = create(path, header.mode, &err);
	if (fd < 0)
		dw_init_die(&err);
	for (uint64_t left = header.size; left > 0; left -= frame.len) {
		dw_guest_read(&frame, sizeof(frame));
		if (frame.kind != DW_GUEST_DATA || frame.len > sizeof(chunk) ||
		    frame.len > left || frame.len == 0)
			dw_guest_end();
		dw_guest_read(chunk, frame.len);
		r = dw_fd_write_all(fd, chunk, frame.len);
		if (r == -ENOSPC)
			(void)dw_fail(
				&err, DW_E_INVALID, -r,
				"cannot write %s in the cell: it does not fit in /tmp; raise --tmp",
				path);
		else if (r < 0)
			(void)dw_fail(&err, DW_E_INTERNAL, -r,
			              "cannot write %s in the cell", path);
		if (r < 0)
			dw_init_die(&err);
	}
}

/* ---- out ---- */

struct search {
	const char *patterns;
	size_t len;
	unsigned looks;
	unsigned files;
	uint64_t bytes;
};

static bool matches(const struct search *s, const char *name)
{
	for (const char *p = s->patterns; p < s->patterns + s->len; p += strlen(p) + 1)
		if (fnmatch(p, name, FNM_PATHNAME | FNM_PERIOD) == 0)
			return true;
	return false;
}

/*
 * The program may have removed its own read permission; with the same user id we can
 * restore it.
 */
static int open_readable(int dir, const char *entry, const struct stat *st, int flags)
{
	int fd = openat(dir, entry,
	                O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags);

	if (fd >= 0 || errno != EACCES)
		return fd;
	(void)!fchmodat(dir, entry, (st->st_mode & 07777) | 0500, 0);
	return openat(dir, entry, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | flags);
}

static void send_file(struct search *s, int fd, const char *name, uint64_t size)
{
	char header[sizeof(struct dw_guest_file) + DW_GUEST_NAME_MAX];
	struct dw_guest_file file = {.size = size, .mode = 0600};
	size_t len = strlen(name);
	ssize_t n;

	if (s->files++ >= DW_GUEST_FILES_MAX)
		return;
	memcpy(header, &file, sizeof(file));
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): with its length */
	memcpy(header + sizeof(file), name, len);
	dw_guest_send(DW_GUEST_FILE, header, sizeof(file) + len);

	/*
	 * Above the limit send only name and size, so that dewar can report why the file
	 * is missing.
	 */
	if (size > DW_GUEST_BYTES_MAX - s->bytes)
		return;
	s->bytes += size;
	while (size > 0) {
		n = read(fd, chunk, size < sizeof(chunk) ? size : sizeof(chunk));
		if (n <= 0)
			break;
		dw_guest_send(DW_GUEST_DATA, chunk, (size_t)n);
		size -= (uint64_t)n;
	}
}

static void walk(struct search *s, int fd, const char *prefix, int depth);

static void look_at(struct search *s, int dir, const char *prefix, const char *entry,
                    int depth)
{
	char name[DW_GUEST_NAME_MAX];
	struct stat st;
	int fd;

	if (fstatat(dir, entry, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    (size_t)snprintf(name, sizeof(name), "%s%s%s", prefix, entry,
	                     S_ISDIR(st.st_mode) ? "/" : "") >= sizeof(name))
		return;
	if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX) {
		fd = open_readable(dir, entry, &st, O_DIRECTORY);
		if (fd >= 0)
			walk(s, fd, name, depth + 1);
	} else if (S_ISREG(st.st_mode) && matches(s, name)) {
		fd = open_readable(dir, entry, &st, 0);
		if (fd >= 0)
			send_file(s, fd, name, (uint64_t)st.st_size);
		if (fd >= 0)
			(void)close(fd);
	}
}

/* Takes ownership of fd. */
static void walk(struct search *s, int fd, const char *prefix, int depth)
{
	autodir DIR *dir = fdopendir(fd);
	struct dirent *d;

	if (!dir)
		(void)close(fd);
	while (dir && (d = readdir(dir)) != NULL && s->looks < DW_GUEST_LOOKS_MAX) {
		s->looks++;
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			look_at(s, fd, prefix, d->d_name, depth);
	}
}

void dw_guest_collect(const char *patterns, size_t len)
{
	struct search s = {.patterns = patterns, .len = len};
	int fd = len == 0 ? -1
	                  : open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0)
		walk(&s, fd, "", 0);
}
