/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "levels/command.h"
#include "levels/launched.h"

/*
 * Level none: a timeout and an output cap, nothing else. The program runs as
 * the caller, in the caller's folder and environment. For local development,
 * and for showing that an attack works where no wall is.
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

static int create(const struct dw_spec *spec, struct dw_cell **ret_cell,
                  struct dw_error *err)
{
	return dw_launched_create(&dw_level_none, spec, fill, ret_cell, err);
}

static int probe(struct dw_error *err)
{
	return dw_launched_probe(&dw_level_none, err);
}

const struct dw_level dw_level_none = {
	.name = "none",
	.guarantees = 0,
	.timeout_ms = 30000,
	.probe = probe,
	.create = create,
	.start = dw_launched_start,
	.on_event = dw_launched_on_event,
	.kill = dw_launched_kill,
	.measure = dw_launched_measure,
	.destroy = dw_launched_destroy,
};
