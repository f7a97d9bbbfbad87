/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to:     learn through inotify when a process opens a file of the host
 * Promise:      host-files
 * Oracle:       held fdinfo/77 inotify wd:
 * Stops:        ENOSYS=seccomp ENOENT=mount
 */
#include <sys/inotify.h>

#include "attacks/attack.h"

ATTACK(watch_a_file_of_the_host)
{
	int fd = inotify_init1(IN_CLOEXEC);

	if (fd < 0 || dup2(fd, 77) < 0 ||
	    inotify_add_watch(77, attack_value("FLAG"), IN_ALL_EVENTS) < 0)
		attack_stopped("inotify_add_watch");
	else
		attack_hold();
	return 0;
}
