/* SPDX-License-Identifier: Apache-2.0 */
/* dw_vfork(): see sys.h. Parent and child return on one stack, one after the other. */
#include <asm/unistd.h>

	.text
	.globl dw_vfork
	.hidden dw_vfork
	.type dw_vfork, %function
dw_vfork:
#if defined(__x86_64__)
	endbr64
	pop %rdi /* the child's return overwrites where it was; the kernel keeps rdi */
	mov $__NR_vfork, %eax
	syscall
	push %rdi
	ret
#elif defined(__aarch64__)
	mov x0, #0x4111 /* CLONE_VM | CLONE_VFORK | SIGCHLD */
	mov x1, #0
	mov x2, #0
	mov x3, #0
	mov x4, #0
	mov x8, #__NR_clone
	svc 0
	ret
#else
#error "how does one fork here?"
#endif
	.size dw_vfork, .-dw_vfork
	.section .note.GNU-stack, "", %progbits
