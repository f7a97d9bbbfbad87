/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_KERNEL_H
#define DW_BASE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "dewar/error.h"
#include "dewar/result.h"

/*
 * The inode number of a namespace (enum dw_ns) of a process (0: this one), unique on the
 * host; 0 if it cannot be read.
 */
uint64_t dw_ns_of(pid_t pid, int which);

/* Which of these namespaces are known and are not this process's: bits 1U << DW_NS_*. */
uint32_t dw_ns_not_ours(const uint64_t ns[DW_NS_COUNT]);

/* The pid of a pidfd in the pid namespace of /proc; -1 if the process has ended. */
pid_t dw_pidfd_pid(int pidfd);

/* ---- kernel_calls.c ---- */

/*
 * Check that the kernel has all required system calls. -1 with DW_E_UNSUPPORTED names the
 * first missing call and the Linux version that added it. With namespaces, also checks
 * the calls that build the root of a cell.
 *
 * Call it before anything is created: without pidfd_send_signal() a cell cannot be
 * killed, and without openat2() its files cannot be removed.
 */
int dw_kernel_calls_check(bool namespaces, struct dw_error *err);

#endif
