/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_KERNEL_CALLS_H
#define DW_BASE_KERNEL_CALLS_H

#include <stdbool.h>

struct dw_error;

/*
 * Does this kernel have the calls that we have no substitute for? -1 with
 * DW_E_UNSUPPORTED, the first one that is missing, and which Linux has it. With
 * namespaces: those too that a tree of its own is built with.
 *
 * It is asked before anything is made: without pidfd_send_signal() a cell could not be
 * ended, and without openat2() its files could not be removed.
 */
int dw_kernel_calls_check(bool namespaces, struct dw_error *err);

#endif
