/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: learn the domain that the host is part of
 * Promise:  identity
 * Oracle:   secret
 * Stops:    unnamed=namespace
 * Not promised: process=process-sees-host
 */
#include <sys/utsname.h>

#include "attacks/attack.h"

ATTACK(ask_for_the_domain_name)
{
	struct utsname names;

	if (uname(&names) < 0)
		attack_stopped("uname");
	else if (names.domainname[0] == '\0' || names.domainname[0] == '(')
		attack_stopped_by("unnamed", "uname"); /* "(none)" is the default */
	else
		(void)puts(names.domainname);
	return 0;
}
