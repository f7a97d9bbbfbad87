/* SPDX-License-Identifier: Apache-2.0 */
#include "levels/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/* "%f" is the code file, "%d" its folder, "%h" the hook; all else is what it is. */
static const char *expand(const struct dw_launched *l, const char *word, const char *file,
                          const char *hook)
{
	if (strcmp(word, "%h") == 0)
		return hook;
	if (strcmp(word, "%f") == 0)
		return file;
	if (strcmp(word, "%d") == 0)
		return l->folder;
	return word;
}

/* The program of a command is searched for where the cell will have it. */
static int plan_command(struct dw_launched *l, const char *const *command,
                        const char *file, const char *hook, struct dw_error *err)
{
	const struct dw_request *req = l->spec->req;
	const char *search = dw_level_search_path(l->cell.level);
	autoclose int root = -1;
	char path[2048];

	root = open(req->image ? req->image : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return dw_fail(err, DW_E_NOT_FOUND, errno, "open the root file system %s",
		               req->image ? req->image : "/");
	if (dw_runtime_locate(root, search, command[0], path, sizeof(path)) < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "%s is not installed; it comes with %s", command[0],
		               l->spec->runtime->package);
	dw_plan_add_arg(&l->plan, path);
	for (size_t i = 1; command[i]; i++)
		dw_plan_add_arg(&l->plan, expand(l, command[i], file, hook));
	return 0;
}

static int plan_argv(struct dw_launched *l, const char *file, const char *hook,
                     struct dw_error *err)
{
	const struct dw_request *req = l->spec->req;
	const struct dw_runtime *rt = l->spec->runtime;

	if (rt->executable)
		dw_plan_add_arg(&l->plan, file);
	else if (plan_command(l, *hook ? rt->hooked : rt->command, file, hook, err) < 0)
		return -1;
	for (size_t i = 0; i < req->n_args; i++)
		dw_plan_add_arg(&l->plan, req->args[i]);
	return 0;
}

static void plan_variables(struct dw_launched *l, const char *const *all)
{
	char name[64];

	for (size_t i = 0; all[i]; i++) {
		const char *value = strchr(all[i], '=');

		(void)snprintf(name, sizeof(name), "%.*s", (int)(value - all[i]), all[i]);
		dw_plan_add_env(&l->plan, name, expand(l, value + 1, "", ""));
	}
}

/* Later ones win, so that a caller can change ours. */
static void plan_env(struct dw_launched *l, const char *library)
{
	const struct dw_request *req = l->spec->req;
	const struct dw_runtime *rt = l->spec->runtime;

	/* mutant: clean-environment */
	plan_variables(l, rt->env);
	if (rt->library_env && library)
		dw_plan_add_env(&l->plan, rt->library_env, library);
	for (size_t i = 0; i < req->n_env; i++)
		dw_plan_add_env(&l->plan, req->env[i].name, req->env[i].value);
}

/* A program of the host's own is not copied, but shown. Its place is in path. */
static int plan_program(struct dw_launched *l, char *path, size_t size,
                        struct dw_error *err)
{
	const char *program = l->spec->req->program;
	autofree char *real = realpath(program, NULL);
	struct stat st;

	if (!real || stat(real, &st) < 0)
		return dw_fail(err, DW_E_INVALID, errno, "open the program %s", program);
	if (!S_ISREG(st.st_mode) || (st.st_mode & 0005) != 0005)
		return dw_fail(
			err, DW_E_INVALID, 0,
			"the program %s is not a file that everybody may read and execute",
			program);
	if (l->plan.h.flags & DW_PLAN_NAMESPACES) {
		(void)snprintf(path, size, "%s/%s", l->folder, l->spec->runtime->file);
		dw_plan_bind(&l->plan, real, path, DW_PLAN_EXACT);
	} else {
		(void)snprintf(path, size, "%s", real);
		dw_plan_allow(&l->plan, real, 0);
	}
	return 0;
}

void dw_command_plan_code(struct dw_plan_builder *plan, const struct dw_spec *spec,
                          const char *path)
{
	const struct dw_runtime *rt = spec->runtime;
	struct dw_bytes code = spec->req->code;

	if (spec->req->command)
		code = (struct dw_bytes){spec->req->command, strlen(spec->req->command)};
	dw_plan_file_led(plan, path, rt->executable ? 0755 : 0644,
	                 dw_runtime_opening(rt, code.data, code.len), code.data,
	                 code.len);
}

int dw_command_plan_files(struct dw_plan_builder *plan, const struct dw_spec *spec,
                          const char *folder, struct dw_error *err)
{
	const struct dw_request *req = spec->req;
	const struct dw_runtime *rt = spec->runtime;
	char path[2048];

	for (size_t i = 0; i < req->n_files; i++) {
		if (strcmp(req->files[i].name, rt->file) == 0)
			return dw_fail(err, DW_E_INVALID, 0,
			               "the file name %s is taken by the code itself",
			               rt->file);
		(void)snprintf(path, sizeof(path), "%s/%s", folder, req->files[i].name);
		dw_plan_file(plan, path, 0644, req->files[i].content.data,
		             req->files[i].content.len);
	}
	return 0;
}

void dw_command_join(const char *const *names, struct dw_buf *ret)
{
	for (size_t i = 0; names[i]; i++)
		(void)dw_buf_printf(ret, "%s%s", i > 0 ? "," : "", names[i]);
	(void)dw_buf_add(ret, "", 1);
}

void dw_command_plan_hook(struct dw_plan_builder *plan, const struct dw_spec *spec,
                          const char *folder, char *ret, size_t size)
{
	const char *file = NULL, *text;
	autobuf struct dw_buf names;
	size_t len = 0;

	*ret = '\0';
	dw_buf_init(&names, 1U << 20);
	if (!spec->req->allowed_modules)
		return;
	text = dw_runtime_hook(spec->runtime, &file, &len);
	dw_command_join(spec->req->allowed_modules, &names);
	if (!text || names.failed) {
		plan->blob.failed = true; /* and with it the plan */
		return;
	}
	(void)snprintf(ret, size, "%s/.dewar/%s", folder, file);
	dw_plan_file(plan, ret, 0644, text, len);
	dw_plan_add_env(plan, DW_RUNTIME_MODULES, names.data);
}

int dw_command_plan(struct dw_launched *l, const char *library, struct dw_error *err)
{
	char path[2048], hook[256];

	if (dw_command_plan_files(&l->plan, l->spec, l->folder, err) < 0)
		return -1;
	if (l->spec->req->program) {
		if (plan_program(l, path, sizeof(path), err) < 0)
			return -1;
	} else {
		(void)snprintf(path, sizeof(path), "%s/%s", l->folder,
		               l->spec->runtime->file);
		dw_command_plan_code(&l->plan, l->spec, path);
	}
	plan_env(l, library);
	dw_command_plan_hook(&l->plan, l->spec, l->folder, hook, sizeof(hook));
	return plan_argv(l, path, hook, err);
}

int dw_command_plan_way(struct dw_launched *l, struct dw_error *err)
{
	const struct dw_way *way = l->spec->way;
	char path[2048];

	if (way->kind == DW_WAY_ENTERED) {
		dw_plan_add_arg(&l->plan, ""); /* nobody is started */
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(way->files) && way->files[i].path; i++)
		dw_plan_file(&l->plan, way->files[i].path, 0444, way->files[i].data.data,
		             way->files[i].data.len);
	plan_env(l, NULL);
	if (way->env)
		plan_variables(l, way->env);
	(void)snprintf(path, sizeof(path), "%s/%s", l->folder, l->spec->runtime->file);
	return plan_command(l, way->command, path, "", err);
}
