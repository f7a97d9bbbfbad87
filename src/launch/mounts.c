/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages 3 and 7: the cell's own tree.
 *
 * Every mount is created detached, by descriptor, and attached afterwards: no host path is
 * looked up once the new tree exists, and the new tree is never looked up from the host.
 * The cell's root is a small tmpfs of our own; an image, or the host's /usr, is bound into
 * it piece by piece, so that an image cannot decide what /dev, /proc or /tmp are.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "init/init.h"
#include "launch/launch_own.h"

static struct mount_attr locked_attributes(uint32_t flags)
{
	struct mount_attr attr = {
		.attr_set = MOUNT_ATTR_NOSUID,
		.propagation = MS_PRIVATE,
	};

	/* mutant: read-only-binds */
	if (!(flags & DW_PLAN_WRITABLE))
		attr.attr_set |= MOUNT_ATTR_RDONLY;
	attr.attr_set |= flags & DW_PLAN_DEVICE ? MOUNT_ATTR_NOEXEC : MOUNT_ATTR_NODEV;
	if (flags & DW_PLAN_NOEXEC)
		attr.attr_set |= MOUNT_ATTR_NOEXEC;
	return attr;
}

/* A missing system call is a limit of the kernel, not an internal error. */
static enum dw_code code_of(int eno)
{
	return eno == ENOSYS ? DW_E_UNSUPPORTED : DW_E_INTERNAL;
}

/* Bind a device only if it is the device that its name says. */
static int check_device(int fd, const char *path, struct dw_error *err)
{
	static const struct {
		const char *path;
		unsigned minor;
	} known[] = {
		{"/dev/null", 3},   {"/dev/zero", 5},    {"/dev/full", 7},
		{"/dev/random", 8}, {"/dev/urandom", 9},
	};
	struct stat st;

	if (fstat(fd, &st) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot stat %s", path);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(path, known[i].path) == 0 && S_ISCHR(st.st_mode) &&
		    st.st_rdev == makedev(1, known[i].minor))
			return 0;
	return dw_fail(err, DW_E_UNSUPPORTED, 0, "%s is not the expected device", path);
}

#define CLONE_TREE (OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE)

static int open_source(const struct dw_plan *plan, const struct dw_plan_entry *e,
                       int *ret, struct dw_error *err)
{
	const char *path = dw_plan_text(plan, e->src);
	autoclose int fd = -1;
	autoclose int at = -1;
	struct mount_attr attr;

	if (e->flags & DW_PLAN_EXACT) {
		/* Dewar checked the path; a folder of it may have become a link since. */
		at = dw_open_exact(path);
		if (at >= 0)
			fd = open_tree(at, "", CLONE_TREE | AT_EMPTY_PATH);
	} else {
		fd = open_tree(AT_FDCWD, path, CLONE_TREE | AT_SYMLINK_NOFOLLOW);
	}
	if (fd < 0 && errno == ENOENT && (e->flags & DW_PLAN_OPTIONAL))
		return 0;
	if (fd < 0)
		return dw_fail(err, errno == ENOENT ? DW_E_NOT_FOUND : code_of(errno),
		               errno, "cannot open %s for the cell", path);

	if ((e->flags & DW_PLAN_DEVICE) && check_device(fd, path, err) < 0)
		return -1;
	if ((e->flags & DW_PLAN_OWNER) && (plan->h->flags & DW_PLAN_OPEN_EARLY) &&
	    dw_idmap(fd, plan->h->become, err) < 0)
		return dw_wrap(err, "cannot map the owner of %s for the cell", path);

	attr = locked_attributes(e->flags);
	if (mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr)) < 0)
		return dw_fail(
			err, DW_E_UNSUPPORTED, errno,
			"cannot lock %s against the cell (Linux 5.12 or newer is needed)",
			path);
	*ret = TAKE_FD(fd);
	return 0;
}

int dw_sources_open(const struct dw_plan *plan, struct dw_sources *ret,
                    struct dw_error *err)
{
	for (uint32_t i = 0; i < plan->h->n_entries; i++) {
		ret->fd[i] = -1;
		if (plan->entries[i].op == DW_PLAN_BIND &&
		    !(plan->entries[i].flags & DW_PLAN_INSIDE) &&
		    open_source(plan, &plan->entries[i], &ret->fd[i], err) < 0)
			return -1;
	}
	return 0;
}

/* A new file system of the given type, detached. options: name, value, ..., NULL */
static int new_mount(const char *type, const char *const *options, unsigned attributes,
                     struct dw_error *err)
{
	autoclose int fs = fsopen(type, FSOPEN_CLOEXEC);
	int fd;

	if (fs < 0)
		return dw_fail(
			err, DW_E_UNSUPPORTED, errno,
			"cannot make a %s for the cell (Linux 5.8 or newer is needed)",
			type);
	for (; *options; options += 2)
		if (fsconfig(fs, FSCONFIG_SET_STRING, options[0], options[1], 0) < 0)
			return dw_fail(err, DW_E_UNSUPPORTED, errno,
			               "cannot set %s=%s on a %s", options[0], options[1],
			               type);
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return dw_fail(err, code_of(errno), errno,
		               "cannot create a %s for the cell", type);
	fd = fsmount(fs, FSMOUNT_CLOEXEC, attributes);
	if (fd < 0)
		return dw_fail(err, code_of(errno), errno,
		               "cannot mount a %s in the cell", type);
	return fd;
}

static int new_tmpfs(const struct dw_plan_entry *e, struct dw_error *err)
{
	char size[32], inodes[32], mode[16];
	/* mutant: tmpfs-limits */
	const char *const options[] = {"size", size, "nr_inodes", inodes,
	                               "mode", mode, NULL};

	(void)snprintf(size, sizeof(size), "%llu", (unsigned long long)e->size);
	(void)snprintf(inodes, sizeof(inodes), "%u", e->inodes);
	(void)snprintf(mode, sizeof(mode), "%o", e->mode);
	return new_mount("tmpfs", options,
	                 MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
	                         (e->flags & DW_PLAN_NOEXEC ? MOUNT_ATTR_NOEXEC : 0),
	                 err);
}

/*
 * subset=pid: only the folders of the cell's own processes. No kernel log, keys, symbols,
 * interrupts, memory map or sysctl is there, so nothing has to be masked.
 */
static int new_proc(struct dw_error *err)
{
	/* mutant: proc-subset */
	static const char *const options[] = {"subset", "pid", NULL};

	return new_mount("proc", options,
	                 MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, err);
}

/* Our current folder is the new root: "/tmp" becomes "tmp". */
static const char *below(const char *dst)
{
	return *dst == '/' ? dst + 1 : dst;
}

/*
 * Make a mount point. In a tree that we bound it exists already, or cannot be made; in
 * the latter case open_place() fails.
 */
static void make_place(const char *dst, bool folder)
{
	int fd;

	if (folder) {
		(void)mkdir(below(dst), 0755);
		return;
	}
	fd = open(below(dst), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0444);
	if (fd >= 0)
		(void)close(fd);
}

/* The caller controls a workspace: a link in it must not redirect a mount. */
static int open_place(const char *dst)
{
	struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, AT_FDCWD, below(dst), &how, sizeof(how));
}

/* Bind one part of the cell's own tree over another. */
static int bind_inside(const char *src, const char *dst, uint32_t flags,
                       struct dw_error *err)
{
	struct mount_attr attr = locked_attributes(flags);
	autoclose int place = open_place(dst);
	autoclose int fd = -1;

	if (place < 0 && (flags & DW_PLAN_OPTIONAL))
		return 0;
	if (place < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot open %s in the cell",
		               dst);
	fd = open_tree(AT_FDCWD, below(src), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (fd < 0 || mount_setattr(fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0 ||
	    move_mount(fd, "", place, "",
	               MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return dw_fail(err, code_of(errno), errno,
		               "cannot put %s over %s in the cell", src, dst);
	return 0;
}

static int attach(int fd, const char *dst, struct dw_error *err)
{
	autoclose int place = -1;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot stat the source of the mount at %s", dst);
	make_place(dst, S_ISDIR(st.st_mode));
	place = open_place(dst);
	if (place < 0 ||
	    move_mount(fd, "", place, "",
	               MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return dw_fail(err, code_of(errno), errno, "cannot mount %s in the cell",
		               dst);
	return 0;
}

static int build_entry(const struct dw_plan *plan, const struct dw_plan_entry *e,
                       int source, int proc, struct dw_error *err)
{
	const char *dst = dw_plan_text(plan, e->dst);
	autoclose int fd = -1;

	switch (e->op) {
	case DW_PLAN_DIR:
	case DW_PLAN_SYMLINK:
	case DW_PLAN_FILE:
		return dw_files_make(plan, e, err);
	case DW_PLAN_BIND:
		if (e->flags & DW_PLAN_INSIDE)
			return bind_inside(dw_plan_text(plan, e->src), dst, e->flags,
			                   err);
		return source < 0 ? 0 : attach(source, dst, err);
	case DW_PLAN_PROC:
		return attach(proc, dst, err);
	case DW_PLAN_TMPFS:
		fd = new_tmpfs(e, err);
		return fd < 0 ? -1 : attach(fd, dst, err);
	default:
		return 0;
	}
}

/*
 * Stage 7, for a cell inside a zygote's: its mount namespace is a copy of the zygote's,
 * which has the tree of this plan. The kernel locks the copied mounts, since they belong
 * to another user namespace. So mount the cell's own file systems over everything that is
 * writable or shows processes.
 */
int dw_mounts_renew(const struct dw_plan *plan, struct dw_error *err)
{
	const struct dw_plan_entry own = {
		.mode = 01777,
		.size = plan->h->root_bytes,
		.inodes = plan->h->root_inodes,
	};

	for (uint32_t i = 0; i < plan->h->n_entries; i++) {
		const struct dw_plan_entry *e = &plan->entries[i];
		autoclose int fd = -1;

		/* mutant: nested-mounts */
		if (e->op == DW_PLAN_PROC)
			fd = new_proc(err);
		else if (e->op == DW_PLAN_TMPFS)
			fd = new_tmpfs(e, err);
		else if (e->op == DW_PLAN_BIND && (e->flags & DW_PLAN_WRITABLE))
			fd = new_tmpfs(&own, err);
		else
			continue;
		if (fd < 0 || attach(fd, dw_plan_text(plan, e->dst), err) < 0)
			return -1;
	}
	return 0;
}

/*
 * Stage 7: move into the new root.
 *
 * On entry:  own user, mount and pid namespaces; the host's tree is visible.
 * Does:      cuts propagation to the host, builds the plan's tree, pivots.
 * Leaves:    no path and no descriptor that reaches the host's tree; the root
 *            read-only.
 * Mustn't:   look up a path that the cell's owner can write, once it is built.
 */
int dw_mounts_build(const struct dw_plan *plan, const struct dw_sources *sources,
                    struct dw_error *err)
{
	const struct dw_plan_entry own = {
		.mode = 0755,
		.size = plan->h->root_bytes,
		.inodes = plan->h->root_inodes,
	};
	/* mutant: read-only-root */
	struct mount_attr locked = {
		.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
	};
	autoclose int root = -1;
	autoclose int proc = -1;
	autoclose int old = -1;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot make the mounts private");

	dw_launch_stage = DW_STAGE_PROC;
	/* mutant: own-proc */
	proc = new_proc(err);
	if (proc < 0)
		return -1;
	dw_launch_stage = DW_STAGE_MOUNTS;
	root = new_tmpfs(&own, err);
	if (root < 0)
		return -1;

	/* Attach it to any folder of the host; this one always exists. */
	old = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (old < 0 ||
	    move_mount(root, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) < 0 ||
	    fchdir(root) < 0)
		return dw_fail(err, code_of(errno), errno,
		               "cannot attach the cell's root");

	/* During the build, no link in an image or a workspace may lead outside. */
	if (chroot(".") < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot enter the cell's root");
	for (uint32_t i = 0; i < plan->h->n_entries; i++)
		if (build_entry(plan, &plan->entries[i], sources->fd[i], proc, err) < 0)
			return -1;
	/* mutant: planned-mounts-only */
	if (fchdir(old) < 0 || chroot(".") < 0 || fchdir(root) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot leave the cell's root again");

	/* The old root is now mounted on top of the new one: detach it. */
	/* mutant: detach-old-root */
	if (syscall(SYS_pivot_root, ".", ".") < 0 || umount2(".", MNT_DETACH) < 0 ||
	    chdir("/") < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot pivot into the cell's root");
	if (mount_setattr(AT_FDCWD, "/", 0, &locked, sizeof(locked)) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot make the cell's root read-only");

	for (uint32_t i = 0; i < plan->h->n_entries; i++)
		if (sources->fd[i] >= 0)
			(void)close(sources->fd[i]);
	return 0;
}
