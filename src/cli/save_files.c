/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/foreground.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/path.h"
#include "cli/print.h"

int dw_collect_open(const char *folder, struct dw_error *err)
{
	int fd;

	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		return dw_fail(err, DW_E_INVALID, errno, "cannot create the folder %s",
		               folder);

	fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return dw_fail(err, DW_E_INVALID, errno, "cannot open the folder %s",
		               folder);
	return fd;
}

/* Returns true if the caller gave this name, false if it only matches a pattern. */
static bool asked_by_name(const struct dw_request *req, const char *name)
{
	size_t i;

	for (i = 0; i < req->n_collect; i++) {
		const char *asked = req->collect[i];

		if (strncmp(asked, "/tmp/", 5) == 0)
			asked += 5;
		if (strcmp(asked, name) == 0 && !strpbrk(name, "*?["))
			return true;
	}
	return false;
}

static int write_file(int dir_fd, const struct dw_file_out *file, bool replace,
                      struct dw_error *err)
{
	/* O_NONBLOCK: an existing fifo must not block us. */
	const int flags = O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY;
	autoclose int fd = -1;
	struct stat st;
	int r;

	if (!dw_path_is_plain(file->name))
		return dw_fail(err, DW_E_DENIED, 0, "the name leads out of the folder");

	r = dw_path_make_parents(dir_fd, file->name, 0777);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "cannot create its folder");

	fd = dw_path_open_beneath(dir_fd, file->name, flags | (replace ? 0 : O_EXCL),
	                          0666);
	if (fd == -EEXIST)
		return dw_fail(err, DW_E_DENIED, 0,
		               "the file exists; to replace it, give its full name");
	if (fd < 0)
		return dw_fail(err, DW_E_INTERNAL, -fd, "cannot open it");

	if (fstat(fd, &st) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot stat it");
	if (!S_ISREG(st.st_mode))
		return dw_fail(err, DW_E_DENIED, 0,
		               "a file that is not regular exists there");
	if (ftruncate(fd, 0) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot truncate it");

	r = dw_fd_write_all(fd, file->data, file->len);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "cannot write it");
	return 0;
}

size_t dw_collect_write(int dir_fd, const struct dw_request *req,
                        const struct dw_result *res)
{
	const struct dw_file_out *file;
	struct dw_error err = {0};
	size_t failed = 0;
	size_t i;

	for (i = 0; i < res->n_files; i++) {
		file = &res->files[i];
		if (write_file(dir_fd, file, asked_by_name(req, file->name), &err) == 0)
			continue;
		dw_report_line("%s was not written: %s", file->name, err.text);
		failed++;
	}
	return failed;
}
