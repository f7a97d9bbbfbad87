/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_BASE64_H
#define DW_BASE_BASE64_H

#include <stddef.h>

/*
 * Base64 with the standard alphabet of RFC 4648. Each sequence of bytes has exactly
 * one encoding: padding is required, and blanks, line ends and stray bits in the last
 * character are refused.
 */

/* Encode as a NUL-terminated string; free() it. NULL without memory. */
char *dw_base64_encode(const void *data, size_t len, size_t *ret_len);

/* The largest number of bytes that a base64 string of this length can encode. */
size_t dw_base64_room(size_t text_len);

/*
 * Decode into data, which has at least dw_base64_room(len) bytes. 0, or -EINVAL if the
 * text is not entirely base64.
 */
int dw_base64_decode(const char *text, size_t len, void *data, size_t *ret_len);

#endif
