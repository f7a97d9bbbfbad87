/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: open a file of the host with openat2, whose arguments no filter sees
 * Promise:  host-files
 * Oracle:   secret
 * Stops:    ENOSYS=seccomp EPERM=seccomp
 * Because:  the call does not exist in a cell
 */
#include <linux/openat2.h>

#include "attacks/attack.h"

ATTACK(open_with_openat2)
{
	struct open_how how = {.flags = O_RDONLY | O_CLOEXEC};
	long fd = syscall(SYS_openat2, AT_FDCWD, attack_value("FLAG"), &how, sizeof(how));

	if (fd < 0)
		attack_stopped("openat2");
	else
		attack_spill((int)fd);
	return 0;
}
