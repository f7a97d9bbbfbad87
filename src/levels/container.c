/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "base/id.h"
#include "levels/launched.h"

/*
 * Level container, the default: its own namespaces of every kind, its own read-only root
 * with the host's /usr or an image in it, private /tmp, /dev and /proc, no
 * capabilities, seccomp, Landlock, cgroups, no network. It needs root or user
 * namespaces; nothing has to be installed or pulled.
 */

/* The id of the only user in the cell. */
#define INSIDE_ID 1000U

/*
 * On the host, a cell that root starts has an id of its own, drawn at random from the
 * range above systemd's container ids, so that it shares no id with any user, service or
 * cell.
 */
#define OUTSIDE_FIRST 0x70000000U
#define OUTSIDE_MASK 0x00ffffffU

static int draw_id(uint32_t *ret_id, struct dw_error *err)
{
	uint32_t n;
	int r = dw_random(&n, sizeof(n));

	/* Without random bytes every cell would get the same id. */
	if (r < 0)
		return dw_fail(err, DW_E_INTERNAL, -r,
		               "cannot choose a user id for the cell");
	*ret_id = OUTSIDE_FIRST + (n & OUTSIDE_MASK);
	return 0;
}

/*
 * Returns true if we are root of the host. Root of a user namespace, or of a container
 * without these capabilities, is treated as a plain user.
 */
static bool is_root(void)
{
	const uint32_t need = 1U << CAP_SETGID | 1U << CAP_SETUID | 1U << CAP_SYS_ADMIN;
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct have[_LINUX_CAPABILITY_U32S_3] = {0};
	char map[128];
	char *end = map;

	/* The host's own user namespace maps each id to itself: "0 0 4294967295". */
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

/* The root's tmpfs holds folders, links and a few small files of /etc. None can grow. */
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

	/* /dev/shm is a writable part of the root's tmpfs, to save a file system. */
	plan->h.root_bytes = SKELETON_BYTES + shm_bytes;
	plan->h.root_inodes = SKELETON_INODES + SHM_INODES;
	dw_plan_dir(plan, "/dev/shm", 01777);
	dw_plan_bind(plan, "/dev/shm", "/dev/shm", DW_PLAN_INSIDE | DW_PLAN_WRITABLE);
}

/* Make the parent folders of a path outside the workspace. */
static void make_parents(struct dw_plan_builder *plan, const char *path)
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
		make_parents(plan, cell);
	dw_plan_bind(plan, host, cell, flags);
	if (writable)
		dw_plan_allow(plan, cell, DW_PLAN_WRITABLE);
}

#define RESOLVER "/run/resolv.conf"

/* With a network, DNS queries go to pasta. */
static int make_resolver(struct dw_plan_builder *plan, const struct dw_request *req,
                         struct dw_error *err)
{
	static const char text[] = "nameserver " DW_PASTA_DNS "\n";

	if (req->network != DW_NETWORK_FULL)
		return 0;
	plan->h.flags |= DW_PLAN_WAIT_NETWORK;
	dw_plan_file(plan, req->image ? RESOLVER : "/etc/resolv.conf", 0444, text,
	             sizeof(text) - 1);
	if (req->image) /* the image's /etc is read-only: mount our file over its own */
		dw_plan_bind(plan, RESOLVER, "/etc/resolv.conf",
		             DW_PLAN_INSIDE | DW_PLAN_OPTIONAL);
	return dw_pasta_probe(err);
}

int dw_container_draw_ids(uint32_t *ret_first, struct dw_error *err)
{
	uint32_t id = 0;

	if (is_root() && draw_id(&id, err) < 0)
		return -1;
	*ret_first = id & ~(DW_ZYGOTE_IDS - 1);
	return 0;
}

/*
 * The cell's ids and walls. A zygote that root starts has a range of ids, so that each of
 * its cells has its own. It has no Landlock, and only the seccomp filters that it loads
 * itself (runners/walls.c), because its children inherit both in addition to their own. A
 * zygote never runs untrusted code.
 */
static int plan_identity(struct dw_launched *l, struct dw_error *err)
{
	const struct dw_role *role = l->spec->role;
	struct dw_plan_header *h = &l->plan.h;
	uint32_t nursery = 0;

	h->flags = DW_PLAN_NAMESPACES | DW_PLAN_DROP | DW_PLAN_LANDLOCK | DW_PLAN_SECCOMP;
	h->inside_id = INSIDE_ID;
	/* For an ENTERED cell this was decided when its zygote was created. */
	if (role && role->kind == DW_ROLE_ENTERED ? role->first_id != 0 : is_root()) {
		h->flags |= DW_PLAN_OPEN_EARLY;
		if (role && role->first_id)
			h->become = role->first_id + role->index;
		else if (draw_id(&h->become, err) < 0)
			return -1;
	}
	if (role && role->nursery > 0 && role->kind == DW_ROLE_ZYGOTE)
		nursery = DW_PLAN_NURSERY;
	switch (role ? role->kind : 0) {
	case DW_ROLE_ZYGOTE:
		h->flags = DW_PLAN_NAMESPACES | DW_PLAN_DROP | DW_PLAN_ZYGOTE |
		           (h->flags & DW_PLAN_OPEN_EARLY) |
		           (h->become ? DW_PLAN_RANGE : 0) | nursery;
		h->map_count = DW_ZYGOTE_IDS;
		break;
	case DW_ROLE_ENTERED:
		h->flags |= DW_PLAN_NESTED | DW_PLAN_ENTERED;
		/* mutant: one-id-per-cell */
		h->map_to = INSIDE_ID + role->index;
		break;
	case DW_ROLE_STANDBY:
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
	if (l->spec->role && l->spec->role->kind == DW_ROLE_ENTERED &&
	    l->spec->role->nursery > 0) {
		plan->h.flags |= DW_PLAN_SEND_TMP;
		return 0; /* the cell's tree is a copy of the zygote's */
	}
	plan->h.hostname = dw_plan_add_text(plan, "dewar");
	plan->h.cwd = dw_plan_add_text(plan, req->workspace ? "/work" : "/tmp");
	/* For a warm cell it is not known yet whether files will be collected. */
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
	/* Landlock walks up from a file to the nearest rule: one for /usr saves steps. */
	dw_plan_allow(plan, "/usr", 0);
	dw_host_paths_allow_root(plan);
	if (dw_host_paths_shares(plan, req, bind_share, err) < 0)
		return -1;
	if (make_resolver(plan, req, err) < 0)
		return -1;

	dw_plan_add_env(plan, "PATH", DW_RUNTIME_PATH);
	dw_plan_add_env(plan, "HOME", "/tmp");
	dw_plan_add_env(plan, "TMPDIR", "/tmp");
	dw_plan_add_env(plan, "LANG", "C.UTF-8");
	dw_plan_add_env(plan, "USER", "user");
	if (l->spec->role)
		return dw_command_plan_role(l, err);
	if (dw_command_plan(l, req->workspace ? "/work" : NULL, err) < 0)
		return -1;
	return req->allowed_commands ? dw_allowed_plan(l, err) : 0;
}

int dw_container_base(const struct dw_spec *spec, struct dw_error *err)
{
	return dw_launched_plan(&dw_level_container, spec, fill, err);
}

DW_LAUNCHED_LEVEL(dw_level_container)

const struct dw_level dw_level_container = {
	.name = "container",
	.guarantees = DW_G_NAMESPACES | DW_G_NO_NETWORK | DW_G_IMAGE | DW_G_TMP_SIZE |
                      DW_G_COMMANDS | DW_G_IO | DW_G_WALLS | DW_G_ISOLATED | DW_G_ROOT |
                      DW_G_WARM | DW_G_FORK,
	.summary = "own namespaces and root, seccomp, no capabilities, no network",
	.timeout_ms = 30000,
	DW_LAUNCHED_FUNCTIONS,
};
