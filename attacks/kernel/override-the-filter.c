/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: overrule the seccomp filter with one of its own that allows everything
 * Promise:  kernel-surface
 * Oracle:   held fd anon_inode:\[io_uring\]
 * Stops:    ENOSYS=seccomp
 * Because:  adding a filter is allowed, and the strictest of all filters decides
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include "attacks/attack.h"

ATTACK(override_the_filter)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog prog = {.len = 1, .filter = &allow};
	char params[512] = {0};

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
		attack_stopped("seccomp");
	else if (syscall(SYS_io_uring_setup, 4, params) < 0)
		attack_stopped("io_uring_setup");
	else
		attack_hold();
	return 0;
}
