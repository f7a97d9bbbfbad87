/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_NUM_H
#define DW_BASE_NUM_H

#include <stdint.h>

#include "dewar/error.h"

/*
 * Numbers in human-readable form. The whole text must be a number: no blanks, no sign,
 * nothing after it. On failure *ret is untouched and the error is DW_E_INVALID, with the
 * text and the accepted units.
 */

/* "42" */
int dw_parse_uint(const char *text, uint64_t max, uint64_t *ret, struct dw_error *err);

/* "512k", "1.5m", "256MB", "1g", "1GiB", "1048576": bytes; k is 1024. */
int dw_parse_size(const char *text, uint64_t *ret, struct dw_error *err);

/* "30", "30s", "1.5s", "500ms", "2m", "1h": milliseconds; a plain number is seconds. */
int dw_parse_time(const char *text, uint64_t *ret_ms, struct dw_error *err);

/* "0.5", "2", "50%": percent of one core. */
int dw_parse_cpus(const char *text, uint64_t *ret_percent, struct dw_error *err);

#endif
