/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <unistd.h>

#include "levels/allowed_commands.h"
#include "levels/command.h"
#include "levels/host_paths.h"
#include "levels/launched.h"

/*
 * Level process: the host's own tree and network, in a session of its own, with
 * limits, no_new_privs, no capabilities, a clean environment and a fresh folder
 * to work in; a seccomp filter and, where the kernel has it, Landlock, which
 * shows the host's programs, the workspace and the fresh folder, and no more.
 * For code that is trusted, and CI.
 */

static void allow(struct dw_plan_builder *plan, const char *path)
{
	dw_plan_allow(plan, path, 0);
}

static void allow_share(struct dw_plan_builder *plan, const char *host, const char *cell,
                        bool writable)
{
	(void)cell;
	dw_plan_allow(plan, host, DW_PLAN_EXACT | (writable ? DW_PLAN_WRITABLE : 0));
}

/* Devices that hold nothing. The host's /dev/shm would keep what is left there. */
static void allow_devices(struct dw_plan_builder *plan)
{
	static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full",
	                                      "/dev/random", "/dev/urandom"};

	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++)
		dw_plan_allow(plan, devices[i], DW_PLAN_WRITABLE);
}

static int fill(struct dw_launched *l, struct dw_error *err)
{
	const struct dw_request *req = l->spec->req;
	struct dw_plan_builder *plan = &l->plan;
	const char *cwd;

	if (req->workspace) {
		l->shared = realpath(req->workspace, NULL);
		if (!l->shared)
			return dw_fail(err, DW_E_INVALID, 0, "open the workspace %s",
			               req->workspace);
	}
	if (dw_launched_make_workdir(l, err) < 0)
		return -1;
	cwd = l->shared ? l->shared : l->folder;
	plan->h.flags = DW_PLAN_DROP | DW_PLAN_LANDLOCK | DW_PLAN_SECCOMP;
	plan->h.cwd = dw_plan_add_text(plan, cwd);

	dw_host_paths_host(plan, req->allowed_commands ? dw_allowed_show : allow);
	allow(plan, "/proc");
	allow_devices(plan);
	if (dw_host_paths_shares(plan, req, allow_share, err) < 0)
		return -1;
	dw_plan_allow(plan, l->workdir, DW_PLAN_WRITABLE);

	dw_plan_add_env(plan, "PATH", DW_RUNTIME_PATH);
	dw_plan_add_env(plan, "HOME", l->folder);
	dw_plan_add_env(plan, "TMPDIR", l->folder);
	dw_plan_add_env(plan, "LANG", "C.UTF-8");
	if (dw_command_plan(l, l->shared, err) < 0)
		return -1;
	return req->allowed_commands ? dw_allowed_plan(l, err) : 0;
}

static int create(const struct dw_spec *spec, struct dw_cell **ret_cell,
                  struct dw_error *err)
{
	return dw_launched_create(&dw_level_process, spec, fill, ret_cell, err);
}

static int probe(struct dw_error *err)
{
	return dw_launched_probe(&dw_level_process, err);
}

const struct dw_level dw_level_process = {
	.name = "process",
	.guarantees = DW_G_COMMANDS | DW_G_IO | DW_G_WALLS,
	.timeout_ms = 10000,
	.probe = probe,
	.create = create,
	.start = dw_launched_start,
	.on_event = dw_launched_on_event,
	.kill = dw_launched_kill,
	.measure = dw_launched_measure,
	.destroy = dw_launched_destroy,
};
