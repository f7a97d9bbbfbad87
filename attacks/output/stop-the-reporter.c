/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: stop its parent, so that its end is not reported
 * Promise:  honest-result
 * Oracle:   forged
 * Options:  --timeout 1s
 * Stops:    EPERM=landlock result=namespace
 * Not promised: foreign:docker=docker-init
 */
#include <signal.h>

#include "attacks/attack.h"

ATTACK(stop_the_reporter)
{
	if (kill(getppid(), SIGSTOP) < 0)
		attack_stopped("kill");
	return 7;
}
