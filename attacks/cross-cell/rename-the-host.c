/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: tell another cell a secret in the name of the host
 * Promise:  neighbours
 * Control:  root
 * Cells:    pair
 * Oracle:   secret
 * Stops:    EPERM=seccomp|capability
 */
#include "attacks/attack.h"

ATTACK(rename_the_host)
{
	const char *secret = attack_value("SECRET");
	char name[128] = "";

	if (strcmp(role, "second") == 0) {
		(void)gethostname(name, sizeof(name) - 1);
		(void)puts(name);
		return 0;
	}
	if (sethostname(secret, strlen(secret)) < 0)
		attack_stopped("sethostname");
	attack_hold();
	return 0;
}
