/* SPDX-License-Identifier: Apache-2.0 */
#include "languages/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/path.h"

static bool is_called(const struct dw_runtime *rt, const char *name)
{
	if (strcasecmp(rt->name, name) == 0)
		return true;
	for (size_t i = 0; rt->aliases[i]; i++)
		if (strcasecmp(rt->aliases[i], name) == 0)
			return true;
	return false;
}

const struct dw_runtime *dw_runtime_find(const char *name)
{
	size_t n;
	const struct dw_runtime *table = dw_runtime_table(&n);

	if (!name)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (is_called(&table[i], name))
			return &table[i];
	return NULL;
}

/*
 * Whether we may execute it says little: in the cell it is somebody else who
 * tries. A bit for anybody is what tells a program from a text.
 */
static bool is_program(int root_fd, const char *path)
{
	autoclose int fd = dw_path_open_in_root(root_fd, path, O_PATH);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_mode & 0111) != 0;
}

static int give(const char *path, char *ret, size_t size)
{
	size_t len = strlen(path);

	if (len >= size)
		return -ENAMETOOLONG;
	memcpy(ret, path, len + 1);
	return 0;
}

int dw_runtime_locate(int root_fd, const char *search, const char *program, char *ret,
                      size_t size)
{
	char path[PATH_MAX];
	size_t len;
	int n;

	if (program[0] == '\0')
		return -ENOENT;
	if (strchr(program, '/'))
		return is_program(root_fd, program) ? give(program, ret, size) : -ENOENT;

	for (; *search != '\0'; search += len + (search[len] == ':')) {
		len = strcspn(search, ":");
		/* An empty or relative folder would be one below wherever we are. */
		if (search[0] != '/')
			continue;
		n = snprintf(path, sizeof(path), "%.*s/%s", (int)len, search, program);
		if (n < 0 || (size_t)n >= sizeof(path))
			return -ENAMETOOLONG;
		if (is_program(root_fd, path))
			return give(path, ret, size);
	}
	return -ENOENT;
}

const char *dw_runtime_missing(const struct dw_runtime *runtime, int root_fd,
                               const char *search)
{
	char path[PATH_MAX];

	for (size_t i = 0; runtime->needs[i]; i++)
		if (dw_runtime_locate(root_fd, search, runtime->needs[i], path,
		                      sizeof(path)) < 0)
			return runtime->needs[i];

	/* Most often one of the above; if not, it is the shell. */
	if (!runtime->executable &&
	    dw_runtime_locate(root_fd, search, runtime->command[0], path, sizeof(path)) <
	            0)
		return runtime->command[0];
	return NULL;
}
