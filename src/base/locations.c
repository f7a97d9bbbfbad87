/* SPDX-License-Identifier: Apache-2.0 */
#include "base/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/account.h"
#include "base/cleanup.h"

int dw_state_of_user(char ret[DW_STATE_PATH_MAX], struct dw_error *err)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	struct dw_account account = {0};
	int n;

	if (state && state[0] == '/') {
		n = snprintf(ret, DW_STATE_PATH_MAX, "%s/dewar", state);
	} else {
		if (!home || home[0] != '/')
			home = dw_account_find(getuid(), &account) == 0 ? account.home
			                                                : NULL;
		if (!home || home[0] != '/')
			return dw_fail(err, DW_E_INVALID, 0,
			               "cannot find the state folder; set HOME or "
			               "XDG_STATE_HOME");
		n = snprintf(ret, DW_STATE_PATH_MAX, "%s/.local/state/dewar", home);
	}
	if (n >= DW_STATE_PATH_MAX)
		return dw_fail(err, DW_E_INVALID, ENAMETOOLONG,
		               "the path of the state folder is too long");
	return 0;
}

int dw_state_of_daemon(char ret[DW_STATE_PATH_MAX], struct dw_error *err)
{
	if (geteuid() != 0)
		return dw_state_of_user(ret, err);
	(void)snprintf(ret, DW_STATE_PATH_MAX, "/var/lib/dewar");
	return 0;
}

int dw_state_make_folders(const char *path, mode_t mode)
{
	autofree char *copy = strdup(path);
	char *slash;

	if (!copy)
		return -ENOMEM;
	for (slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, mode) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

int dw_program_find(const char *name, const char *variable, char *ret, size_t size,
                    struct dw_error *err)
{
	const char *named = variable ? secure_getenv(variable) : NULL;
	ssize_t n;
	char *slash;

	if (named) {
		(void)snprintf(ret, size, "%s", named);
		return 0;
	}
	n = readlink("/proc/self/exe", ret, size - 1);
	if (n > 0) {
		ret[n] = '\0';
		slash = strrchr(ret, '/') + 1;
		(void)snprintf(slash, size - (size_t)(slash - ret), "%s", name);
		if (access(ret, X_OK) == 0)
			return 0;
	}
	(void)snprintf(ret, size, "%s/%s", DW_LIBEXECDIR, name);
	if (access(ret, X_OK) == 0)
		return 0;
	if (variable)
		return dw_fail(err, DW_E_INTERNAL, 0,
		               "cannot find %s beside this program or in %s; install it, or "
		               "set %s",
		               name, DW_LIBEXECDIR, variable);
	return dw_fail(err, DW_E_INTERNAL, 0,
	               "cannot find %s beside this program or in %s; install it", name,
	               DW_LIBEXECDIR);
}
