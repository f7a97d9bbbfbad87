/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a file in the root folder
 * Promise:  host-writes
 * Oracle:   held fd ^/NONCE
 * Stops:    EROFS=mount EACCES=landlock
 * Because:  a cell's root is its own, but nothing shall fill it; without root no process can
 *           write to a host's root folder, so there is no control for a plain user
 */
#include "attacks/attack.h"

ATTACK(write_into_the_root)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/%s", attack_value("NONCE"));
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		attack_stopped("open");
	else
		attack_hold();
	return 0;
}
