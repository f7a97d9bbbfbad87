/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

static const char alphabet[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *dw_base64_encode(const void *data, size_t len, size_t *ret_len)
{
	const uint8_t *s = data;
	size_t size, i, left;
	uint32_t bits;
	char *text, *p;

	if (__builtin_mul_overflow(len / 3 + 1, 4, &size) ||
	    __builtin_add_overflow(size, 1, &size))
		return NULL;
	text = malloc(size);
	if (!text)
		return NULL;

	p = text;
	for (i = 0; i < len; i += 3) {
		left = len - i;
		bits = (uint32_t)s[i] << 16;
		if (left > 1)
			bits |= (uint32_t)s[i + 1] << 8;
		if (left > 2)
			bits |= s[i + 2];
		*p++ = alphabet[bits >> 18];
		*p++ = alphabet[bits >> 12 & 63];
		*p++ = left > 1 ? alphabet[bits >> 6 & 63] : '=';
		*p++ = left > 2 ? alphabet[bits & 63] : '=';
	}
	*p = '\0';
	if (ret_len)
		*ret_len = (size_t)(p - text);
	return text;
}

size_t dw_base64_room(size_t text_len)
{
	return text_len / 4 * 3;
}

/* 0 to 63, or -1. */
static int value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

int dw_base64_decode(const char *text, size_t len, void *data, size_t *ret_len)
{
	uint8_t *out = data;
	size_t i, j, n;
	uint32_t bits;
	int value;

	if (len % 4 != 0)
		return -EINVAL;

	for (i = 0; i < len; i += 4) {
		/* Only in the last group may fewer than four characters carry bits. */
		n = 4;
		if (i + 4 == len && text[i + 3] == '=')
			n = text[i + 2] == '=' ? 2 : 3;
		bits = 0;
		for (j = 0; j < n; j++) {
			value = value_of(text[i + j]);
			if (value < 0)
				return -EINVAL;
			bits |= (uint32_t)value << (18 - 6 * j);
		}
		/* Bits that no byte takes must be 0, or two texts would mean the same. */
		if ((bits & (0xffffffU >> (8 * (n - 1)))) != 0)
			return -EINVAL;
		for (j = 0; j + 1 < n; j++)
			*out++ = (uint8_t)(bits >> (16 - 8 * j));
	}
	*ret_len = (size_t)(out - (uint8_t *)data);
	return 0;
}
