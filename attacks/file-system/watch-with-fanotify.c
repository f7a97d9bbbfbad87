/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: receive fanotify events for a file
 * Promise:  kernel-surface
 * Control:  none
 * Oracle:   held fdinfo/77 fanotify
 * Stops:    EPERM=seccomp|capability
 */
#include <sys/fanotify.h>

#include "attacks/attack.h"

ATTACK(watch_with_fanotify)
{
	int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_REPORT_FID, O_RDONLY);

	if (fd < 0 || dup2(fd, 77) < 0 ||
	    fanotify_mark(77, FAN_MARK_ADD, FAN_OPEN | FAN_ACCESS, AT_FDCWD, ".") < 0)
		attack_stopped("fanotify");
	else
		attack_hold();
	return 0;
}
