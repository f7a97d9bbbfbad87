/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: make a set-id file in a shared folder as a node
 * Promise:  privileges
 * Options:  --workspace {base}/ws --writable out
 * Oracle:   files
 * Stops:    EPERM=seccomp
 */
#include <sys/stat.h>

#include "attacks/attack.h"

ATTACK(leave_a_set_id_node)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "out/%s", attack_value("NONCE"));
	if (mknod(path, S_IFREG | 06755, 0) < 0)
		attack_stopped("mknod");
	return 0;
}
