/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: take back that no program it starts gains privileges (no_new_privs), so
 *           that set-id programs work again
 * Promise:  privileges
 * Oracle:   held status ^NoNewPrivs:.0
 * Stops:    EINVAL=capability
 * Because:  the kernel cannot undo it, and returns EINVAL
 */
#include <sys/prctl.h>

#include "attacks/attack.h"

ATTACK(allow_new_privileges)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) < 0)
		attack_stopped("prctl");
	attack_hold();
	return 0;
}
