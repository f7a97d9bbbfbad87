/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copy files out of a cell.
 *
 * Untrusted code wrote the tree below tmp_fd; its processes are dead, so the tree no
 * longer changes. Every file is opened below the descriptor, without following links;
 * files that are not regular are ignored; the number of files, their sizes and the
 * number of names examined are limited.
 */
#include "run/run_own.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "base/utf8.h"
#include "request/request.h"

#define NAME_SIZE 2048
#define DEPTH_MAX 32

struct search {
	struct dw_result *res;
	const char *except;
	size_t looks;
	size_t bytes;
	bool found;  /* a file matches the current pattern */
	int failure; /* -ENOMEM */
};

static const char *strip(const char *pattern)
{
	return strncmp(pattern, "/tmp/", 5) == 0 ? pattern + 5 : pattern;
}

int dw_collect_check(const char *pattern, struct dw_error *err)
{
	if (!dw_path_is_plain(strip(pattern)))
		return dw_fail(err, DW_E_INVALID, 0,
		               "cannot collect \"%s\": name a file or pattern below /tmp",
		               pattern);
	return 0;
}

static int add_file(struct search *s, const char *name, int fd, size_t size)
{
	struct dw_result *res = s->res;
	autofree char *data = malloc(size + 1);
	struct dw_file_out *files;
	ssize_t n;

	files = realloc(res->files, (res->n_files + 1) * sizeof(*files));
	if (files)
		res->files = files;
	if (!data || !files)
		return -ENOMEM;
	n = dw_fd_read_some(fd, data, size);
	if (n < 0)
		return (int)n;
	files[res->n_files].name = strdup(name);
	if (!files[res->n_files].name)
		return -ENOMEM;
	files[res->n_files].data = TAKE_PTR(data);
	files[res->n_files].len = (size_t)n;
	res->n_files++;
	s->bytes += (size_t)n;
	return 0;
}

static bool have(const struct dw_result *res, const char *name)
{
	for (size_t i = 0; i < res->n_files; i++)
		if (strcmp(res->files[i].name, name) == 0)
			return true;
	return false;
}

static void take_file(struct search *s, int dir_fd, const char *base, const char *name)
{
	autoclose int fd = -1;
	struct stat st;
	int r;

	if (strcmp(name, s->except) == 0)
		return;
	if (have(s->res, name)) {
		s->found = true;
		return;
	}
	fd = dw_path_open_beneath(dir_fd, base, O_RDONLY | O_NONBLOCK, 0);
	if (fd == -EACCES) {
		s->found = true;
		dw_warn(s->res,
		        "collect: %s was skipped: its mode does not allow reading", name);
		return;
	}
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	s->found = true;
	if (!dw_utf8_valid(name, strlen(name))) {
		dw_warn(s->res, "collect: a file whose name is not UTF-8 was skipped");
	} else if (s->res->n_files >= DW_COLLECT_FILES_MAX) {
		dw_warn(s->res, "collect: %s was skipped: the limit is %u files", name,
		        DW_COLLECT_FILES_MAX);
	} else if ((uint64_t)st.st_size > DW_COLLECT_BYTES_MAX - s->bytes) {
		dw_warn(s->res, "collect: %s was skipped: the limit is %u MB", name,
		        DW_COLLECT_BYTES_MAX >> 20);
	} else {
		r = add_file(s, name, fd, (size_t)st.st_size);
		if (r == -ENOMEM)
			s->failure = r;
		else if (r < 0)
			dw_warn(s->res, "collect: %s could not be read", name);
	}
}

static void look(struct search *s, int dir_fd, const char *prefix, const char *pattern,
                 int depth);

/* Take an entry that matches one part of the pattern, or look below it for the rest. */
static void look_at(struct search *s, int dir_fd, const char *prefix, const char *entry,
                    const char *rest, int depth)
{
	autoclose int sub = -1;
	char name[NAME_SIZE];

	if ((size_t)snprintf(name, sizeof(name), "%s%s%s", prefix, entry,
	                     rest ? "/" : "") >= sizeof(name))
		return;
	if (!rest) {
		take_file(s, dir_fd, entry, name);
		return;
	}
	sub = dw_path_open_beneath(dir_fd, entry, O_RDONLY | O_DIRECTORY, 0);
	if (sub < 0 || depth >= DEPTH_MAX)
		return;
	look(s, sub, name, rest, depth + 1);
}

static void look(struct search *s, int dir_fd, const char *prefix, const char *pattern,
                 int depth)
{
	const char *slash = strchr(pattern, '/');
	const char *rest = slash ? slash + 1 : NULL;
	autofree char *part = slash ? strndup(pattern, (size_t)(slash - pattern))
	                            : strdup(pattern);
	autodir DIR *dir = NULL;
	struct dirent *d;

	if (!part) {
		s->failure = -ENOMEM;
		return;
	}
	if (strpbrk(part, "*?[") == NULL) {
		look_at(s, dir_fd, prefix, part, rest, depth);
		return;
	}
	dir = dw_path_opendir(dir_fd);
	while (dir && (d = readdir(dir)) != NULL) {
		if (++s->looks > DW_COLLECT_LOOKS_MAX)
			return;
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 &&
		    fnmatch(part, d->d_name, FNM_PERIOD) == 0)
			look_at(s, dir_fd, prefix, d->d_name, rest, depth);
	}
}

int dw_collect(struct dw_result *res, const struct dw_request *req, int tmp_fd,
               const char *except, struct dw_error *err)
{
	struct search s = {.res = res, .except = except};

	for (size_t i = 0; i < req->n_collect && s.failure == 0; i++) {
		s.found = false;
		if (tmp_fd >= 0)
			look(&s, tmp_fd, "", strip(req->collect[i]), 0);
		if (!s.found)
			dw_warn(res, "collect: no file matches %s", req->collect[i]);
	}
	if (s.looks > DW_COLLECT_LOOKS_MAX)
		dw_warn(res, "collect: only the first %u names were examined",
		        DW_COLLECT_LOOKS_MAX);
	if (s.failure < 0)
		return dw_fail(err, DW_E_INTERNAL, -s.failure, "cannot collect files");
	return 0;
}
