/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_AUDIT_WHEN_H
#define DW_CLI_AUDIT_WHEN_H

#include <stdint.h>

#include "dewar/error.h"

/*
 * A moment as people write it: 2026-11-15, 2026-11-15T14:00, with seconds, with a Z
 * at its end (it is UTC in any case); or how long ago it was: 90s, 30m, 2h, 7d.
 * Microseconds since 1970.
 */
int dw_when_parse(const char *text, int64_t now_us, int64_t *ret_us,
                  struct dw_error *err);

#endif
