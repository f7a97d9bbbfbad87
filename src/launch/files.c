/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "launch/launch_own.h"

/*
 * The path to create an entry at. No program has run in the tree yet, so plain paths are
 * safe. In a cell with its own root the current folder is that root, and "/tmp/x" becomes
 * "tmp/x"; without one, dst is a path of the host.
 */
static const char *place(const struct dw_plan *plan, const char *dst)
{
	return plan->h->flags & DW_PLAN_NAMESPACES ? dst + 1 : dst;
}

/* Make the folders above the file. */
static int make_parents(const char *path, struct dw_error *err)
{
	char part[4096];
	size_t len = strlen(path);

	if (len >= sizeof(part))
		return dw_fail(err, DW_E_INVALID, ENAMETOOLONG, "cannot make %s", path);
	for (size_t i = 1; i < len; i++) {
		if (path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return dw_fail(err, DW_E_INTERNAL, errno,
			               "cannot make %s in the cell", part);
	}
	return 0;
}

static int make_file(const struct dw_plan *plan, const struct dw_plan_entry *e,
                     const char *path, struct dw_error *err)
{
	autoclose int fd = -1;
	int r;

	if (make_parents(path, err) < 0)
		return -1;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, e->mode);
	if (fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot create %s in the cell",
		               path);
	r = dw_fd_write_all(fd, plan->blob + e->src, e->size);
	if (r == -ENOSPC)
		return dw_fail(
			err, DW_E_INVALID, -r,
			"cannot write %s in the cell: it does not fit in /tmp; raise --tmp",
			path);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "cannot write %s in the cell",
		               path);
	return 0;
}

int dw_files_make(const struct dw_plan *plan, const struct dw_plan_entry *e,
                  struct dw_error *err)
{
	const char *path = place(plan, dw_plan_text(plan, e->dst));

	if (e->op == DW_PLAN_FILE)
		return make_file(plan, e, path, err);
	if (e->op == DW_PLAN_SYMLINK && symlink(dw_plan_text(plan, e->src), path) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot link %s in the cell",
		               path);
	if (e->op == DW_PLAN_DIR && mkdir(path, e->mode) < 0 && errno != EEXIST)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot make %s in the cell",
		               path);
	return 0;
}
