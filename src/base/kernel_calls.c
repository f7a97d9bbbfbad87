/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which kernels will do.
 *
 * What is newer than Linux 5.0 and used by us, and what becomes of it on a kernel that
 * does not have it, or behind somebody's filter that says so:
 *
 *   listed below               refused, here
 *   clone3                     clone(), which has all the flags that we use: clone.c
 *   close_range                the same, by /proc/self/fd: base/fd.c; no warm cells, whose
 *                              library has no substitute
 *   setns with a pidfd (5.8)   no warm cells
 *   landlock_*                 a wall less, which the proof says
 *   execveat's check (6.14)    a read-back less, which the proof says
 */
#include "base/kernel_calls.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "dewar/error.h"

static const struct need {
	long nr;
	const char *name;
	const char *since;
	bool namespaces;
} needs[] = {
	{SYS_pidfd_send_signal, "pidfd_send_signal", "5.1", false},
	{SYS_pidfd_open, "pidfd_open", "5.3", false},
	{SYS_openat2, "openat2", "5.6", false},
	{SYS_open_tree, "open_tree", "5.2", true},
	{SYS_move_mount, "move_mount", "5.2", true},
	{SYS_fsopen, "fsopen", "5.2", true},
	{SYS_fsconfig, "fsconfig", "5.2", true},
	{SYS_fsmount, "fsmount", "5.2", true},
	{SYS_mount_setattr, "mount_setattr", "5.12", true},
};

int dw_kernel_calls_check(bool namespaces, struct dw_error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(needs); i++) {
		if (needs[i].namespaces && !namespaces)
			continue;
		/* No descriptor, no address: whatever else it answers, it does nothing. */
		if (syscall(needs[i].nr, -1, NULL, NULL, 0, 0, 0) >= 0 || errno != ENOSYS)
			continue;
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "this kernel, or a seccomp filter around us, has no %s(): "
		               "Linux %s or newer is needed",
		               needs[i].name, needs[i].since);
	}
	return 0;
}
