/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_RUNNERS_SYS_H
#define DW_RUNNERS_SYS_H

#include <asm/unistd.h>
#include <stdint.h>

/*
 * System calls without a libc: the library is loaded into any interpreter of an image,
 * and must not depend on the libc that it uses. Errors are the kernel's: -errno.
 */

#if defined(__x86_64__)

static inline long dw_sys(long nr, long a, long b, long c, long d, long e, long f)
{
	long ret;
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;

	__asm__ volatile("syscall"
	                 : "=a"(ret)
	                 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return ret;
}

#elif defined(__aarch64__)

/* Not inlined, so that a caller of dw_vfork() keeps no value in x0 across it. */
static __attribute__((noinline, unused)) long
dw_sys(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
	                 : "+r"(x0)
	                 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
	                 : "memory");
	return x0;
}

#else
#error "the registers of a system call on this architecture are not defined"
#endif

#define DW_SYS_PICK(a, b, c, d, e, f, g, name, ...) name
#define DW_SYS1(n) dw_sys(n, 0, 0, 0, 0, 0, 0)
#define DW_SYS2(n, a) dw_sys(n, (long)(a), 0, 0, 0, 0, 0)
#define DW_SYS3(n, a, b) dw_sys(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define DW_SYS4(n, a, b, c) dw_sys(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define DW_SYS5(n, a, b, c, d) \
	dw_sys(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define DW_SYS6(n, a, b, c, d, e) \
	dw_sys(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define DW_SYS7(n, a, b, c, d, e, f) \
	dw_sys(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* sys(__NR_openat, fd, path, flags), with arguments of any type. */
#define sys(...)                                                                     \
	DW_SYS_PICK(__VA_ARGS__, DW_SYS7, DW_SYS6, DW_SYS5, DW_SYS4, DW_SYS3, DW_SYS2, \
	            DW_SYS1)                                                         \
	(__VA_ARGS__)

/*
 * Like vfork(): the child uses our memory and stack until it ends, and we wait. The child
 * may call functions, but must never return from its caller's frame.
 */
long dw_vfork(void) __attribute__((returns_twice, visibility("hidden")));

#endif
