/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a program in a shared folder that runs as its owner, whichever user starts it
 * Promise:  privileges
 * Options:  --workspace {base}/ws --writable out
 * Oracle:   files
 * Stops:    EPERM=seccomp
 */
#include "attacks/attack.h"

ATTACK(leave_a_set_id_file)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "out/%s", attack_value("NONCE"));
	if (open(path, O_WRONLY | O_CREAT, 04755) < 0)
		attack_stopped("open");
	return 0;
}
