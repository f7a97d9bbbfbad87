/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_LEVELS_PASTA_H
#define DW_LEVELS_PASTA_H

#include <stdint.h>

#include "dewar/error.h"

/*
 * Network "full": pasta stands between the cell's own network namespace and the
 * host's sockets. No packet of the cell's is ever on a wire of the host's, and
 * the host's loopback is not reachable through it.
 */

/* Where the cell sends its name lookups; pasta hands them to the host's resolver. */
#define DW_PASTA_DNS "169.254.1.53"

/* Is it installed, and may we use what it needs? */
int dw_pasta_probe(struct dw_error *err);

/*
 * Connect the network namespace of a cell's init. *ret_pid is that of a keeper,
 * which ends pasta when we ask for it, and when that init is gone. Never takes
 * longer than until the deadline (base/clock.h).
 */
int dw_pasta_start(int target, uint64_t deadline_ms, int *ret_pid, struct dw_error *err);

/* Accepts 0. */
void dw_pasta_stop(int pid);

#endif
