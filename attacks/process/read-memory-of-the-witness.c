/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: read the memory of a process of the host (process_vm_readv)
 * Promise:  host-processes
 * Control:  root
 * Oracle:   secret
 * Stops:    EPERM=seccomp
 */
#include <sys/uio.h>

#include "attacks/attack.h"

ATTACK(read_memory_of_the_witness)
{
	char here[33] = "";
	struct iovec to = {.iov_base = here, .iov_len = 32};
	struct iovec from = {
		.iov_base = (void *)strtoul(attack_value("ADDRESS"), NULL, 16),
		.iov_len = 32,
	};

	if (process_vm_readv((pid_t)attack_number("PID"), &to, 1, &from, 1, 0) < 0)
		attack_stopped("process_vm_readv");
	(void)puts(here);
	return 0;
}
