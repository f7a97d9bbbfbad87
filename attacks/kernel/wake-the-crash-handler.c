/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: have the host's crash handler, which runs as root, look at its memory
 * Promise:  kernel-surface
 * Oracle:   held limits ^Max core file size +0
 * Stops:    EPERM=seccomp
 * Because:  the kernel starts a handler that core_pattern names at every limit on core
 *           files except 1, even at 0; the program must not choose that limit
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include "attacks/attack.h"

ATTACK(wake_the_crash_handler)
{
	/* Code that checks only the lower 32 bits takes this address for NULL. */
	void *half = mmap((void *)0x700000000, 4096, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	const struct rlimit none = {0, 0};

	if (setrlimit(RLIMIT_CORE, &none) < 0 &&
	    syscall(SYS_setrlimit, RLIMIT_CORE, &none) < 0 &&
	    (half == MAP_FAILED ||
	     syscall(SYS_prlimit64, 0, RLIMIT_CORE, half, NULL) < 0))
		attack_stopped("setrlimit");
	else
		attack_hold();
	return 0;
}
