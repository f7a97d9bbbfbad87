/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: tell another cell a secret by an open file description lock on each byte, of a
 *           file in /usr, whose bit is set
 * Promise:  neighbours
 * Cells:    pair
 * Oracle:   secret
 * Stops:    EACCES=landlock
 * Not promised: container=shared-files process=shared-files docker=shared-files
 */
#include "attacks/attack.h"

#define DIGITS 32

ATTACK(whisper_by_ofd_locks)
{
	const char *secret = attack_value("SECRET");
	int fd = attack_open_shown();
	unsigned digit;

	for (int i = 0; i < DIGITS; i++) {
		digit = (unsigned)strtoul((char[]){secret[i], '\0'}, NULL, 16);
		if (strcmp(role, "second") == 0)
			digit = 0;
		for (int bit = 0; bit < 4; bit++) {
			struct flock lock = {
				.l_type = strcmp(role, "first") == 0 ? F_RDLCK : F_WRLCK,
				.l_whence = SEEK_SET,
				.l_start = 4 * i + bit,
				.l_len = 1,
			};

			if (strcmp(role, "first") == 0) {
				if ((digit >> bit & 1) &&
				    fcntl(fd, F_OFD_SETLK, &lock) < 0)
					attack_stopped("lock");
			} else if (fcntl(fd, F_OFD_GETLK, &lock) < 0) {
				attack_stopped("look for a lock");
			} else if (lock.l_type != F_UNLCK) {
				digit |= 1U << bit;
			}
		}
		if (strcmp(role, "second") == 0)
			(void)printf("%x", digit);
	}
	if (strcmp(role, "first") == 0)
		attack_hold();
	return 0;
}
