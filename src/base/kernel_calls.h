/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_KERNEL_CALLS_H
#define DW_BASE_KERNEL_CALLS_H

#include <stdbool.h>

struct dw_error;

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
