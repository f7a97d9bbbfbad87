/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: read the UUID of the host's disk
 * Promise:  identity
 * Oracle:   host disk
 * Stops:    EPERM=seccomp ENOTTY=seccomp
 */
#include <sys/ioctl.h>

#include "attacks/attack.h"

/* FS_IOC_GETFSUUID, newer than Debian 12's headers. */
struct uuid {
	unsigned char len, id[16];
};

ATTACK(tell_the_host_by_disk)
{
	struct uuid uuid = {0};
	int fd = open("/usr", O_RDONLY | O_DIRECTORY);

	if (fd < 0 || ioctl(fd, _IOR(0x15, 0, struct uuid), &uuid) < 0) {
		attack_stopped("ioctl");
		return 0;
	}
	(void)printf("disk ");
	for (size_t i = 0; i < uuid.len && i < sizeof(uuid.id); i++)
		(void)printf("%02x", uuid.id[i]);
	(void)puts("");
	return 0;
}
