/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: read a file of the host through its own /proc/self/root
 * Promise:  host-files
 * Oracle:   secret
 * Stops:    ENOENT=mount EACCES=landlock
 */
#include "attacks/attack.h"

ATTACK(read_through_proc_self_root)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "/proc/self/root/../..%s",
	               attack_value("FLAG"));
	(void)attack_spill_file(path);
	(void)snprintf(path, sizeof(path), "/proc/thread-self/root%s",
	               attack_value("FLAG"));
	(void)attack_spill_file(path);
	return 0;
}
