/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages 5 to 7: from new namespaces to a finished cell, in the cell's first process.
 *
 * That process is cloned either by outer (main.c), and still sees the host's tree, or by
 * the nursery (zygote_cells.c), and sees a copy of the zygote's tree. struct dw_builder
 * says which; the order is the same:
 *
 *	5  take the ids, which the parent has mapped, or map them
 *	2  if the nursery cloned it: join the cgroups (otherwise outer has joined them),
 *	   and only then create the cgroup namespace, whose root is the cgroup that the
 *	   process is in
 *	6  host name, loopback
 *	7  build the root and move in, or renew the copy's writable parts
 *	6  network, if the plan asks for it: the helper finds us through a /proc, and
 *	   needs us alive
 *
 * Then the process sends dewar the descriptors that the plan asks for.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "launch/launch_own.h"

int dw_build_join_cgroups(const int *cgroups, int n, struct dw_error *err)
{
	int r;

	for (int i = 0; i < n; i++) {
		/* A thread that writes 0 into a cgroup's list moves itself. */
		/* mutant: cgroup-join */
		r = dw_fd_write_all(cgroups[i], "0", 1);
		if (r < 0)
			return dw_fail(err, DW_E_INTERNAL, -r,
			               "cannot join the cell's cgroup");
		(void)close(cgroups[i]);
	}
	return 0;
}

/* Stage 5. */
static int map_ids(const struct dw_builder *b, struct dw_error *err)
{
	uint32_t id = b->plan->h->inside_id;
	char byte;

	if (b->gate >= 0 && read(b->gate, &byte, 1) != 1)
		_exit(125); /* the parent could not map our ids, and has reported it */
	if (b->gate >= 0)
		(void)close(b->gate);
	return b->is_mapped ? dw_ids_take(id, err) : dw_ids_map(id, b->uid, b->gid, err);
}

/* Stage 2 of a cell that the nursery creates. */
static int join_late(const struct dw_builder *b, struct dw_error *err)
{
	if (dw_build_join_cgroups(b->cgroups, b->n_cgroups, err) < 0)
		return -1;
	if (unshare(CLONE_NEWCGROUP) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot create a cgroup namespace");
	return 0;
}

/* Stage 6, first half. */
static int name_and_connect(const struct dw_plan *plan, struct dw_error *err)
{
	const char *hostname = dw_plan_text(plan, plan->h->hostname);

	/* A new namespace begins with a copy of its parent's host and domain names. */
	/* mutant: host-name */
	if (sethostname(hostname, strlen(hostname)) < 0 ||
	    setdomainname("(none)", strlen("(none)")) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot set the cell's host name");
	/* mutant: loopback */
	if (dw_net_loopback_up(err) < 0)
		return -1;
	if (plan->h->flags & DW_PLAN_WAIT_NETWORK)
		dw_net_disable_dad();
	return 0;
}

/* Stage 7. */
static int build_tree(const struct dw_builder *b, struct dw_error *err)
{
	const struct dw_plan *plan = b->plan;

	dw_launch_stage = DW_STAGE_MOUNTS;
	if (b->is_copy)
		/* mutant: nursery-mounts */
		return dw_mounts_renew(plan, err);
	/* A plain user opens the caller's trees here; root did so in stage 3. */
	dw_launch_stage = DW_STAGE_SOURCES;
	if (!(plan->h->flags & DW_PLAN_OPEN_EARLY) &&
	    dw_sources_open(plan, b->sources, err) < 0)
		return -1;
	dw_launch_stage = DW_STAGE_MOUNTS;
	return dw_mounts_build(plan, b->sources, err);
}

/* Stage 6, second half: pasta connects the network namespace, and needs us alive. */
static int wait_for_network(struct dw_error *err)
{
	const struct dw_report ready = {.kind = DW_REPORT_NETWORK};
	char go;
	int r = dw_report_send(DW_LAUNCH_FD, &ready, -1);

	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "cannot request a network");
	if (read(DW_LAUNCH_FD, &go, 1) != 1 || go != 'g')
		_exit(125); /* dewar has cancelled the cell */
	return dw_net_keep_loopback_inside(err);
}

static int send_open(enum dw_report_kind kind, const char *path, int flags,
                     struct dw_error *err)
{
	const struct dw_report report = {.kind = kind};
	int fd = open(path, O_RDONLY | O_CLOEXEC | flags), r;

	if (fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot open %s in the cell",
		               path);
	r = dw_report_send(DW_LAUNCH_FD, &report, fd);
	(void)close(fd);
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r, "cannot hand over %s", path);
	return 0;
}

static int send_asked(const struct dw_plan *plan, struct dw_error *err)
{
	if ((plan->h->flags & DW_PLAN_ZYGOTE) &&
	    (send_open(DW_REPORT_USERNS, "/proc/self/ns/user", 0, err) < 0 ||
	     send_open(DW_REPORT_PIDNS, "/proc/self/ns/pid", 0, err) < 0))
		return -1;
	if ((plan->h->flags & DW_PLAN_SEND_TMP) &&
	    send_open(DW_REPORT_TMP, "/tmp", O_DIRECTORY | O_NOFOLLOW, err) < 0)
		return -1;
	return 0;
}

int dw_build_cell(const struct dw_builder *b, struct dw_error *err)
{
	dw_launch_stage = DW_STAGE_INSIDE;
	if (map_ids(b, err) < 0 || (b->is_copy && join_late(b, err) < 0) ||
	    name_and_connect(b->plan, err) < 0 || build_tree(b, err) < 0)
		return -1;
	dw_launch_stage = DW_STAGE_OTHER;
	if ((b->plan->h->flags & DW_PLAN_WAIT_NETWORK) && wait_for_network(err) < 0)
		return -1;
	return send_asked(b->plan, err);
}
