/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "levels/launched.h"

/* "%f" is the code file, "%d" its folder, "%h" the hook; any other word is literal. */
static const char *expand(const char *word, const char *folder, const char *file,
                          const char *hook)
{
	if (strcmp(word, "%h") == 0)
		return hook;
	if (strcmp(word, "%f") == 0)
		return file;
	return strcmp(word, "%d") == 0 ? folder : word;
}

/* Look the command up at the path that it will have in the cell. */
static int plan_command(struct dw_launched *l, const char *const *command,
                        const char *file, const char *hook, struct dw_error *err)
{
	const struct dw_request *req = l->spec->req;
	const char *search = dw_level_search_path(l->cell.level);
	autoclose int root = -1;
	char path[2048];

	root = open(req->image ? req->image : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return dw_fail(err, DW_E_NOT_FOUND, errno,
		               "cannot open the root file system %s",
		               req->image ? req->image : "/");
	if (dw_runtime_locate(root, search, command[0], path, sizeof(path)) < 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "%s is not installed; it comes with %s", command[0],
		               l->spec->runtime->package);
	dw_plan_add_arg(&l->plan, path);
	for (size_t i = 1; command[i]; i++)
		dw_plan_add_arg(&l->plan, expand(command[i], l->folder, file, hook));
	return 0;
}

/* The request's arguments follow a command that plan_command() has added. */
static void plan_args(struct dw_plan_builder *plan, const struct dw_request *req)
{
	for (size_t i = 0; i < req->n_args; i++)
		dw_plan_add_arg(plan, req->args[i]);
}

static int plan_argv(struct dw_launched *l, const char *file, const char *hook,
                     struct dw_error *err)
{
	const struct dw_runtime *rt = l->spec->runtime;

	if (rt->executable)
		dw_plan_add_arg(&l->plan, file);
	else if (plan_command(l, *hook ? rt->hooked : rt->command, file, hook, err) < 0)
		return -1;
	plan_args(&l->plan, l->spec->req);
	return 0;
}

void dw_command_plan_argv(struct dw_plan_builder *plan, const struct dw_spec *spec,
                          const char *folder, const char *file, const char *hook)
{
	const struct dw_runtime *rt = spec->runtime;
	const char *const *command = *hook ? rt->hooked : rt->command;

	if (rt->executable)
		dw_plan_add_arg(plan, file);
	for (size_t i = 0; !rt->executable && command[i]; i++)
		dw_plan_add_arg(plan, expand(command[i], folder, file, hook));
	plan_args(plan, spec->req);
}

static void plan_variables(struct dw_plan_builder *plan, const char *folder,
                           const char *const *all)
{
	char name[64];

	for (size_t i = 0; all[i]; i++) {
		const char *value = strchr(all[i], '=');

		(void)snprintf(name, sizeof(name), "%.*s", (int)(value - all[i]), all[i]);
		dw_plan_add_env(plan, name, expand(value + 1, folder, "", ""));
	}
}

/* Later variables win, so that a request can override the language's. */
void dw_command_plan_env(struct dw_plan_builder *plan, const struct dw_spec *spec,
                         const char *folder, const char *library)
{
	const struct dw_request *req = spec->req;
	const struct dw_runtime *rt = spec->runtime;

	/* mutant: clean-environment */
	plan_variables(plan, folder, rt->env);
	if (rt->library_env && library)
		dw_plan_add_env(plan, rt->library_env, library);
	for (size_t i = 0; i < req->n_env; i++)
		dw_plan_add_env(plan, req->env[i].name, req->env[i].value);
}

char *dw_command_program(const struct dw_request *req, struct dw_error *err)
{
	autofree char *real = realpath(req->program, NULL);
	struct stat st;

	if (!real || stat(real, &st) < 0) {
		(void)dw_fail(err, DW_E_INVALID, errno, "cannot open the program %s",
		              req->program);
		return NULL;
	}
	if (!S_ISREG(st.st_mode) || (st.st_mode & 0005) != 0005) {
		(void)dw_fail(err, DW_E_INVALID, 0,
		              "the program %s must be a file that every user may read and "
		              "execute; try: chmod o+rx %s",
		              req->program, req->program);
		return NULL;
	}
	return TAKE_PTR(real);
}

/* Mount or allow the host's program, without a copy; path is its path in the cell. */
static int plan_program(struct dw_launched *l, char *path, size_t size,
                        struct dw_error *err)
{
	autofree char *real = dw_command_program(l->spec->req, err);

	if (!real)
		return -1;
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
			               "the file name %s is reserved for the code",
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
		plan->blob.failed = true; /* sealing the plan fails, too */
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
	dw_command_plan_env(&l->plan, l->spec, l->folder, library);
	dw_command_plan_hook(&l->plan, l->spec, l->folder, hook, sizeof(hook));
	return plan_argv(l, path, hook, err);
}

int dw_command_plan_role(struct dw_launched *l, struct dw_error *err)
{
	const struct dw_role *role = l->spec->role;
	char path[2048];

	if (role->kind == DW_ROLE_ENTERED) {
		dw_plan_add_arg(&l->plan, ""); /* no program is started */
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(role->files) && role->files[i].path; i++)
		dw_plan_file(&l->plan, role->files[i].path, 0444,
		             role->files[i].data.data, role->files[i].data.len);
	dw_command_plan_env(&l->plan, l->spec, l->folder, NULL);
	if (role->env)
		plan_variables(&l->plan, l->folder, role->env);
	(void)snprintf(path, sizeof(path), "%s/%s", l->folder, l->spec->runtime->file);
	return plan_command(l, role->command, path, "", err);
}
