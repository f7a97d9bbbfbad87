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
#include "hooks_embedded.h"

static const struct {
	const char *language;
	const char *file;
	const unsigned char *text;
	size_t len;
} hooks[] = {
	{"python", "hook.py", dw_hook_python, sizeof(dw_hook_python)},
	{"javascript", "hook.js", dw_hook_node, sizeof(dw_hook_node)},
};

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
 * Not access(X_OK), because the program runs as another user in the cell. A regular file
 * with any execute bit counts as a program.
 */
static bool is_program(int root_fd, const char *path)
{
	autoclose int fd = dw_path_open_in_root(root_fd, path, O_PATH);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	       (st.st_mode & 0111) != 0;
}

static int copy_path(const char *path, char *ret, size_t size)
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
		return is_program(root_fd, program) ? copy_path(program, ret, size)
		                                    : -ENOENT;

	for (; *search != '\0'; search += len + (search[len] == ':')) {
		len = strcspn(search, ":");
		/* Skip empty and relative folders: they depend on the working folder. */
		if (search[0] != '/')
			continue;
		n = snprintf(path, sizeof(path), "%.*s/%s", (int)len, search, program);
		if (n < 0 || (size_t)n >= sizeof(path))
			return -ENAMETOOLONG;
		if (is_program(root_fd, path))
			return copy_path(path, ret, size);
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

	/* command[0] is usually one of the programs above; otherwise it is sh. */
	if (!runtime->executable &&
	    dw_runtime_locate(root_fd, search, runtime->command[0], path, sizeof(path)) <
	            0)
		return runtime->command[0];
	return NULL;
}

const char *dw_runtime_opening(const struct dw_runtime *runtime, const char *code,
                               size_t len)
{
	const char *mark = runtime->opening[0];

	if (!mark || (len > 0 && memmem(code, len, mark, strlen(mark))))
		return "";
	return runtime->opening[1];
}

const char *dw_runtime_hook(const struct dw_runtime *runtime, const char **ret_file,
                            size_t *ret_len)
{
	for (size_t i = 0; i < ARRAY_SIZE(hooks); i++) {
		if (strcmp(hooks[i].language, runtime->name) != 0)
			continue;
		*ret_file = hooks[i].file;
		*ret_len = hooks[i].len;
		return (const char *)hooks[i].text;
	}
	return NULL;
}
