/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_UTF8_H
#define DW_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Is it UTF-8 throughout (no surrogates, nothing overlong, nothing past U+10FFFF)? */
bool dw_utf8_valid(const char *data, size_t len);

/*
 * A copy in which whatever is not valid UTF-8 has become U+FFFD, one for each
 * stray byte and one for each character cut short; NULs stay. free() it; NULL
 * without memory.
 */
char *dw_utf8_clean(const char *data, size_t len, size_t *ret_len);

/*
 * How many of the last bytes may be the beginning of a character whose rest is still
 * to come. Text that is cut there and cleaned piece by piece is as if it were whole.
 */
size_t dw_utf8_unfinished(const char *data, size_t len);

#endif
