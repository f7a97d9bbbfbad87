/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "levels/launched.h"

/*
 * Level process: the program sees the host's tree and network. It has its own session,
 * limits, no_new_privs, no capabilities, a clean environment and a fresh working folder;
 * a seccomp filter and, if the kernel supports it, Landlock, which allows the host's
 * programs, the workspace and the working folder. For trusted code, and CI.
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

/* Allow devices that store nothing. Files in the host's /dev/shm would remain there. */
static void allow_devices(struct dw_plan_builder *plan)
{
	static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full",
	                                      "/dev/random", "/dev/urandom"};

	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
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
			return dw_fail(err, DW_E_INVALID, 0,
			               "cannot open the workspace %s", req->workspace);
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

DW_LAUNCHED_LEVEL(dw_level_process)

const struct dw_level dw_level_process = {
	.name = "process",
	.guarantees = DW_G_COMMANDS | DW_G_IO | DW_G_WALLS,
	.summary = "limits, seccomp, no privileges; the host's network",
	.timeout_ms = 10000,
	DW_LAUNCHED_FUNCTIONS,
};
