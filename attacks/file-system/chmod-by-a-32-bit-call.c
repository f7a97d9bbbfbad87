/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: leave a set-uid program in a folder that it may write to, by a system call
 *           of 32-bit programs, which a filter may have forgotten
 * Promise:  host-writes
 * Oracle:   files
 * Options:  --workspace {base}/ws --writable {base}/ws/out
 * Stops:    EPERM=seccomp ENOSYS=seccomp seccomp=seccomp
 */
#include <sys/mman.h>

#include "attacks/attack.h"

#define CHMOD_32 15
#define PATH "out/old.txt"

#ifndef MAP_32BIT
#define MAP_32BIT 0
#endif

ATTACK(chmod_by_a_32_bit_call)
{
	/* An i386 call passes only the lower 32 bits of an address. */
	char *path = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (path == MAP_FAILED)
		return 1;
	memcpy(path, PATH, sizeof(PATH));
	if (attack_call_i386(CHMOD_32, (long)(uintptr_t)path, 04755) < 0)
		attack_stopped("chmod");
	return 0;
}
