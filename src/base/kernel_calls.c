/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists what Dewar does when a system call newer than Linux 5.0 is missing, or a seccomp
 * filter refuses it:
 *
 *   listed below               Dewar does not run
 *   clone3                     clone(), which has all flags in use: launch/launch.c
 *   close_range                /proc/self/fd instead: base/fd.c; no warm cells, whose
 *                              library has no substitute
 *   setns with a pidfd (5.8)   no warm cells
 *   landlock_*                 one wall less, which the proof says
 *   execveat's check (6.14)    one read-back less, which the proof says
 */
#include "base/kernel.h"

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
		/* Without a valid descriptor or address the call has no effect. */
		if (syscall(needs[i].nr, -1, NULL, NULL, 0, 0, 0) >= 0 || errno != ENOSYS)
			continue;
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "cannot call %s(): Linux %s or newer is needed, and no "
		               "seccomp filter around dewar may block it",
		               needs[i].name, needs[i].since);
	}
	return 0;
}
