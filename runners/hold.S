/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dw_hold_memory(): see zygote.h. The child has our stack pointer and must not use
 * it, so all it does is in registers. It has no signal to send at its end: no wait()
 * of ours ever finds it, and at our end it is init's. It is
 * born with every signal blocked: no handler ever runs on that stack.
 */
#include <asm/unistd.h>

#define CLONE_VM 0x100

	.text
	.globl dw_hold_memory
	.hidden dw_hold_memory
	.type dw_hold_memory, %function
dw_hold_memory:
#if defined(__x86_64__)
	endbr64
	mov $CLONE_VM, %edi
	xor %esi, %esi
	xor %edx, %edx
	xor %r10d, %r10d
	xor %r8d, %r8d
	mov $__NR_clone, %eax
	syscall
	test %eax, %eax
	jz 1f
	ret
1:	xor %edi, %edi
	mov $-1, %esi
	xor %edx, %edx
	mov $__NR_close_range, %eax
	syscall
2:	mov $__NR_pause, %eax
	syscall
	jmp 2b
#elif defined(__aarch64__)
	mov x0, #CLONE_VM
	mov x1, #0
	mov x2, #0
	mov x3, #0
	mov x4, #0
	mov x8, #__NR_clone
	svc 0
	cbz x0, 1f
	ret
1:	mov x0, #0
	mov w1, #-1
	mov x2, #0
	mov x8, #__NR_close_range
	svc 0
2:	mov x0, #0
	mov x1, #0
	mov x2, #0
	mov x3, #0
	mov x4, #0
	mov x8, #__NR_ppoll
	svc 0
	b 2b
#else
#error "how does one fork here?"
#endif
	.size dw_hold_memory, .-dw_hold_memory
	.section .note.GNU-stack, "", %progbits
