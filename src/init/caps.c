/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init/init.h"

#define NO_ROOT                                                          \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP | \
	 SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |       \
	 SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

/*
 * Empty all five sets, and lock the ways to regain a capability. Changing the bounding
 * set and the secure bits needs CAP_SETPCAP, which a plain user has only in its own
 * namespace. Without it, and with must unset, both stay as they are: then only
 * no_new_privs keeps the program from gaining the capabilities of the bounding set.
 */
int dw_caps_drop(bool must, struct dw_error *err)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot set no_new_privs");
	/* mutant: lock-secure-bits */
	if (prctl(PR_SET_SECUREBITS, NO_ROOT, 0, 0, 0) < 0 && must)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot lock the secure bits");
	/* mutant: empty-bounding-set */
	for (unsigned long cap = 0; prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; cap++)
		;
	if (errno != EINVAL && must) /* EINVAL: past the last capability */
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot empty the bounding set");
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno,
		               "cannot clear ambient capabilities");
	/* mutant: drop-capabilities */
	if (syscall(SYS_capset, &header, none) < 0)
		return dw_fail(err, DW_E_INTERNAL, errno, "cannot drop all capabilities");
	return 0;
}
