/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "docker/docker_own.h"

/* A limit above the one that we asked for does not count as enforced. */
static void drop_loose(const struct dw_docker_order *o, struct dw_docker_enforced *limits)
{
	for (int i = 0; i < DW_DOCKER_LIMIT_COUNT; i++) {
		uint64_t most = o->asked[i] + (i == DW_DOCKER_PIDS); /* plus the guest */

		if (limits[i].version != 0 && limits[i].kernel > most)
			limits[i].version = 0;
	}
}

int dw_docker_check_strict(const struct dw_docker_made *made, struct dw_error *err)
{
	static const char *const names[] = {"memory", "cpu", "pids"};
	_Static_assert(ARRAY_SIZE(names) == DW_DOCKER_LIMIT_COUNT, "a name for each");

	for (int i = 0; i < DW_DOCKER_LIMIT_COUNT; i++)
		if (made->enforced[i].version == 0 || made->enforced[i].swap)
			return dw_fail(err, DW_E_UNSUPPORTED, 0,
			               "the kernel does not enforce the %s limit for this "
			               "engine's containers, which --strict requires",
			               names[i]);
	return 0;
}

/* An engine may be configured to share the host's namespaces: refuse to run there. */
static int check_namespaces(struct dw_guest_link *link, struct dw_error *err)
{
	static const enum dw_ns must[] = {DW_NS_MOUNT, DW_NS_PID, DW_NS_NET, DW_NS_IPC,
	                                  DW_NS_UTS};
	static const char *const names[] = {"mount", "pid", "network", "ipc", "uts"};
	uint64_t ours[DW_NS_COUNT] = {0};

	_Static_assert(ARRAY_SIZE(must) == ARRAY_SIZE(names), "a name for each");
	dw_container_namespaces(link->pid, link->hello.ns);
	dw_container_namespaces(getpid(), ours);
	for (size_t i = 0; i < ARRAY_SIZE(must); i++)
		if (ours[must[i]] != 0 && link->hello.ns[must[i]] == ours[must[i]])
			return dw_fail(err, DW_E_UNSUPPORTED, 0,
			               "the engine gave the container no %s namespace of "
			               "its own",
			               names[i]);
	return 0;
}

int dw_docker_check(const struct dw_engine *e, const struct dw_docker_order *o,
                    const char *id, struct dw_guest_link *link,
                    struct dw_docker_made *made, struct dw_error *err)
{
	struct dw_inspected is;

	if (dw_container_inspect(e, id, &is, err) < 0)
		return -1;
	if (!is.running)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the container ended unexpectedly");
	/* A volume is a folder on the engine's disk, where none of our limits applies. */
	if (is.volume[0] != '\0')
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the image %s declares a volume at %s, which would be "
		               "writable without a limit",
		               o->image, is.volume);
	if (o->runtime && strcmp(is.runtime, o->runtime) != 0)
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "the runtime %s was requested, but %s used \"%s\"",
		               o->runtime, e->name, is.runtime);
	(void)snprintf(made->image, sizeof(made->image), "%s",
	               is.image[0] != '\0' ? is.image : o->image);
	(void)snprintf(made->runtime, sizeof(made->runtime), "%s", is.runtime);
	link->pid = is.pid;
	/* mutant: docker-compare-namespaces */
	if (check_namespaces(link, err) < 0)
		return -1;
	dw_container_cgroup_find_pid(&link->cgroup, is.pid, id);
	dw_container_cgroup_limits(&link->cgroup, made->enforced);
	drop_loose(o, made->enforced);
	return o->strict ? dw_docker_check_strict(made, err) : 0;
}
