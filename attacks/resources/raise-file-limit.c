/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: raise its limit on open files, and then exceed it
 * Promise:  limits
 * Options:  --files 32
 * Oracle:   count open_files > 100
 * Stops:    EMFILE=limit:files EPERM=capability
 */
#include <sys/resource.h>

#include "attacks/attack.h"

ATTACK(raise_file_limit)
{
	const struct rlimit lim = {1000, 1000};

	if (setrlimit(RLIMIT_NOFILE, &lim) < 0)
		attack_stopped("setrlimit");
	for (int i = 0; i < 200; i++)
		if (open("/dev/null", O_RDONLY) < 0) {
			attack_stopped("open");
			return 0;
		}
	attack_hold();
	return 0;
}
