/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_NAMESPACES_H
#define DW_BASE_NAMESPACES_H

#include <stdint.h>
#include <sys/types.h>

#include "dewar/result.h"

/*
 * Namespaces have numbers that hold for the whole host. Those here are indexed by
 * enum dw_ns.
 */

/* The number of one of a process's, 0 being ourselves; 0 if it is not told. */
uint64_t dw_ns_of(pid_t pid, int which);

/* Those that are told, and are not our own: 1U << DW_NS_*. */
uint32_t dw_ns_not_ours(const uint64_t ns[DW_NS_COUNT]);

#endif
