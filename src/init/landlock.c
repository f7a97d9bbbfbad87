/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage 9: Landlock, on top of the mounts.
 *
 * The program may read and execute files below the plan's ALLOW entries, write below the
 * writable ones, and nothing else. It can use no ioctl on devices. No signal and no
 * connection to an abstract socket leaves its domain, and init is outside that domain.
 * This holds even if a mount is wrong, and replaces mounts at level process.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "init/init.h"

/* Newer than Debian 12's headers. */
#define FS_TRUNCATE (1ULL << 14)               /* ABI 3 */
#define FS_IOCTL_DEV (1ULL << 15)              /* ABI 5 */
#define SCOPE_ABSTRACT_UNIX_SOCKET (1ULL << 0) /* ABI 6 */
#define SCOPE_SIGNAL (1ULL << 1)               /* ABI 6 */

struct ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

#define FS_READ                                                      \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | \
	 LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_WRITE                                                         \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | \
	 LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |  \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |    \
	 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM |    \
	 LANDLOCK_ACCESS_FS_REFER | FS_TRUNCATE)
#define FS_RUN (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE)
/* Handled, and granted by no rule. */
#define FS_NEVER \
	(LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK | FS_IOCTL_DEV)
/* Rights that apply to a file that is not a folder. */
#define FS_ON_FILE                                                   \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | \
	 LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE)

static uint64_t handled_by(int abi)
{
	uint64_t fs = FS_READ | FS_WRITE | FS_NEVER;

	if (abi < 2)
		fs &= ~LANDLOCK_ACCESS_FS_REFER;
	if (abi < 3)
		fs &= ~FS_TRUNCATE;
	if (abi < 5)
		fs &= ~FS_IOCTL_DEV;
	return fs;
}

int dw_open_exact(const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

static int allow(int ruleset, const char *path, bool exact, uint64_t access,
                 struct dw_error *err)
{
	/* Dewar checked that a shared folder is no link; it may have become one since. */
	autoclose int fd = exact ? dw_open_exact(path) : open(path, O_PATH | O_CLOEXEC);
	struct landlock_path_beneath_attr rule = {.parent_fd = fd};
	struct stat st;

	if (fd < 0 && errno == ENOENT && !exact)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot open %s for Landlock",
		               path);
	/* Only files: a folder would allow all files in it. */
	if (S_ISDIR(st.st_mode) && !(access & LANDLOCK_ACCESS_FS_READ_DIR))
		return dw_fail(err, DW_E_INTERNAL, EISDIR,
		               "cannot allow %s with Landlock", path);
	if (exact && S_ISLNK(st.st_mode))
		return dw_fail(err, DW_E_INTERNAL, ELOOP, "cannot open %s for Landlock",
		               path);

	rule.allowed_access = S_ISDIR(st.st_mode) ? access : access & FS_ON_FILE;
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule,
	            0) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot allow %s with Landlock",
		               path);
	return 0;
}

/* The access that an entry grants. With COMMANDS only EXEC entries allow execution. */
static uint64_t granted_by(const struct dw_plan *plan, const struct dw_plan_entry *e)
{
	uint64_t access = FS_READ;

	if (e->op == DW_PLAN_EXEC)
		return e->flags & DW_PLAN_REFUSED ? 0 : FS_RUN;
	if (e->op != DW_PLAN_ALLOW)
		return 0;
	if (e->flags & DW_PLAN_WRITABLE)
		access |= FS_WRITE;
	if (plan->h->flags & DW_PLAN_COMMANDS)
		access &= ~LANDLOCK_ACCESS_FS_EXECUTE;
	return access;
}

int dw_landlock_ruleset(const struct dw_plan *plan, int *ret_abi, int *ret_fd,
                        struct dw_error *err)
{
	struct ruleset_attr attr = {0};
	autoclose int ruleset = -1;
	size_t size = sizeof(attr.handled_access_fs);
	uint64_t handled;
	long abi;

	*ret_abi = 0;
	*ret_fd = -1;
	abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
	              LANDLOCK_CREATE_RULESET_VERSION);
	if (abi < 1 && (plan->h->flags & DW_PLAN_COMMANDS) &&
	    !(plan->h->flags & DW_PLAN_NAMESPACES))
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "cannot enforce allowed_commands: without its own root the "
		               "cell needs Landlock, which this kernel does not have");
	if (abi < 1)
		return 0; /* not in this kernel: the proof says so */

	handled = handled_by((int)abi);
	attr.handled_access_fs = handled;
	/* mutant: landlock-scope */
	if (abi >= 6) {
		attr.scoped = SCOPE_ABSTRACT_UNIX_SOCKET | SCOPE_SIGNAL;
		size = sizeof(attr);
	}
	ruleset = (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
	if (ruleset < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot make a Landlock ruleset");

	for (uint32_t i = 0; i < plan->h->n_entries; i++) {
		const struct dw_plan_entry *e = &plan->entries[i];
		uint64_t access = granted_by(plan, e);

		if (access != 0 &&
		    allow(ruleset, dw_plan_text(plan, e->dst),
		          (e->flags & DW_PLAN_EXACT) != 0, access & handled, err) < 0)
			return -1;
	}
	*ret_abi = (int)abi;
	*ret_fd = TAKE_FD(ruleset);
	return 0;
}

int dw_landlock_apply(const struct dw_plan *plan, int *ret_abi, struct dw_error *err)
{
	autoclose int ruleset = -1;

	if (dw_landlock_ruleset(plan, ret_abi, &ruleset, err) < 0)
		return -1;
	if (ruleset >= 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot enter the Landlock domain");
	return 0;
}
