/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: open devices that lead into the kernel, to memory, disks and consoles
 * Promise:  kernel-surface
 * Oracle:   held fd ^/dev/(autofs|kmsg|mem|port|kvm|fuse|vsock|userfaultfd|vcs|vd|loop|net|btrfs|sd|nvme)
 * Stops:    EACCES=landlock ENOENT=mount|absent
 * Because:  it opens them for reading, and reads nothing; a plain user gets at the first
 */
#include "attacks/attack.h"

ATTACK(open_devices_of_the_host)
{
	static const char *const names[] = {
		"autofs",       "kmsg",    "mem",           "port",  "kvm",
		"fuse",         "vsock",   "userfaultfd",   "vcs",   "vda",
		"loop-control", "net/tun", "btrfs-control", "sda",   "nvme0n1",
		"loop0",        "zram0",   "uinput",        "hwrng", "mapper/control",
	};
	char path[64];
	bool got = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		(void)snprintf(path, sizeof(path), "/dev/%s", names[i]);
		if (open(path, O_RDONLY | O_NONBLOCK) >= 0)
			got = true;
		else
			attack_stopped(path);
	}
	if (got)
		attack_hold();
	return 0;
}
