/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: leave a key in the keyring of its user
 * Promise:  nothing-remains
 * Oracle:   remains
 * Stops:    EPERM=seccomp
 */
#include <linux/keyctl.h>

#include "attacks/attack.h"

ATTACK(add_a_key)
{
	const char *name = attack_value("NONCE");

	if (syscall(SYS_add_key, "user", name, name, strlen(name),
	            KEY_SPEC_USER_KEYRING) < 0)
		attack_stopped("add_key");
	return 0;
}
