/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: read another cell's memory with process_vm_readv
 * Promise:  neighbours
 * Cells:    pair
 * Oracle:   secret
 * Stops:    unseen=namespace EPERM=seccomp
 * Because:  "unseen" is what it says if /proc shows no process of that name
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#include "attacks/attack.h"

#define AGREED ((void *)0x100000000000)

ATTACK(read_memory_of_the_neighbour)
{
	char text[64] = "";
	struct iovec here = {text, 32}, there = {AGREED, 32};
	char *memory;
	pid_t pid;

	if (strcmp(role, "first") == 0) {
		memory = mmap(AGREED, 4096, PROT_READ | PROT_WRITE,
		              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		if (memory != AGREED)
			attack_stopped("mmap");
		else
			(void)snprintf(memory, 64, "%s", attack_value("SECRET"));
		(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
		attack_hold();
		return 0;
	}
	pid = attack_find_holder();
	if (pid > 0 && process_vm_readv(pid, &here, 1, &there, 1, 0) < 0)
		attack_stopped("process_vm_readv");
	(void)puts(text);
	return 0;
}
