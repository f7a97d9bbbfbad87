/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

static int too_big(const char *what, size_t max, struct dw_error *err)
{
	return dw_fail(err, DW_E_INVALID, 0, "%s must be at most %zu MiB", what,
	               max >> 20);
}

static int open_regular(const char *path, size_t max, size_t *ret_size,
                        struct dw_error *err)
{
	autoclose int fd = -1;
	struct stat st;

	/* Without O_NONBLOCK, open() of a fifo blocks until another process writes. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno == ENOENT)
		return dw_fail(err, DW_E_NOT_FOUND, 0, "cannot open %s: no such file",
		               path);
	if (fd < 0)
		return dw_fail(err, DW_E_INVALID, errno, "cannot open %s", path);

	if (fstat(fd, &st) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot stat %s", path);
	if (S_ISDIR(st.st_mode))
		return dw_fail(err, DW_E_INVALID, 0, "%s is a folder, not a file", path);
	if (!S_ISREG(st.st_mode))
		return dw_fail(err, DW_E_INVALID, 0, "%s is not a regular file", path);
	if ((uint64_t)st.st_size > max)
		return too_big(path, max, err);

	*ret_size = (size_t)st.st_size;
	return TAKE_FD(fd);
}

/*
 * Populate the pages at once, which costs a tenth of one page fault for each page. If
 * this fails, read() faults the pages in later.
 */
static void fault_in(char *data, size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t skip = -(uintptr_t)data & (page - 1);

	if (len > skip + 16 * page)
		(void)madvise(data + skip, (len - skip) & ~(page - 1),
		              MADV_POPULATE_WRITE);
}

int dw_input_read(const char *path, size_t max, char **ret_data, size_t *ret_len,
                  struct dw_error *err)
{
	const char *what = "standard input";
	autoclose int fd = -1;
	autofree char *data = NULL;
	size_t len = 0;
	size_t size = 0; /* the size of data, without the NUL */
	size_t hint = 4096;
	char *more;
	ssize_t n;

	if (strcmp(path, "-") != 0) {
		what = path;
		fd = open_regular(path, max, &hint, err);
		if (fd < 0)
			return -1;
	}

	/* Read one byte more than the file has, so that a short read shows its end. */
	for (hint++;; hint = size) {
		size += hint;
		if (size > max + 1)
			size = max + 1;
		more = realloc(data, size + 1);
		if (!more)
			return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot read %s",
			               what);
		data = more;
		fault_in(data + len, size - len);

		n = dw_fd_read_some(fd < 0 ? STDIN_FILENO : fd, data + len, size - len);
		if (n < 0)
			return dw_fail(err, DW_E_INVALID, (int)-n, "cannot read %s",
			               what);
		len += (size_t)n;
		if (len < size)
			break;
		if (len > max)
			return too_big(what, max, err);
	}

	data[len] = '\0';
	*ret_data = TAKE_PTR(data);
	*ret_len = len;
	return 0;
}

bool dw_input_is_program(const char *path)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char magic[4];

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_mode & 0555) == 0555 &&
	       dw_fd_read_some(fd, magic, sizeof(magic)) == sizeof(magic) &&
	       memcmp(magic, "\177ELF", sizeof(magic)) == 0;
}
