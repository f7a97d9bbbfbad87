/* SPDX-License-Identifier: Apache-2.0 */
#include "cgroup/cgroup_own.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"

/* Where hosts mount version 2; open_group() checks the type of the file system. */
static const char *const unified[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};

bool dw_cgroup_has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = list; (p = strstr(p, word)) != NULL; p += len) {
		bool starts = p == list || p[-1] == ' ' || p[-1] == ',';
		bool ends = p[len] == '\0' || p[len] == ' ' || p[len] == ',' ||
		            p[len] == '\n';

		if (starts && ends)
			return true;
	}
	return false;
}

int dw_cgroup_own_path(const char *text, const char *controller, char *ret, size_t size)
{
	char line[1024];

	for (const char *p = text; *p != '\0';) {
		size_t len = strcspn(p, "\n");
		bool whole = len < sizeof(line);
		char *names, *path;

		(void)snprintf(line, sizeof(line), "%.*s", (int)len, p);
		p += len + (p[len] == '\n');

		/* "8:pids:/path", and for version 2 "0::/path" */
		names = strchr(line, ':');
		path = names ? strchr(names + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		names++;
		if (controller ? !dw_cgroup_has_word(names, controller) : *names != '\0')
			continue;
		if (!whole || strlen(path) >= size)
			return -ENAMETOOLONG;
		memcpy(ret, path, strlen(path) + 1);
		return 0;
	}
	return -ENOENT;
}

static int open_group(const char *mount, const char *path, long magic)
{
	autoclose int fd = -1;
	struct statfs fs;
	char full[2048];

	/* In a container the path may not be visible: use the top of what is mounted. */
	(void)snprintf(full, sizeof(full), "%s%s", mount, path);
	fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fd = open(mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &fs) < 0)
		return -errno;
	if (fs.f_type != magic)
		return -ENODEV;
	return TAKE_FD(fd);
}

int dw_cgroup_open_own(void)
{
	char text[8192], path[1024];

	if (dw_fd_read_attr(AT_FDCWD, "/proc/self/cgroup", text, sizeof(text)) < 0 ||
	    dw_cgroup_own_path(text, NULL, path, sizeof(path)) < 0)
		return -ENOENT;
	for (size_t i = 0; i < ARRAY_SIZE(unified); i++) {
		int fd = open_group(unified[i], path, CGROUP2_SUPER_MAGIC);

		if (fd >= 0)
			return fd;
	}
	return -ENOENT;
}

static int find_legacy(const char *text, const char *name)
{
	char path[1024], mount[64];

	if (dw_cgroup_own_path(text, name, path, sizeof(path)) < 0)
		return -ENOENT;
	(void)snprintf(mount, sizeof(mount), "/sys/fs/cgroup/%s", name);
	return open_group(mount, path, CGROUP_SUPER_MAGIC);
}

void dw_cgroup_look(struct dw_cgroup_places *ret, bool needed)
{
	ret->unified_fd = -1;
	ret->controllers[0] = ret->why[0] = ret->own[0] = '\0';
	if (!needed)
		return;
	ret->unified_fd = dw_cgroup_parent_open(ret->why, sizeof(ret->why));
	if (ret->unified_fd >= 0 &&
	    dw_fd_read_attr(ret->unified_fd, "cgroup.subtree_control", ret->controllers,
	                    sizeof(ret->controllers)) < 0)
		ret->controllers[0] = '\0';
	if (dw_fd_read_attr(AT_FDCWD, "/proc/self/cgroup", ret->own, sizeof(ret->own)) <
	    0)
		ret->own[0] = '\0';
}

void dw_cgroup_look_finish(struct dw_cgroup_places *places)
{
	dw_fd_close(&places->unified_fd);
}

int dw_cgroup_find(const struct dw_cgroup_places *places, enum dw_controller controller,
                   int *ret_fd, char *why, size_t size)
{
	const char *name = dw_controller_name(controller);
	int fd;

	if (places->unified_fd >= 0 && dw_cgroup_has_word(places->controllers, name)) {
		fd = fcntl(places->unified_fd, F_DUPFD_CLOEXEC, 3);
		if (fd >= 0) {
			*ret_fd = fd;
			return 2;
		}
	}
	fd = find_legacy(places->own, name);
	if (fd >= 0) {
		*ret_fd = fd;
		return 1;
	}
	if (places->why[0] != '\0') {
		(void)snprintf(why, size,
		               "no permission to use the %s cgroup (version 2): %s", name,
		               places->why);
		return 0;
	}
	if (places->unified_fd >= 0) {
		(void)snprintf(why, size,
		               "the %s controller of cgroup version 2 is not delegated "
		               "to this process",
		               name);
		return 0;
	}
	(void)snprintf(why, size, "no cgroup hierarchy with the %s controller is mounted",
	               name);
	return 0;
}
