/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_VERIFY_HEARD_H
#define DW_VERIFY_HEARD_H

#include "verify/party.h"

/*
 * What came out of a party: hostile data, all of it.
 */

/* The result that dewar gives, or NULL: it was no cell, or it is no JSON. */
json_t *dw_heard_result(const struct dw_party *party);

/*
 * All that the party told the outside: what it printed, and what was collected.
 * Without a cell a trusting soul collects, and follows every link. free() it.
 */
char *dw_heard_text(const struct dw_party *party, const json_t *result,
                    const struct dw_attack *attack, const char *base, size_t *ret_len);

/*
 * An attack on the result ends with exit code 7; a result that says something
 * else, or has a key "forged", was forged. Without a cell the result is what a
 * careless reader would paste together.
 */
bool dw_heard_forged(const struct dw_party *party, const json_t *result);

#endif
