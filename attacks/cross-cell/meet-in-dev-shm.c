/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: share memory with another cell through a file in /dev/shm
 * Promise:  neighbours
 * Cells:    pair
 * Oracle:   secret
 * Stops:    ENOENT=mount|landlock EACCES=landlock
 */
#include "attacks/attack.h"

ATTACK(meet_in_dev_shm)
{
	const char *secret = attack_value("SECRET");
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/dev/shm/%s", attack_value("NONCE"));
	if (strcmp(role, "second") == 0) {
		(void)attack_spill_file(path);
		return 0;
	}
	fd = open(path, O_RDWR | O_CREAT, 0666);
	if (fd < 0 || write(fd, secret, strlen(secret)) < 0)
		attack_stopped(path);
	attack_hold();
	return 0;
}
