/* SPDX-License-Identifier: Apache-2.0 */
#include "levels/docker_cell.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "levels/launched.h"

#define FOLDER "/tmp"
/* No program does useful work in less CPU time. */
#define CPU_MS_MIN 1000U

/* ---- engines ---- */

static json_t *sockets_of_host(const char *host, struct dw_error *err)
{
	if (strncmp(host, "unix://", 7) == 0 && host[7] == '/')
		return json_pack("[s]", host + 7);
	(void)dw_fail(err, DW_E_UNSUPPORTED, 0,
	              "DOCKER_HOST is %.100s, and only an engine of this host can show its "
	              "files to a container; try: DOCKER_HOST=unix:///var/run/docker.sock",
	              host);
	return NULL;
}

json_t *dw_docker_sockets(struct dw_error *err)
{
	const char *host = getenv("DOCKER_HOST");
	const char *runtime_dir = getenv("XDG_RUNTIME_DIR");
	json_t *list;
	char path[256];

	if (host && *host != '\0')
		return sockets_of_host(host, err);
	list = json_pack("[s, s]", "/var/run/docker.sock", "/run/podman/podman.sock");
	if (runtime_dir && runtime_dir[0] == '/') {
		(void)snprintf(path, sizeof(path), "%s/podman/podman.sock", runtime_dir);
		(void)json_array_append_new(list, json_string(path));
	}
	return list;
}

/* ---- the program ---- */

static int plan_files(const struct dw_spec *spec, struct dw_plan_builder *plan,
                      const char *file, struct dw_error *err)
{
	if (dw_command_plan_files(plan, spec, FOLDER, err) < 0)
		return -1;
	if (!spec->req->program)
		dw_command_plan_code(plan, spec, file);
	return 0;
}

static void allow_share(struct dw_plan_builder *plan, const char *host, const char *cell,
                        bool writable)
{
	(void)host;
	if (writable)
		dw_plan_allow(plan, cell, DW_PLAN_WRITABLE);
}

/* Add the walls of level container, except for the mounts, which the engine made. */
static int plan_walls(const struct dw_spec *spec, struct dw_plan_builder *plan,
                      struct dw_error *err)
{
	/* mutant: docker-inner-walls */
	plan->h.flags = DW_PLAN_DROP | DW_PLAN_LANDLOCK | DW_PLAN_SECCOMP;
	dw_host_paths_allow_root(plan);
	if (dw_host_paths_shares(plan, spec->req, allow_share, err) < 0)
		return -1;
	/* dw_limits_plan() explains the limits on core files and priorities. */
	dw_plan_add_rlimit(plan, RLIMIT_NOFILE, spec->limits.files);
	dw_plan_add_rlimit(plan, RLIMIT_CORE, 1);
	dw_plan_add_rlimit(plan, RLIMIT_RTPRIO, 0);
	dw_plan_add_rlimit(plan, RLIMIT_NICE, 0);
	return 0;
}

int dw_docker_plan(const struct dw_spec *spec, struct dw_plan_builder *plan,
                   struct dw_error *err)
{
	const struct dw_request *req = spec->req;
	char file[256] = DW_DOCKER_PROGRAM, hook[256];

	if (!req->program)
		(void)snprintf(file, sizeof(file), FOLDER "/%s", spec->runtime->file);
	memset(&plan->h.cpus, 0xff, sizeof(plan->h.cpus));
	plan->h.cwd = dw_plan_add_text(plan, req->workspace ? "/work" : FOLDER);
	plan->h.deadline_ms = dw_limits_deadline(&spec->limits);
	if (plan_walls(spec, plan, err) < 0 || plan_files(spec, plan, file, err) < 0)
		return -1;
	/* Not PATH: an image sets its own, to find its interpreters. */
	dw_plan_add_env(plan, "HOME", FOLDER);
	dw_plan_add_env(plan, "TMPDIR", FOLDER);
	dw_plan_add_env(plan, "LANG", "C.UTF-8");
	dw_plan_add_env(plan, "USER", "nobody");
	dw_command_plan_env(plan, spec, FOLDER, req->workspace ? "/work" : NULL);
	dw_command_plan_hook(plan, spec, FOLDER, hook, sizeof(hook));
	dw_command_plan_argv(plan, spec, FOLDER, file, hook);
	return 0;
}

/* ---- the order ---- */

static json_t *make_needs(const struct dw_runtime *rt)
{
	json_t *list = json_array();

	for (size_t i = 0; rt->needs[i]; i++)
		(void)json_array_append_new(list, json_string(rt->needs[i]));
	return list;
}

static json_t *make_patterns(const struct dw_request *req)
{
	json_t *list = json_array();

	for (size_t i = 0; i < req->n_collect; i++) {
		const char *pattern = req->collect[i];

		if (strncmp(pattern, FOLDER "/", 5) == 0)
			pattern += 5;
		(void)json_array_append_new(list, json_string(pattern));
	}
	return list;
}

/* Shortly before the run's deadline, so that dewar-docker can report the slow step. */
static json_int_t deadline(const struct dw_spec *spec)
{
	uint64_t margin = spec->limits.timeout_ms / 10;

	margin = margin < 50 ? 50 : margin > 1000 ? 1000 : margin;
	return (json_int_t)(spec->deadline_ms - margin);
}

json_t *dw_docker_order(const struct dw_spec *spec, const char *image, const char *guest,
                        const char *folder, uint64_t wait_ms, struct dw_error *err)
{
	static const char *const pulls[] = {[DW_PULL_MISSING] = "missing",
	                                    [DW_PULL_NEVER] = "never",
	                                    [DW_PULL_ALWAYS] = "always"};
	const struct dw_limits *limits = &spec->limits;
	const struct dw_request *req = spec->req;
	uint64_t cpu_ms = limits->timeout_ms * limits->cpu_percent / 100;
	json_auto_t *sockets = dw_docker_sockets(err);
	json_auto_t *body = sockets ? dw_docker_body(spec, image, guest, err) : NULL;
	json_t *order;

	_Static_assert(ARRAY_SIZE(pulls) == DW_PULL_COUNT, "a word for each");
	if (!body)
		return NULL;
	order = json_pack(
		"{s:O, s:O, s:s, s:s, s:s, s:s?, s:s?, s:I, s:I, s:I, s:I, s:I, s:I, s:b,"
		" s:b, s:o, s:o, s:I}",
		"sockets", sockets, "body", body, "id", spec->id, "image", image, "pull",
		pulls[req->pull], "runtime", req->runtime, "folder", folder,
		"deadline_ms", deadline(spec), "memory", (json_int_t)limits->memory_bytes,
		"cpu", (json_int_t)limits->cpu_percent, "pids", (json_int_t)limits->pids,
		"tmp", (json_int_t)limits->tmp_bytes, "cpu_ms",
		(json_int_t)(cpu_ms < CPU_MS_MIN ? CPU_MS_MIN : cpu_ms), "strict",
		(int)req->strict, "no_network", req->network == DW_NETWORK_NONE, "needs",
		make_needs(spec->runtime), "collect", make_patterns(req), "wait_ms",
		(json_int_t)wait_ms);
	if (!order)
		(void)dw_fail(err, DW_E_INVALID, 0,
		              "the image, the runtime and the patterns must be valid UTF-8");
	return order;
}
