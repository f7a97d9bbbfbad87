/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "levels/allowed_commands.h"
#include "levels/command.h"
#include "levels/host_paths.h"
#include "levels/launched.h"
#include "levels/limits.h"
#include "levels/pasta.h"

/*
 * Level container, the default: own namespaces of every kind, a read-only root
 * of its own with the host's /usr or an image in it, private /tmp, /dev and
 * /proc, no capability, seccomp, Landlock, cgroups, no network. It needs root or
 * user namespaces, and nothing installed or pulled.
 */

/* The one user there is inside. */
#define INSIDE_ID 1000U

/*
 * Outside, a cell of root's runs under an id that nobody else has: from the
 * range above the one that systemd gives to its containers, drawn for each
 * cell, so that two cells do not have one id either.
 */
#define OUTSIDE_FIRST 0x70000000U
#define OUTSIDE_MASK 0x00ffffffU

static int draw_id(uint32_t *ret_id, struct dw_error *err)
{
	uint32_t n;

	/* Without random bytes every cell would get the same id. */
	if (getrandom(&n, sizeof(n), 0) != (ssize_t)sizeof(n))
		return dw_fail(err, DW_E_INTERNAL, errno, "draw a user id for the cell");
	*ret_id = OUTSIDE_FIRST + (n & OUTSIDE_MASK);
	return 0;
}

/*
 * Root of the host, and not only of a user namespace or of a container that kept
 * the id and lost the rights: who is not, goes the way of a plain user.
 */
static bool is_root(void)
{
	const uint32_t need = 1U << CAP_SETGID | 1U << CAP_SETUID | 1U << CAP_SYS_ADMIN;
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct have[_LINUX_CAPABILITY_U32S_3] = {0};
	char map[128];
	char *end = map;

	/* In the host's own user namespace every id is itself: "0 0 4294967295". */
	return geteuid() == 0 && syscall(SYS_capget, &header, have) == 0 &&
	       (have[0].effective & need) == need &&
	       dw_fd_read_attr(AT_FDCWD, "/proc/self/uid_map", map, sizeof(map)) > 0 &&
	       strtoul(end, &end, 10) == 0 && strtoul(end, &end, 10) == 0 &&
	       strtoul(end, &end, 10) == UINT32_MAX;
}

static const char passwd[] = "root:x:0:0:root:/:/usr/sbin/nologin\n"
			     "user:x:1000:1000:user:/tmp:/bin/sh\n"
			     "nobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n";
static const char group[] = "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n";
static const char hosts[] = "127.0.0.1 localhost dewar\n::1 localhost\n";
static const char nsswitch[] = "passwd: files\ngroup: files\nhosts: files dns\n";

static void make_etc(struct dw_plan_builder *plan)
{
	dw_plan_dir(plan, "/etc", 0755);
	dw_plan_dir(plan, "/etc/ssl", 0755);
	dw_plan_file(plan, "/etc/passwd", 0444, passwd, sizeof(passwd) - 1);
	dw_plan_file(plan, "/etc/group", 0444, group, sizeof(group) - 1);
	dw_plan_file(plan, "/etc/hosts", 0444, hosts, sizeof(hosts) - 1);
	dw_plan_file(plan, "/etc/nsswitch.conf", 0444, nsswitch, sizeof(nsswitch) - 1);
}

/* Folders, links and a few lines of /etc: nothing that grows. */
#define SKELETON_BYTES (1U << 20)
#define SKELETON_INODES 1024U
#define SHM_INODES 1024U

static void make_dev(struct dw_plan_builder *plan, uint64_t shm_bytes)
{
	static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full",
	                                      "/dev/random", "/dev/urandom"};

	dw_plan_dir(plan, "/dev", 0755);
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		dw_plan_bind(plan, devices[i], devices[i], DW_PLAN_DEVICE);
	dw_plan_symlink(plan, "/proc/self/fd", "/dev/fd");
	dw_plan_symlink(plan, "/proc/self/fd/0", "/dev/stdin");
	dw_plan_symlink(plan, "/proc/self/fd/1", "/dev/stdout");
	dw_plan_symlink(plan, "/proc/self/fd/2", "/dev/stderr");

	/* A writable part of the root's own tmpfs: it costs no file system more. */
	plan->h.root_bytes = SKELETON_BYTES + shm_bytes;
	plan->h.root_inodes = SKELETON_INODES + SHM_INODES;
	dw_plan_dir(plan, "/dev/shm", 01777);
	dw_plan_bind(plan, "/dev/shm", "/dev/shm", DW_PLAN_INSIDE | DW_PLAN_WRITABLE);
}

static void allow_in_cell(struct dw_plan_builder *plan)
{
	static const char *const writable[] = {"/tmp",         "/dev/shm",  "/dev/null",
	                                       "/dev/zero",    "/dev/full", "/dev/random",
	                                       "/dev/urandom", "/proc"};

	dw_plan_allow(plan, "/", 0);
	dw_plan_allow(plan, "/usr", 0); /* the same, but nearer: a look ends here */
	for (size_t i = 0; i < ARRAY_SIZE(writable); i++)
		dw_plan_allow(plan, writable[i], DW_PLAN_WRITABLE);
}

/* The folders on the way to a place that no mount of ours has. */
static void make_way(struct dw_plan_builder *plan, const char *path)
{
	char part[4096];

	for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		(void)snprintf(part, sizeof(part), "%.*s", (int)(p - path), path);
		if (strcmp(part, "/tmp") != 0 && strcmp(part, "/work") != 0)
			dw_plan_dir(plan, part, 0755);
	}
}

static void bind_share(struct dw_plan_builder *plan, const char *host, const char *cell,
                       bool writable)
{
	uint32_t flags = DW_PLAN_OWNER | DW_PLAN_EXACT |
	                 (writable ? DW_PLAN_WRITABLE : 0);

	if (strncmp(cell, "/work/", 6) != 0)
		make_way(plan, cell);
	dw_plan_bind(plan, host, cell, flags);
	if (writable)
		dw_plan_allow(plan, cell, DW_PLAN_WRITABLE);
}

#define RESOLVER "/run/resolv.conf"

/* Where names are looked up, if there is a network to look them up in. */
static int make_resolver(struct dw_plan_builder *plan, const struct dw_request *req,
                         struct dw_error *err)
{
	static const char text[] = "nameserver " DW_PASTA_DNS "\n";

	if (req->network != DW_NETWORK_FULL)
		return 0;
	plan->h.flags |= DW_PLAN_WAIT_NETWORK;
	dw_plan_file(plan, req->image ? RESOLVER : "/etc/resolv.conf", 0444, text,
	             sizeof(text) - 1);
	if (req->image) /* its /etc is its own, and read-only: ours goes on top */
		dw_plan_bind(plan, RESOLVER, "/etc/resolv.conf",
		             DW_PLAN_INSIDE | DW_PLAN_OPTIONAL);
	return dw_pasta_probe(err);
}

int dw_container_draw_ids(uint32_t *ret_first, struct dw_error *err)
{
	uint32_t id = 0;

	if (is_root() && draw_id(&id, err) < 0)
		return -1;
	*ret_first = id & ~(DW_WAY_IDS - 1);
	return 0;
}

/*
 * Who the cell is, outside. A zygote of root's has a range of ids, so that each
 * cell inside has one of its own there as well. It has no Landlock, and only such
 * filters as it loads itself (runners/walls.c): both hold for its children, too, on
 * top of theirs. What it runs is the interpreter and nobody's code.
 */
static int plan_identity(struct dw_launched *l, struct dw_error *err)
{
	const struct dw_way *way = l->spec->way;
	struct dw_plan_header *h = &l->plan.h;
	uint32_t nursery = 0;

	h->flags = DW_PLAN_NAMESPACES | DW_PLAN_DROP | DW_PLAN_LANDLOCK | DW_PLAN_SECCOMP;
	h->inside_id = INSIDE_ID;
	/* Whose zygote has ids to give was found out when it was made. */
	if (way && way->kind == DW_WAY_ENTERED ? way->first_id != 0 : is_root()) {
		h->flags |= DW_PLAN_OPEN_EARLY;
		if (way && way->first_id)
			h->become = way->first_id + way->index;
		else if (draw_id(&h->become, err) < 0)
			return -1;
	}
	if (way && way->nursery > 0 && way->kind == DW_WAY_ZYGOTE)
		nursery = DW_PLAN_NURSERY;
	switch (way ? way->kind : 0) {
	case DW_WAY_ZYGOTE:
		h->flags = DW_PLAN_NAMESPACES | DW_PLAN_DROP | DW_PLAN_ZYGOTE |
		           (h->flags & DW_PLAN_OPEN_EARLY) |
		           (h->become ? DW_PLAN_RANGE : 0) | nursery;
		h->map_count = DW_WAY_IDS;
		break;
	case DW_WAY_ENTERED:
		h->flags |= DW_PLAN_NESTED | DW_PLAN_ENTERED;
		/* mutant: one-id-per-cell */
		h->map_to = INSIDE_ID + way->index;
		break;
	case DW_WAY_LETTER:
		h->flags |= DW_PLAN_JOB;
		break;
	default:
		break;
	}
	return 0;
}

static int fill(struct dw_launched *l, struct dw_error *err)
{
	const struct dw_limits *limits = &l->spec->limits;
	const struct dw_request *req = l->spec->req;
	struct dw_plan_builder *plan = &l->plan;

	if (plan_identity(l, err) < 0)
		return -1;
	if (l->spec->way && l->spec->way->kind == DW_WAY_ENTERED &&
	    l->spec->way->nursery > 0) {
		plan->h.flags |= DW_PLAN_SEND_TMP;
		return 0; /* its tree is the zygote's */
	}
	plan->h.hostname = dw_plan_add_text(plan, "dewar");
	plan->h.cwd = dw_plan_add_text(plan, req->workspace ? "/work" : "/tmp");
	/* A cell that waits does not know yet whether anybody will collect from it. */
	if (req->n_collect > 0 || (plan->h.flags & (DW_PLAN_ENTERED | DW_PLAN_JOB)))
		plan->h.flags |= DW_PLAN_SEND_TMP;
	(void)snprintf(l->folder, sizeof(l->folder), "/tmp");

	if (req->image) {
		if (dw_host_paths_image(plan, req->image, err) < 0)
			return -1;
	} else {
		make_etc(plan);
		dw_host_paths_host(plan, dw_host_paths_bind);
	}
	dw_plan_proc(plan, "/proc");
	make_dev(plan, limits->tmp_bytes);
	dw_plan_tmpfs(plan, "/tmp", 01777, limits->tmp_bytes,
	              (uint32_t)(limits->tmp_bytes / DW_TMP_INODE_BYTES) + 1);
	allow_in_cell(plan);
	if (dw_host_paths_shares(plan, req, bind_share, err) < 0)
		return -1;
	if (make_resolver(plan, req, err) < 0)
		return -1;

	dw_plan_add_env(plan, "PATH", DW_RUNTIME_PATH);
	dw_plan_add_env(plan, "HOME", "/tmp");
	dw_plan_add_env(plan, "TMPDIR", "/tmp");
	dw_plan_add_env(plan, "LANG", "C.UTF-8");
	dw_plan_add_env(plan, "USER", "user");
	if (l->spec->way)
		return dw_command_plan_way(l, err);
	if (dw_command_plan(l, req->workspace ? "/work" : NULL, err) < 0)
		return -1;
	return req->allowed_commands ? dw_allowed_plan(l, err) : 0;
}

int dw_container_base(const struct dw_spec *spec, struct dw_error *err)
{
	return dw_launched_plan(&dw_level_container, spec, fill, err);
}

static int create(const struct dw_spec *spec, struct dw_cell **ret_cell,
                  struct dw_error *err)
{
	return dw_launched_create(&dw_level_container, spec, fill, ret_cell, err);
}

static int probe(struct dw_error *err)
{
	return dw_launched_probe(&dw_level_container, err);
}

const struct dw_level dw_level_container = {
	.name = "container",
	.guarantees = DW_G_NAMESPACES | DW_G_NO_NETWORK | DW_G_IMAGE | DW_G_TMP_SIZE |
                      DW_G_COMMANDS | DW_G_IO | DW_G_WALLS | DW_G_ISOLATED,
	.timeout_ms = 30000,
	.probe = probe,
	.create = create,
	.start = dw_launched_start,
	.on_event = dw_launched_on_event,
	.kill = dw_launched_kill,
	.measure = dw_launched_measure,
	.destroy = dw_launched_destroy,
};
