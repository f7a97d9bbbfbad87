/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_UTF8_H
#define DW_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true for valid UTF-8: no surrogates, overlong forms or code points past U+10FFFF. */
bool dw_utf8_valid(const char *data, size_t len);

/*
 * Copy the text, with each invalid byte and each truncated character replaced by one
 * U+FFFD; NULs stay. free() the copy; NULL without memory.
 */
char *dw_utf8_clean(const char *data, size_t len, size_t *ret_len);

/*
 * The number of bytes at the end that may begin an incomplete character. A text that is
 * split before them can be cleaned piece by piece.
 */
size_t dw_utf8_unfinished(const char *data, size_t len);

#endif
