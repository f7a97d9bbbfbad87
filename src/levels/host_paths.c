/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "levels/launched.h"

static const char *const programs[] = {"/usr",   "/bin",   "/sbin",  "/lib",
                                       "/lib32", "/lib64", "/libx32"};

/*
 * The parts of /etc that programs need: the links behind /usr/bin, the linker's cache,
 * certificates, fonts, and the settings of languages that do not start without them. They
 * contain no accounts, keys, host names or services. Each entry costs every cell a mount.
 */
static const char *const settings[] = {
	"/etc/alternatives",
	"/etc/ld.so.cache",
	"/etc/localtime",
	"/etc/ssl/certs",
	"/etc/ssl/openssl.cnf",
	"/etc/fonts",
	"/etc/matplotlibrc",
	"/etc/php",
	"/etc/R",
	"/etc/java-11-openjdk",
	"/etc/java-17-openjdk",
	"/etc/java-21-openjdk",
	"/etc/java-25-openjdk",
};

void dw_host_paths_host(struct dw_plan_builder *plan, dw_host_paths_fn *show)
{
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		show(plan, programs[i]);
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		show(plan, settings[i]);
}

/* Bind a path of the host at a path in the cell; copy a link as a link. */
static void bind_at(struct dw_plan_builder *plan, const char *host, const char *cell,
                    uint32_t flags)
{
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (lstat(host, &st) < 0)
		return;
	if (!S_ISLNK(st.st_mode)) {
		dw_plan_bind(plan, host, cell, DW_PLAN_OPTIONAL | flags);
		return;
	}
	n = readlink(host, target, sizeof(target) - 1);
	if (n > 0) {
		target[n] = '\0';
		dw_plan_symlink(plan, target, cell);
	}
}

void dw_host_paths_bind(struct dw_plan_builder *plan, const char *path)
{
	bind_at(plan, path, path, 0);
}

/* Returns true if the cell provides the folder itself and ignores the image's. */
static bool is_own(const char *name)
{
	static const char *const own[] = {".",   "..",  "proc", "sys",
	                                  "dev", "tmp", "work", "run"};

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (strcmp(name, own[i]) == 0)
			return true;
	return false;
}

void dw_host_paths_allow_root(struct dw_plan_builder *plan)
{
	static const char *const writable[] = {"/tmp",         "/dev/shm",  "/dev/null",
	                                       "/dev/zero",    "/dev/full", "/dev/random",
	                                       "/dev/urandom", "/proc"};

	dw_plan_allow(plan, "/", 0);
	for (size_t i = 0; i < ARRAY_SIZE(writable); i++)
		dw_plan_allow(plan, writable[i], DW_PLAN_WRITABLE);
}

int dw_host_paths_image(struct dw_plan_builder *plan, const char *image,
                        struct dw_error *err)
{
	autofree char *root = realpath(image, NULL);
	autodir DIR *dir = root ? opendir(root) : NULL;
	char host[PATH_MAX], cell[300];
	struct dirent *d;

	if (!dir)
		return dw_fail(err, DW_E_NOT_FOUND, errno,
		               "cannot open the image %s (a folder with a root file system)",
		               image);
	if (strcmp(root, "/") == 0)
		return dw_fail(err, DW_E_INVALID, 0,
		               "the image is the host's own root; omit --image");
	while ((d = readdir(dir)) != NULL) {
		if (is_own(d->d_name))
			continue;
		(void)snprintf(host, sizeof(host), "%s/%s", root, d->d_name);
		(void)snprintf(cell, sizeof(cell), "/%s", d->d_name);
		bind_at(plan, host, cell, DW_PLAN_EXACT);
	}
	return 0;
}

/* Share a path below the workspace; refuse links, which could lead elsewhere. */
static int share_inside(struct dw_plan_builder *plan, const char *workspace,
                        const char *rel, dw_host_paths_share_fn *fn, struct dw_error *err)
{
	autoclose int ws = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
	autoclose int fd = -1;
	char host[PATH_MAX], cell[PATH_MAX];
	struct stat st;

	if (!dw_path_is_plain(rel))
		return dw_fail(err, DW_E_INVALID, 0,
		               "the writable path \"%s\" is not a path below the workspace",
		               rel);
	fd = ws < 0 ? -errno : dw_path_open_beneath(ws, rel, O_PATH, 0);
	if (fd < 0)
		return dw_fail(err, DW_E_INVALID, -fd,
		               "cannot open the writable path %s in the workspace (it must "
		               "exist, and no part of it may be a link)",
		               rel);
	if (fstat(fd, &st) < 0 || (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)))
		return dw_fail(err, DW_E_INVALID, 0,
		               "the writable path %s is neither a folder nor a file",
		               rel);
	(void)snprintf(host, sizeof(host), "%s/%s", workspace, rel);
	(void)snprintf(cell, sizeof(cell), "/work/%s", rel);
	fn(plan, host, cell, true);
	return 0;
}

/* Returns true if a host folder must not be mounted there in a cell. */
static bool is_reserved(const char *path)
{
	static const char *const reserved[] = {"/bin",  "/boot",  "/dev",   "/etc",
	                                       "/lib",  "/lib32", "/lib64", "/libx32",
	                                       "/proc", "/run",   "/sbin",  "/sys",
	                                       "/usr",  "/work"};

	if (strcmp(path, "/") == 0 || strcmp(path, "/tmp") == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++) {
		size_t len = strlen(reserved[i]);

		if (strncmp(path, reserved[i], len) == 0 &&
		    (path[len] == '\0' || path[len] == '/'))
			return true;
	}
	return false;
}

static int share_outside(struct dw_plan_builder *plan, const char *path,
                         dw_host_paths_share_fn *fn, struct dw_error *err)
{
	autofree char *real = realpath(path, NULL);
	struct stat st;

	if (!real || lstat(path, &st) < 0)
		return dw_fail(err, DW_E_INVALID, errno,
		               "cannot open the writable path %s", path);
	/* A cell that could write to the link's folder may have created it. */
	if (S_ISLNK(st.st_mode))
		return dw_fail(err, DW_E_INVALID, 0,
		               "the writable path %s is a link; use its target, %s", path,
		               real);
	if (is_reserved(real))
		return dw_fail(err, DW_E_INVALID, 0,
		               "%s cannot be made writable: it is part of the cell itself",
		               real);
	fn(plan, real, real, true);
	return 0;
}

/*
 * Returns the part of the path below the workspace, even if the path reaches the
 * workspace through links; NULL if it is not below the workspace.
 */
static const char *inside_workspace(char *path, const char *workspace)
{
	for (char *p = path; (p = strchr(p + 1, '/')) != NULL;) {
		autofree char *real = NULL;

		*p = '\0';
		real = realpath(path, NULL);
		*p = '/';
		if (real && strcmp(real, workspace) == 0)
			return p + 1 + strspn(p + 1, "/");
	}
	return NULL;
}

static int share_writable(struct dw_plan_builder *plan, const char *workspace,
                          const char *given, dw_host_paths_share_fn *fn,
                          struct dw_error *err)
{
	autofree char *path = strdup(given);
	const char *rel;

	if (!path)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot share %s", given);
	for (size_t end = strlen(path); end > 1 && path[end - 1] == '/'; end--)
		path[end - 1] = '\0'; /* as tab completion leaves it */

	if (path[0] != '/' && workspace)
		return share_inside(plan, workspace, path, fn, err);
	if (path[0] != '/')
		return dw_fail(err, DW_E_INVALID, 0,
		               "the writable path \"%s\" is relative; use an absolute "
		               "path, or add a workspace",
		               path);
	/* Try it as a host path first: the host may have its own /work. */
	rel = workspace ? inside_workspace(path, workspace) : NULL;
	if (!rel && workspace && strncmp(path, "/work/", 6) == 0)
		rel = path + 6;
	if (rel)
		return share_inside(plan, workspace, rel, fn, err);
	return share_outside(plan, path, fn, err);
}

int dw_host_paths_shares(struct dw_plan_builder *plan, const struct dw_request *req,
                         dw_host_paths_share_fn *fn, struct dw_error *err)
{
	autofree char *workspace = NULL;
	struct stat st;

	if (req->workspace) {
		workspace = realpath(req->workspace, NULL);
		if (!workspace || stat(workspace, &st) < 0)
			return dw_fail(err, DW_E_INVALID, errno,
			               "cannot open the workspace %s", req->workspace);
		if (!S_ISDIR(st.st_mode))
			return dw_fail(err, DW_E_INVALID, ENOTDIR,
			               "cannot open the workspace %s", req->workspace);
		fn(plan, workspace, "/work", false);
	}
	for (size_t i = 0; i < req->n_writable; i++)
		if (share_writable(plan, workspace, req->writable[i], fn, err) < 0)
			return -1;
	return 0;
}
