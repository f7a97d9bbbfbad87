/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: open devices that lead into the kernel, to memory, disks and consoles
 * Promise:  kernel-surface
 * Oracle:   held fd ^/dev/(autofs|kmsg|mem|port|kvm|fuse|vsock|userf|loop|net|vcs|vd|sd|nv)
 * Stops:    EACCES=landlock ENOENT=mount|absent
 * Because:  it opens them for reading, and reads nothing; a plain user gets at the first
 */
#include "attacks/attack.h"

/*
 * Returns false if the device has no driver yet, since opening the device would load one.
 * If /proc hides the drivers, we assume that there is one.
 */
static bool has_driver(const char *name)
{
	static char known[4096];
	int fd = known[0] ? -1 : open("/proc/misc", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)!read(fd, known, sizeof(known) - 1);
		(void)close(fd);
	}
	return known[0] == '\0' || strstr(known, name);
}

ATTACK(open_devices_of_the_host)
{
	static const struct {
		const char *path;
		const char *driver;
	} devices[] = {
		{"/dev/autofs", "autofs"},
		{"/dev/kvm", "kvm"},
		{"/dev/fuse", "fuse"},
		{"/dev/vsock", "vsock"},
		{"/dev/userfaultfd", "userfaultfd"},
		{"/dev/loop-control", "loop-control"},
		{"/dev/net/tun", "tun"},
		{"/dev/kmsg", ""},
		{"/dev/mem", ""},
		{"/dev/port", ""},
		{"/dev/vcs", ""},
		{"/dev/vda", ""},
		{"/dev/sda", ""},
		{"/dev/nvme0n1", ""},
	};
	bool got = false;

	for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++) {
		if (!has_driver(devices[i].driver))
			continue;
		if (open(devices[i].path, O_RDONLY | O_NONBLOCK) >= 0)
			got = true;
		else
			attack_stopped(devices[i].path);
	}
	if (got)
		attack_hold();
	return 0;
}
