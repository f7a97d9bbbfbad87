/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: leave a key in the user's keyring for the next cell
 * Promise:  neighbours
 * Cells:    after
 * Oracle:   secret
 * Stops:    EPERM=seccomp
 */
#include <linux/keyctl.h>

#include "attacks/attack.h"

#define USER_ALL 0x003f0000 /* a process with the same user id may do anything with it */

ATTACK(leave_a_key)
{
	const char *secret = attack_value("SECRET");
	const char *name = attack_value("NONCE");
	char text[64];
	long key, n;

	if (strcmp(role, "first") == 0) {
		key = syscall(SYS_add_key, "user", name, secret, strlen(secret),
		              KEY_SPEC_USER_KEYRING);
		if (key < 0 || syscall(SYS_keyctl, KEYCTL_SETPERM, key, USER_ALL) < 0)
			attack_stopped("add_key");
		else
			(void)syscall(SYS_keyctl, KEYCTL_SET_TIMEOUT, key, 20);
		return 0;
	}
	key = syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", name, 0);
	n = key < 0 ? -1 : syscall(SYS_keyctl, KEYCTL_READ, key, text, sizeof(text));
	if (n < 0) {
		attack_stopped("keyctl");
		return 0;
	}
	(void)printf("%.*s\n", (int)n, text);
	(void)syscall(SYS_keyctl, KEYCTL_INVALIDATE, key);
	return 0;
}
