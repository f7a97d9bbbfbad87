/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_UTF8_H
#define DW_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns true for valid UTF-8: no surrogates, overlong forms or code points past U+10FFFF. */
bool dw_utf8_valid(const char *data, size_t len);

/*
 * Copy the text, with each invalid byte and each truncated character replaced by one
 * U+FFFD; NULs stay. free() the copy; NULL without memory.
 */
char *dw_utf8_clean(const char *data, size_t len, size_t *ret_len);

/*
 * Decode the character at the start of data; len is at least 1. Returns its length in
 * bytes. If no valid character starts there, *ret is DW_UTF8_INVALID, and the length is
 * that of the bytes which dw_utf8_clean() replaces by one U+FFFD.
 */
#define DW_UTF8_INVALID UINT32_MAX
size_t dw_utf8_decode(const char *data, size_t len, uint32_t *ret);

/*
 * Returns true for a character that a terminal hides or interprets: a control character, a
 * mark that changes the writing direction, or a character without width.
 */
bool dw_utf8_is_invisible(uint32_t c);

/*
 * The number of bytes at the end that may begin an incomplete character. A text that is
 * split before them can be cleaned piece by piece.
 */
size_t dw_utf8_unfinished(const char *data, size_t len);

#endif
