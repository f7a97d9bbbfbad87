/* SPDX-License-Identifier: Apache-2.0 */
#include "run/request_check.h"

#include <ctype.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "dewar/result.h"
#include "languages/runtime.h"
#include "levels/level.h"
#include "request/limits.h"
#include "run/run_own.h"

static bool is_env_name(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	while (isalnum((unsigned char)*name) || *name == '_')
		name++;
	return *name == '\0';
}

/* The id becomes part of the names of folders and cgroups. */
static bool is_id(const char *id)
{
	return strlen(id) == DW_ID_MAX - 1 &&
	       strspn(id, "0123456789abcdef") == DW_ID_MAX - 1;
}

static int check_files(const struct dw_request *req, struct dw_error *err)
{
	uint64_t bytes = 0;

	if (req->n_files > DW_FILES_MAX)
		return dw_fail(err, DW_E_INVALID, 0,
		               "%zu files are too many; the limit is %u", req->n_files,
		               DW_FILES_MAX);
	for (size_t i = 0; i < req->n_files; i++) {
		const char *name = req->files[i].name;

		if (!dw_path_is_plain(name))
			return dw_fail(err, DW_E_INVALID, 0,
			               "the file name \"%s\" is not a plain name below /tmp",
			               name);
		for (size_t j = 0; j < i; j++)
			if (strcmp(name, req->files[j].name) == 0)
				return dw_fail(err, DW_E_INVALID, 0,
				               "the file %s is given twice", name);
		bytes += req->files[i].content.len;
	}
	if (bytes > DW_FILES_BYTES_MAX)
		return dw_fail(err, DW_E_INVALID, 0,
		               "the files are larger than %u MB together",
		               DW_FILES_BYTES_MAX >> 20);
	return 0;
}

/* Returns true for a plain file name: the cell's PATH decides which file it is. */
static bool is_command(const char *name)
{
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return false;
	for (const char *p = name; *p != '\0'; p++)
		if (*p == '/' || iscntrl((unsigned char)*p))
			return false;
	return *name != '\0' && strlen(name) <= DW_ALLOWED_NAME_MAX;
}

/* "json", "os.path", "node:fs", "@scope/package", "lodash/fp"; a comma ends a name. */
static bool is_module(const char *name)
{
	const char last = *name == '\0' ? '.' : name[strlen(name) - 1];

	for (const char *p = name; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && !strchr("_.-:@/", *p) &&
		    (unsigned char)*p < 0x80)
			return false;
	return *name != '.' && *name != '/' && last != '.' && last != '/' &&
	       !strstr(name, "..") && strlen(name) <= DW_ALLOWED_NAME_MAX;
}

static int check_allowed(const char *key, const char *const *list, size_t most,
                         bool (*is_name)(const char *name), const char *what,
                         struct dw_error *err)
{
	for (size_t i = 0; list && list[i]; i++) {
		if (i == most)
			return dw_fail(err, DW_E_INVALID, 0,
			               "%s must have at most %zu names", key, most);
		if (!is_name(list[i]))
			return dw_fail(err, DW_E_INVALID, 0,
			               "%s: \"%.64s\" is not the name of a %s", key,
			               list[i], what);
	}
	return 0;
}

/* No code of the request may run before the hook that enforces its list of modules. */
static int check_before_the_hook(const struct dw_request *req, struct dw_error *err)
{
	for (size_t i = 0; req->allowed_modules && i < req->n_files; i++)
		if (strncmp(req->files[i].name, ".dewar/", 7) == 0)
			return dw_fail(
				err, DW_E_INVALID, 0,
				"cannot create the file \"%.64s\": the folder .dewar is "
				"reserved with allowed_modules; use another folder",
				req->files[i].name);
	for (size_t i = 0; req->allowed_modules && i < req->n_env; i++)
		if (strcmp(req->env[i].name, "NODE_OPTIONS") == 0 ||
		    strncmp(req->env[i].name, "LD_", 3) == 0)
			return dw_fail(err, DW_E_INVALID, 0,
			               "cannot set the variable %.64s with allowed_modules: it "
			               "can run code before the list takes effect",
			               req->env[i].name);
	return 0;
}

int dw_request_check(const struct dw_request *req, struct dw_error *err)
{
	if (req->id && !is_id(req->id))
		return dw_fail(err, DW_E_INVALID, 0,
		               "the id of a run must be %d hex digits", DW_ID_MAX - 1);
	if ((req->command != NULL) + (req->program != NULL) + (req->language != NULL) !=
	            1 ||
	    (req->language == NULL && req->code.data != NULL))
		return dw_fail(
			err, DW_E_INVALID, 0,
			"a request must have a language and code, or a command, or a program");
	if (req->code.len > DW_CODE_MAX)
		return dw_fail(err, DW_E_INVALID, 0, "the code is larger than %u MB",
		               DW_CODE_MAX >> 20);
	if ((unsigned)req->network >= DW_NETWORK_COUNT)
		return dw_fail(err, DW_E_INVALID, 0, "network must be none or full");
	if (req->n_args > DW_ARGS_MAX || req->n_env > DW_ARGS_MAX)
		return dw_fail(err, DW_E_INVALID, 0,
		               "too many arguments or environment variables; at most %u",
		               DW_ARGS_MAX);
	for (size_t i = 0; i < req->n_env; i++)
		if (!is_env_name(req->env[i].name))
			return dw_fail(
				err, DW_E_INVALID, 0,
				"\"%s\" is not a valid name of an environment variable",
				req->env[i].name);
	for (size_t i = 0; i < req->n_collect; i++)
		if (dw_collect_check(req->collect[i], err) < 0)
			return -1;
	if (check_files(req, err) < 0)
		return -1;
	if (check_allowed("allowed_commands", req->allowed_commands, DW_COMMANDS_MAX,
	                  is_command, "program", err) < 0 ||
	    check_allowed("allowed_modules", req->allowed_modules, DW_MODULES_MAX,
	                  is_module, "module", err) < 0 ||
	    check_before_the_hook(req, err) < 0)
		return -1;
	return dw_limits_check(&req->limits, err);
}

void dw_request_limits(const struct dw_request *req, struct dw_limits *ret)
{
	*ret = req->limits;
	dw_limits_defaults(ret, dw_level_first(req->level));
}

bool dw_request_enforces_modules(const struct dw_request *req)
{
	const struct dw_runtime *rt = req->language ? dw_runtime_find(req->language)
	                                            : NULL;

	return rt && rt->hooked[0] && !req->program && !req->command;
}

bool dw_request_may_have(const struct dw_request *req, uint32_t guarantees)
{
	const char *p = req->level ? req->level : DW_LEVEL_DEFAULT;
	const struct dw_level *level;

	for (; *p; p += strcspn(p, ","), p += *p == ',') {
		level = dw_level_find(p, strcspn(p, ","));
		if (level && (level->guarantees & guarantees) == guarantees)
			return true;
	}
	return false;
}
