/* SPDX-License-Identifier: Apache-2.0 */
#include "base/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
