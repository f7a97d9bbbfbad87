/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: be told of everybody's opens and writes by fanotify
 * Promise:  kernel-surface
 * Oracle:   held fd anon_inode:\[fanotify\]
 * Stops:    EPERM=seccomp
 */
#include <sys/fanotify.h>

#include "attacks/attack.h"

ATTACK(watch_with_fanotify)
{
	if (fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_FID | FAN_CLOEXEC, O_RDONLY) < 0)
		attack_stopped("fanotify_init");
	else
		attack_hold();
	return 0;
}
