/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "cgroup/cgroup.h"
#include "levels/launched.h"
#include "request/limits.h"

/* No program does useful work in less CPU time. */
#define CPU_MS_MIN 1000U
#define INIT_GRACE_MS 500U
#define YIELDING_PERCENT 20U /* of a core: the largest share of a run that yields */

void dw_limits_defaults(struct dw_limits *limits, const struct dw_level *level)
{
	struct dw_limits normal = dw_limits_normal();

	if (level->timeout_ms != 0)
		normal.timeout_ms = level->timeout_ms;
	dw_limits_fill(limits, &normal);
}

static const char *cgroup_name(int version)
{
	return version == 2 ? "cgroup2" : "cgroup1";
}

static bool by_cgroup(const struct dw_launched *l, enum dw_controller controller,
                      uint64_t asked, struct dw_limit_proof *ret)
{
	const struct dw_controlled *c = &l->cgroup.controllers[controller];

	if (c->version == 0)
		return false;
	*ret = (struct dw_limit_proof){
		.asked = asked,
		.kernel = c->kernel,
		.enforced = true,
		.by = cgroup_name(c->version),
	};
	return true;
}

static void plan_memory(struct dw_launched *l, struct dw_limit_proof *ret)
{
	uint64_t bytes = l->spec->limits.memory_bytes;

	if (by_cgroup(l, DW_CONTROLLER_MEMORY, bytes, ret))
		return;
	l->plan.h.flags |= DW_PLAN_SAMPLE_MEMORY;
	l->plan.h.memory = bytes;
	*ret = (struct dw_limit_proof){
		.asked = bytes,
		.enforced = true,
		.by = "sampling",
		.note = "no memory cgroup is available: init adds up the cell's memory "
			"every few milliseconds, so a burst can exceed the limit before "
			"the cell is killed, and kernel memory (page tables, sockets, "
			"pipes and their contents) is not counted",
	};
}

/*
 * Without a cgroup the share cannot be enforced, but the total CPU time that the share
 * would allow until the deadline can.
 */
static void plan_cpu(struct dw_launched *l, struct dw_limit_proof *ret)
{
	const struct dw_limits *limits = &l->spec->limits;
	uint64_t ms = limits->timeout_ms * limits->cpu_percent / 100;

	if (by_cgroup(l, DW_CONTROLLER_CPU, limits->cpu_percent, ret))
		return;
	l->plan.h.flags |= DW_PLAN_SAMPLE_CPU;
	l->plan.h.cpu_ms = ms < CPU_MS_MIN ? CPU_MS_MIN : ms;
	*ret = (struct dw_limit_proof){
		.asked = limits->cpu_percent,
		.enforced = false,
		.by = "sampling",
		.note = "no cpu cgroup is available: only the total CPU time until the "
			"deadline is limited, not the share at each moment",
	};
}

/* Count the threads of our own user on the whole host, as RLIMIT_NPROC does. */
static uint64_t count_own_threads(void)
{
	autodir DIR *proc = opendir("/proc");
	uint64_t n = 0;
	struct dirent *d;
	struct stat st;
	char path[300];

	while (proc && (d = readdir(proc)) != NULL) {
		if (d->d_name[0] < '1' || d->d_name[0] > '9')
			continue;
		(void)snprintf(path, sizeof(path), "%s/task", d->d_name);
		if (fstatat(dirfd(proc), path, &st, 0) == 0 && st.st_uid == getuid())
			n += st.st_nlink - 2;
	}
	return n;
}

static bool is_counted(const struct dw_cgroup *cg)
{
	return cg->controllers[DW_CONTROLLER_MEMORY].version != 0 &&
	       cg->controllers[DW_CONTROLLER_PIDS].version != 0;
}

/*
 * The holder (runners/hold.S) shares the program's memory, so a sum over all processes
 * would count that memory twice. A cgroup counts it once.
 */
bool dw_limits_may_hold(const struct dw_launched *l)
{
	return (l->plan.h.flags & (DW_PLAN_ENTERED | DW_PLAN_JOB)) &&
	       is_counted(&l->cgroup);
}

bool dw_limits_can_count(void)
{
	struct dw_limits normal = dw_limits_normal();
	char id[DW_ID_MAX];
	struct dw_cgroup cg;
	bool counted;

	if (dw_id_make(id, NULL) < 0)
		return false;
	dw_cgroup_scope_settle();
	dw_cgroup_create(&cg, id, NULL, &normal, normal.pids);
	counted = is_counted(&cg);
	(void)dw_cgroup_destroy(&cg, NULL);
	return counted;
}

static void plan_pids(struct dw_launched *l, struct dw_limit_proof *ret)
{
	bool own = (l->cell.level->guarantees & DW_G_NAMESPACES) != 0;
	uint64_t pids = l->spec->limits.pids;

	if (by_cgroup(l, DW_CONTROLLER_PIDS, pids, ret)) {
		ret->kernel--; /* init is one of them */
		if (dw_limits_may_hold(l))
			ret->note = "the count includes one process of Dewar, the holder";
		return;
	}
	l->plan.h.flags |= DW_PLAN_SAMPLE_PIDS;
	l->plan.h.pids = pids;
	*ret = (struct dw_limit_proof){
		.asked = pids,
		.enforced = true,
		.by = "rlimit",
		.note = "no pids cgroup is available: the rlimit permits one process "
			"more, so that init sees it and kills the cell",
	};

	/*
	 * The kernel does not report that an rlimit refused a fork. So init counts the
	 * processes, and the rlimit permits one more than requested.
	 */
	if (own) {
		/* The kernel counts the id in this user namespace: the cell and init. */
		dw_plan_add_rlimit(&l->plan, RLIMIT_NPROC, pids + 2);
	} else if (getuid() != 0) {
		/* The launcher counts, too: add it if it has not been started yet. */
		dw_plan_add_rlimit(&l->plan, RLIMIT_NPROC,
		                   count_own_threads() + (l->launcher > 0 ? 0 : 1) +
		                           pids + 1);
		ret->note = "no pids cgroup is available: the rlimit counts all "
			    "processes of this user";
	} else {
		ret->by = "sampling";
		ret->note =
			"no pids cgroup is available, and the rlimit does not apply to "
			"root: init counts the processes every few milliseconds";
	}
}

static void plan_tmp(struct dw_launched *l, struct dw_limit_proof *ret)
{
	uint64_t bytes = l->spec->limits.tmp_bytes;

	*ret = (struct dw_limit_proof){.asked = bytes, .enforced = true, .by = "tmpfs"};
	if (l->cell.level->guarantees & DW_G_TMP_SIZE)
		return;
	dw_plan_add_rlimit(&l->plan, RLIMIT_FSIZE, bytes);
	ret->enforced = false;
	ret->by = "rlimit";
	ret->note = "the limit applies to each file, not to all files together";
}

/* Only a cgroup can enforce the disk rate; without one the run is refused. */
static int plan_io(const struct dw_launched *l, struct dw_limit_proof *ret,
                   struct dw_error *err)
{
	const struct dw_request *req = l->spec->req;
	const char *const folders[] = {req->image ? req->image : "/usr", l->workdir,
	                               req->workspace, req->program};
	struct dw_disks disks;
	char kind[32];

	if (!by_cgroup(l, DW_CONTROLLER_IO, l->spec->limits.io_bytes, ret))
		return dw_fail(
			err, DW_E_UNSUPPORTED, 0,
			"cannot enforce io_mbps: %s; it requires cgroup v2 with the io "
			"controller (available in a system unit with Delegate=yes, not "
			"in a user's own units)",
			l->cgroup.controllers[DW_CONTROLLER_IO].why);
	(void)dw_disks_find(&disks);
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (folders[i] && folders[i][0] != '\0' &&
		    !dw_disks_hold(&disks, folders[i], kind, sizeof(kind)))
			return dw_fail(err, DW_E_UNSUPPORTED, 0,
			               "cannot enforce io_mbps: the disk of %s is not "
			               "known (file system %s)",
			               folders[i], kind);
	return 0;
}

uint64_t dw_limits_deadline(const struct dw_limits *limits)
{
	return limits->timeout_ms + INIT_GRACE_MS;
}

/* Mark a limit as enforced; every host enforces it. */
static void hold(struct dw_limit_proof *limit, const char *by)
{
	limit->enforced = true;
	limit->by = by;
	limit->note = NULL;
}

int dw_limits_plan(struct dw_launched *l, struct dw_error *err)
{
	const struct dw_limits *limits = &l->spec->limits;
	struct dw_limit_proof *proof = l->cell.outcome.limits;
	const struct dw_role *role = l->spec->role;
	bool walled = (l->plan.h.flags & DW_PLAN_DROP) != 0;

	for (size_t i = 0; i < DW_LIMIT_COUNT; i++)
		proof[i] = (struct dw_limit_proof){
			.asked = dw_limit_get(limits, i),
			.by = "none",
			.note = walled ? "this level does not enforce it"
		                       : "level none enforces only the timeout and the "
		                         "output limit",
		};
	hold(&proof[DW_LIMIT_TIMEOUT], "dewar");
	hold(&proof[DW_LIMIT_OUTPUT], "dewar");

	/*
	 * Init's deadline is a moment after our own, in case we are delayed. A warm cell
	 * gets its deadline when its program starts.
	 */
	if (!l->spec->role)
		l->plan.h.deadline_ms = dw_limits_deadline(limits);

	if (!walled)
		return 0;

	hold(&proof[DW_LIMIT_FILES], "rlimit");
	dw_cgroup_scope_settle();
	dw_cgroup_create(&l->cgroup, l->spec->id, role ? role->beside : NULL, limits,
	                 limits->pids + 1);
	/*
	 * A zygote gets no rlimits: it runs no untrusted code, and its children could not
	 * raise a limit again.
	 */
	if (role && role->kind == DW_ROLE_ZYGOTE)
		return 0;
	if (limits->io_bytes != 0 && plan_io(l, &proof[DW_LIMIT_IO], err) < 0)
		return -1;
	plan_memory(l, &proof[DW_LIMIT_MEMORY]);
	plan_cpu(l, &proof[DW_LIMIT_CPU]);
	plan_pids(l, &proof[DW_LIMIT_PIDS]);
	plan_tmp(l, &proof[DW_LIMIT_TMP]);
	dw_plan_add_rlimit(&l->plan, RLIMIT_NOFILE, limits->files);
	/*
	 * With 0 the kernel writes no core file, but still starts the host's crash
	 * handler, as root, if core_pattern names one. With 1 it does neither.
	 */
	dw_plan_add_rlimit(&l->plan, RLIMIT_CORE, 1);
	/* The caller may have a right to priorities that no CPU share limits. */
	dw_plan_add_rlimit(&l->plan, RLIMIT_RTPRIO, 0);
	dw_plan_add_rlimit(&l->plan, RLIMIT_NICE, 0);
	return 0;
}

void dw_limits_adopt(struct dw_launched *l)
{
	struct dw_limit_proof *proof = l->cell.outcome.limits;

	proof[DW_LIMIT_TIMEOUT].asked = l->spec->limits.timeout_ms;
	proof[DW_LIMIT_OUTPUT].asked = l->spec->limits.output_bytes;
}

void dw_limits_begin(struct dw_launched *l)
{
	struct dw_limit_proof *cpu = &l->cell.outcome.limits[DW_LIMIT_CPU];
	uint64_t percent = l->spec->limits.cpu_percent;

	if (l->spec->req->yields &&
	    l->cgroup.controllers[DW_CONTROLLER_CPU].version != 0) {
		cpu->kernel = dw_cgroup_yield(&l->cgroup, percent < YIELDING_PERCENT
		                                                  ? percent
		                                                  : YIELDING_PERCENT);
		cpu->note = "less than requested: the run yields to runs of other keys";
	}
	dw_cgroup_arm(&l->cgroup);
}

void dw_limits_read_back(struct dw_launched *l)
{
	const struct dw_walls *walls = &l->cell.outcome.walls;
	struct dw_limit_proof *proof = l->cell.outcome.limits;

	if (!walls->known)
		return;
	if (proof[DW_LIMIT_FILES].enforced) {
		proof[DW_LIMIT_FILES].kernel = walls->rlimit_files;
		if (walls->rlimit_files < proof[DW_LIMIT_FILES].asked)
			proof[DW_LIMIT_FILES].note =
				"lowered to the hard limit of this host (ulimit -Hn)";
	}
	if (proof[DW_LIMIT_PIDS].kernel == 0 && proof[DW_LIMIT_PIDS].enforced &&
	    walls->rlimit_pids != RLIM_INFINITY)
		proof[DW_LIMIT_PIDS].kernel = walls->rlimit_pids - 1;
	if (l->cell.level->guarantees & DW_G_TMP_SIZE)
		proof[DW_LIMIT_TMP].kernel = walls->tmp_bytes;
	else if (walls->rlimit_file_size != RLIM_INFINITY)
		proof[DW_LIMIT_TMP].kernel = walls->rlimit_file_size;
}
