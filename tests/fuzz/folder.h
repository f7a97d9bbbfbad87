/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_FUZZ_FOLDER_H
#define DW_FUZZ_FOLDER_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "fuzz/fuzz.h"

/*
 * A folder in /tmp with every kind of file, made once and removed at exit:
 *
 *	a.txt  .hidden  sub/b.txt  sub/deep/c.txt
 *	link -> /etc/passwd  out -> /  here -> sub  fifo
 */
static char fuzz_folder[] = "/tmp/test-dewar-fuzz.XXXXXX";

static inline void fuzz_folder_remove(void)
{
	autoclose int tmp = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)dw_path_remove_tree(tmp, fuzz_folder + strlen("/tmp/"));
}

static inline void fuzz_folder_file(int dir_fd, const char *name)
{
	autoclose int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL, 0644);

	/* The file system may refuse a name; that is not a failure. */
	if (fd >= 0)
		assert(write(fd, name, strlen(name)) == (ssize_t)strlen(name));
}

/* Returns a descriptor of the folder, which stays open. */
static inline int fuzz_folder_open(void)
{
	static const char *const names[] = {"a.txt", ".hidden", "sub/b.txt",
	                                    "sub/deep/c.txt"};
	static int fd = -1;

	if (fd >= 0)
		return fd;
	assert(mkdtemp(fuzz_folder) && atexit(fuzz_folder_remove) == 0);
	fd = open(fuzz_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert(fd >= 0 && mkdirat(fd, "sub", 0755) == 0);
	assert(mkdirat(fd, "sub/deep", 0755) == 0);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		fuzz_folder_file(fd, names[i]);
	assert(symlinkat("/etc/passwd", fd, "link") == 0);
	assert(symlinkat("/", fd, "out") == 0 && symlinkat("sub", fd, "here") == 0);
	assert(mkfifoat(fd, "fifo", 0644) == 0);
	return fd;
}

#endif
