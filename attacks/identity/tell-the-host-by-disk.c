/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: read the UUID of the host's disk, which never changes
 * Promise:  identity
 * Oracle:   host disk
 * Stops:    EPERM=seccomp ENOTTY=seccomp
 */
#include <sys/ioctl.h>

#include "attacks/attack.h"

/* For EXT4_IOC_GETFSUUID and FS_IOC_GETFSUUID, which Debian 12's headers lack. */
struct ext_uuid {
	unsigned int len, flags;
	unsigned char id[16];
};

struct any_uuid {
	unsigned char len, id[16];
};

static void tell(const unsigned char *id)
{
	(void)printf("disk ");
	for (int i = 0; i < 16; i++)
		(void)printf("%02x", id[i]);
	(void)puts("");
}

ATTACK(tell_the_host_by_disk)
{
	struct ext_uuid ext = {.len = 16};
	struct any_uuid any = {0};
	int fd = open("/usr", O_RDONLY | O_DIRECTORY);

	if (ioctl(fd, _IOR('f', 44, unsigned int[2]), &ext) == 0)
		tell(ext.id);
	else
		attack_stopped("EXT4_IOC_GETFSUUID");
	if (ioctl(fd, _IOR(0x15, 0, struct any_uuid), &any) == 0)
		tell(any.id);
	else
		attack_stopped("FS_IOC_GETFSUUID");
	return 0;
}
