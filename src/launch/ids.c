/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/fd.h"
#include "launch/launch_own.h"

/*
 * Stage 3, as root: become a user that owns nothing.
 *
 * On entry:  root of the host.
 * Does:      takes an id that no user, service or other cell uses.
 * Leaves:    no group, no capability, no way back (checked).
 */
int dw_ids_become(uint32_t id, struct dw_error *err)
{
	uid_t r, e, s;
	gid_t rg, eg, sg;

	if (setgroups(0, NULL) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot drop the groups of root");
	if (setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot become user %u", id);

	if (getresuid(&r, &e, &s) < 0 || r != id || e != id || s != id ||
	    getresgid(&rg, &eg, &sg) < 0 || rg != id || eg != id || sg != id ||
	    getgroups(0, NULL) != 0 || setuid(0) == 0)
		return dw_fail(err, DW_E_INTERNAL, 0,
		               "cannot become user %u: the ids did not change", id);

	/*
	 * Changing ids made us undumpable, so that root owns our /proc files; we write
	 * our id map there next. No other process has this id and could use them.
	 */
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	return 0;
}

/*
 * Stage 3, for a cell that a zygote forks into.
 *
 * On entry:  root of the host, or the zygote's plain user.
 * Does:      enters the user namespace that the zygote is in, as the zygote's own
 *            user there, so that what we create belongs to the zygote.
 * Leaves:    all capabilities in that namespace, none outside; no groups of root.
 */
int dw_ids_join(int userns, bool root, uint32_t id, struct dw_error *err)
{
	if (root && setgroups(0, NULL) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot drop the groups of root");
	if (setns(userns, CLONE_NEWUSER) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot enter the zygote's user namespace");
	if (root && dw_ids_take(id, err) < 0)
		return -1;
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* as above */
	return 0;
}

/* Take an id that our user namespace maps; our capabilities in the namespace stay. */
int dw_ids_take(uint32_t id, struct dw_error *err)
{
	if (setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot become user %u in the cell", id);
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	return 0;
}

static int write_file(const char *path, const char *text, struct dw_error *err)
{
	autoclose int fd = open(path, O_WRONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot open %s", path);
	r = dw_fd_write_all(fd, text, strlen(text));
	if (r < 0)
		return dw_fail(err, r == -EPERM ? DW_E_UNSUPPORTED : DW_E_INTERNAL, -r,
		               "cannot write \"%s\" to %s", text, path);
	return 0;
}

/*
 * Stage 5: the id map.
 *
 * On entry:  a new user namespace with nothing in it; still the host's ids.
 * Does:      maps our own id (the host's uid and gid, which we cannot see any more)
 *            and no other.
 * Leaves:    groups frozen.
 */
int dw_ids_map(uint32_t inside, uid_t uid, gid_t gid, struct dw_error *err)
{
	char text[64];

	if (write_file("/proc/self/setgroups", "deny", err) < 0)
		return -1;

	(void)snprintf(text, sizeof(text), "%u %u 1", inside, uid);
	if (write_file("/proc/self/uid_map", text, err) < 0)
		return -1;
	(void)snprintf(text, sizeof(text), "%u %u 1", inside, gid);
	return write_file("/proc/self/gid_map", text, err);
}

int dw_ids_map_for(pid_t pid, uint32_t inside, uint32_t outside, uint32_t count,
                   struct dw_error *err)
{
	static const char *const files[] = {"setgroups", "uid_map", "gid_map"};
	char path[64], text[64];

	(void)snprintf(text, sizeof(text), "%u %u %u", inside, outside, count);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		(void)snprintf(path, sizeof(path), "/proc/%d/%s", pid, files[i]);
		if (write_file(path, i == 0 ? "deny" : text, err) < 0)
			return -1;
	}
	return 0;
}
