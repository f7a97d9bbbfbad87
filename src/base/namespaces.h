/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_NAMESPACES_H
#define DW_BASE_NAMESPACES_H

#include <stdint.h>
#include <sys/types.h>

#include "dewar/result.h"

/*
 * The inode numbers of namespaces, unique on the host; indexed by enum dw_ns.
 */

/* The number of a namespace of a process (0: this one); 0 if it cannot be read. */
uint64_t dw_ns_of(pid_t pid, int which);

/* Which of these are known and differ from those of this process: 1U << DW_NS_*. */
uint32_t dw_ns_not_ours(const uint64_t ns[DW_NS_COUNT]);

#endif
