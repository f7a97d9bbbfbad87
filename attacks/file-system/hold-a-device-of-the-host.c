/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: open a device of the host: the kernel's log, or one that makes disks,
 *           networks or virtual machines
 * Promise:  kernel-surface
 * Oracle:   held fd /dev/(kmsg|fuse|net/tun|kvm|loop-control|autofs|vsock|snapshot|rfkill)
 * Stops:    ENOENT=mount|absent EACCES=landlock
 * Because:  which of them exist, and which users may open them, differs from host to
 *           host
 */
#include "attacks/attack.h"

ATTACK(hold_a_device_of_the_host)
{
	static const char *const paths[] = {"/dev/kmsg",    "/dev/fuse",
	                                    "/dev/net/tun", "/dev/kvm",
	                                    "/dev/vsock",   "/dev/loop-control",
	                                    "/dev/autofs"};
	bool any = false;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (open(paths[i], O_RDONLY | O_NONBLOCK | O_CLOEXEC) >= 0)
			any = true;
		else
			attack_stopped(paths[i]);
	}
	if (any)
		attack_hold();
	return 0;
}
