/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "levels/allowed_set.h"
#include "levels/launched.h"

/* Folders that contain programs, and little else. */
static const char *const folders[] = {
	"/usr/bin",        "/usr/sbin", "/usr/games", "/usr/local/bin",
	"/usr/local/sbin", "/bin",      "/sbin",      "/usr/local/games",
};

/*
 * In a cell with its own root: the parent of the folders that are mounted over these.
 * OTHER is a program that is not on the list: the kernel must refuse to execute it.
 */
#define COVERS "/run/dewar"
#define OTHER "other"

static bool is_in(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && path[len] == '/' &&
	       !strchr(path + len + 1, '/');
}

/* ---- container: mount our own folders over those with programs ---- */

/* Create the cover: an empty file to mount each program on, and links for other names. */
static void make_cover(struct dw_plan_builder *plan, const struct dw_allowed_set *set,
                       const char *folder, const char *cover)
{
	char path[DW_ALLOWED_PATH_MAX + 64];

	dw_plan_dir(plan, cover, 0755);
	for (size_t i = 0; i < set->n_files; i++) {
		if (!is_in(set->files[i], folder))
			continue;
		(void)snprintf(path, sizeof(path), "%s%s", cover,
		               strrchr(set->files[i], '/'));
		dw_plan_file(plan, path, 0555, "", 0);
	}
	for (size_t i = 0; i < set->n_names; i++) {
		if (!is_in(set->names[i].path, folder))
			continue;
		(void)snprintf(path, sizeof(path), "%s%s", cover,
		               strrchr(set->names[i].path, '/'));
		dw_plan_symlink(plan, set->files[set->names[i].file], path);
	}
}

static void mount_cover(struct dw_plan_builder *plan, const struct dw_allowed_set *set,
                        const char *folder, const char *cover)
{
	char host[2 * DW_ALLOWED_PATH_MAX];

	dw_plan_bind(plan, cover, folder, DW_PLAN_INSIDE);
	for (size_t i = 0; i < set->n_files; i++) {
		if (!is_in(set->files[i], folder))
			continue;
		(void)snprintf(host, sizeof(host), "%s%s", set->root, set->files[i]);
		dw_plan_bind(plan, host, set->files[i], DW_PLAN_EXACT);
	}
}

static void cover_folders(struct dw_plan_builder *plan, const struct dw_allowed_set *set)
{
	char real[DW_ALLOWED_PATH_MAX], cover[sizeof(COVERS) + 16];

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		/* Skip a link: it leads to another of the folders, or to none. */
		if (!dw_allowed_real(set, folders[i], real) ||
		    strcmp(real, folders[i]) != 0)
			continue;
		(void)snprintf(cover, sizeof(cover), COVERS "/%zu", i);
		make_cover(plan, set, folders[i], cover);
		mount_cover(plan, set, folders[i], cover);
	}
}

static void plan_root(struct dw_launched *l, const struct dw_allowed_set *set)
{
	struct dw_plan_builder *plan = &l->plan;

	dw_plan_file(plan, COVERS "/" OTHER, 0755, "", 0); /* and the folder with it */
	dw_plan_exec(plan, COVERS "/" OTHER, DW_PLAN_REFUSED);
	cover_folders(plan, set);
	dw_plan_forbid_exec(plan);
}

/* ---- process: Landlock, and a folder of links as PATH ---- */

static bool has_programs(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (strcmp(path, folders[i]) == 0)
			return true;
	return false;
}

void dw_allowed_show(struct dw_plan_builder *plan, const char *path)
{
	char child[PATH_MAX];
	autodir DIR *dir = NULL;
	struct dirent *d;

	if (has_programs(path))
		return;
	if (strcmp(path, "/usr") != 0 && strcmp(path, "/usr/local") != 0) {
		dw_plan_allow(plan, path, 0);
		return;
	}
	dir = opendir(path);
	while (dir && (d = readdir(dir)) != NULL) {
		(void)snprintf(child, sizeof(child), "%s/%s", path, d->d_name);
		if (d->d_type == DT_DIR && d->d_name[0] != '.')
			dw_allowed_show(plan, child);
	}
}

static void add_link(struct dw_launched *l, const struct dw_allowed_set *set,
                     const char *folder, const char *name)
{
	char path[DW_ALLOWED_PATH_MAX], found[DW_ALLOWED_PATH_MAX];

	if (dw_runtime_locate(set->root_fd, set->search, name, found, sizeof(found)) < 0)
		return;
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	dw_plan_symlink(&l->plan, found, path);
}

/* Returns true if the name is among the first n of the list, which may be shorter. */
static bool is_among(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n && list[i]; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

/* The program can write to the folder of links: it is a convenience, not a wall. */
static void plan_search(struct dw_launched *l, const struct dw_allowed_set *set)
{
	const struct dw_request *req = l->spec->req;
	const char *const *needs = l->spec->runtime->needs;
	char folder[sizeof(l->folder) + 16], path[DW_ALLOWED_PATH_MAX];

	(void)snprintf(folder, sizeof(folder), "%s/.commands", l->folder);
	dw_plan_dir(&l->plan, folder, 0755);
	for (size_t i = 0; needs[i]; i++)
		add_link(l, set, folder, needs[i]);
	for (size_t i = 0; req->allowed_commands[i]; i++)
		if (!is_among(req->allowed_commands[i], needs, SIZE_MAX) &&
		    !is_among(req->allowed_commands[i], req->allowed_commands, i))
			add_link(l, set, folder, req->allowed_commands[i]);
	dw_plan_add_env(&l->plan, "PATH", folder);
	(void)snprintf(path, sizeof(path), "%s/." OTHER, folder);
	dw_plan_file(&l->plan, path, 0755, "", 0);
	dw_plan_exec(&l->plan, path, DW_PLAN_REFUSED);
}

/* ---- both ---- */

/* Add the programs that the request itself needs, then those that it may start. */
static int gather(struct dw_launched *l, struct dw_allowed_set *set, struct dw_error *err)
{
	const struct dw_request *req = l->spec->req;
	const struct dw_runtime *rt = l->spec->runtime;
	autofree char *program = req->program ? realpath(req->program, NULL) : NULL;

	/* The request's program is a file of the host; an image does not contain it. */
	if (program && !req->image && dw_allowed_set_add(set, program, err) < 0)
		return -1;
	if (!rt->executable && dw_allowed_set_add(set, rt->command[0], err) < 0)
		return -1;
	for (size_t i = 0; rt->needs[i]; i++)
		if (dw_allowed_set_add(set, rt->needs[i], err) < 0)
			return -1;
	for (size_t i = 0; req->allowed_commands[i]; i++)
		if (dw_allowed_set_add(set, req->allowed_commands[i], err) < 0)
			return -1;
	return 0;
}

/*
 * A cell without its own root needs Landlock. The launcher checks this again, but by then
 * no other level is tried.
 */
static int check_landlock(const struct dw_launched *l, struct dw_error *err)
{
	if ((l->plan.h.flags & DW_PLAN_NAMESPACES) ||
	    syscall(SYS_landlock_create_ruleset, NULL, 0,
	            LANDLOCK_CREATE_RULESET_VERSION) > 0)
		return 0;
	return dw_fail(err, DW_E_UNSUPPORTED, 0,
	               "allowed_commands needs Landlock at this level, which this kernel does "
	               "not have; use level container");
}

int dw_allowed_plan(struct dw_launched *l, struct dw_error *err)
{
	struct dw_allowed_set *set;
	char path[128];

	if (check_landlock(l, err) < 0)
		return -1;
	set = dw_allowed_set_new(l->spec->req->image, err);
	if (!set)
		return -1;
	if (gather(l, set, err) < 0) {
		dw_allowed_set_free(set);
		return -1;
	}
	l->plan.h.flags |= DW_PLAN_COMMANDS;
	if (l->plan.h.flags & DW_PLAN_NAMESPACES)
		plan_root(l, set);
	else
		plan_search(l, set);
	for (size_t i = 0; i < set->n_files; i++)
		dw_plan_exec(&l->plan, set->files[i], 0);
	if (l->spec->req->program && (l->plan.h.flags & DW_PLAN_NAMESPACES)) {
		(void)snprintf(path, sizeof(path), "%s/%s", l->folder,
		               l->spec->runtime->file);
		dw_plan_exec(&l->plan, path, 0);
	}
	dw_allowed_set_free(set);
	return 0;
}
