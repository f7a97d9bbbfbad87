/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "levels/launched.h"

/*
 * Level none: only a timeout and an output limit. The program runs as the caller,
 * in the caller's folder and environment. For local development, and to show that an
 * attack works without walls.
 */

static int fill(struct dw_launched *l, struct dw_error *err)
{
	const struct dw_request *req = l->spec->req;
	char name[256];

	if (dw_launched_make_workdir(l, err) < 0)
		return -1;
	for (char **e = environ; *e; e++) {
		const char *value = strchr(*e, '=');
		size_t len = value ? (size_t)(value - *e) : 0;

		if (len == 0 || len >= sizeof(name))
			continue;
		memcpy(name, *e, len);
		name[len] = '\0';
		dw_plan_add_env(&l->plan, name, value + 1);
	}
	if (req->workspace)
		l->plan.h.cwd = dw_plan_add_text(&l->plan, req->workspace);
	return dw_command_plan(l, req->workspace, err);
}

DW_LAUNCHED_LEVEL(dw_level_none)

const struct dw_level dw_level_none = {
	.name = "none",
	.guarantees = 0,
	.summary = "only a timeout and an output limit",
	.timeout_ms = 30000,
	DW_LAUNCHED_FUNCTIONS,
};
