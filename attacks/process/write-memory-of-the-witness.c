/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: write into the memory of a process of the host (process_vm_writev)
 * Promise:  host-processes
 * Control:  root
 * Oracle:   witness
 * Stops:    EPERM=seccomp
 */
#include <sys/uio.h>

#include "attacks/attack.h"

ATTACK(write_memory_of_the_witness)
{
	char gotcha[] = "gotcha";
	struct iovec from = {.iov_base = gotcha, .iov_len = sizeof(gotcha)};
	struct iovec to = {
		.iov_base = (void *)strtoul(attack_value("ADDRESS"), NULL, 16),
		.iov_len = sizeof(gotcha),
	};

	if (process_vm_writev((pid_t)attack_number("PID"), &from, 1, &to, 1, 0) < 0)
		attack_stopped("process_vm_writev");
	return 0;
}
