/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_ORACLES_H
#define DW_VERIFY_ORACLES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The oracles that look at an attack's processes, or compare what it said with
 * what the host is. Each takes the line of the attack's file, says whether it is
 * met, and what was seen, in ret; one that is not of its kind is not met.
 * attacks/README.md explains them.
 */

/* "held status ^Seccomp:.0", while it holds. */
bool dw_held_meets(const char *nonce, const char *oracle, char *ret, size_t size);

/* "count processes > 40", while it holds. */
bool dw_count_meets(const char *nonce, const char *oracle, char *ret, size_t size);

/* "host boot-id", in what it said. */
bool dw_told_meets(const char *said, const char *oracle, char *ret, size_t size);

/* The host's own name or number in what it said: whoever looks is outside. */
bool dw_told_names(const char *said, char *ret, size_t size);

#endif
