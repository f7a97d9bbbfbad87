/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: learn the host's name from the kernel (uname)
 * Promise:  identity
 * Oracle:   secret
 * Stops:    renamed=namespace
 * Not promised: process=process-sees-host
 * Because:  all cells have the same name
 */
#include <sys/utsname.h>

#include "attacks/attack.h"

ATTACK(ask_for_the_host_name)
{
	struct utsname names;

	if (uname(&names) < 0)
		attack_stopped("uname");
	else if (strcmp(names.nodename, "dewar") == 0)
		attack_stopped_by("renamed", "uname");
	else
		(void)puts(names.nodename);
	return 0;
}
