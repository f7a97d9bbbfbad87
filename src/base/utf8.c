/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/*
 * Measure the character at the start of s. If it is valid, set *ret_valid and
 * return its length. If not, return the number of bytes (at least 1) that could
 * begin a valid character, so that a truncated character is replaced by one mark
 * and not by three. Browsers and Python do the same; the ranges are from table 3-7
 * of the Unicode Standard.
 */
static size_t measure(const uint8_t *s, size_t len, bool *ret_valid)
{
	uint8_t low = 0x80, high = 0xbf;
	size_t need, i;

	*ret_valid = false;
	if (s[0] < 0x80) {
		*ret_valid = true;
		return 1;
	}
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 1;

	need = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	switch (s[0]) {
	case 0xe0: /* overlong below */
		low = 0xa0;
		break;
	case 0xed: /* surrogates above */
		high = 0x9f;
		break;
	case 0xf0: /* overlong below */
		low = 0x90;
		break;
	case 0xf4: /* past U+10FFFF above */
		high = 0x8f;
		break;
	default:
		break;
	}
	for (i = 1; i < need; i++) {
		if (i == len || s[i] < low || s[i] > high)
			return i;
		low = 0x80;
		high = 0xbf;
	}
	*ret_valid = true;
	return need;
}

bool dw_utf8_valid(const char *data, size_t len)
{
	const uint8_t *s = (const uint8_t *)data;
	bool valid = true;

	for (size_t i = 0; valid && i < len;)
		i += measure(s + i, len - i, &valid);
	return valid;
}

char *dw_utf8_clean(const char *data, size_t len, size_t *ret_len)
{
	static const char mark[] = "\xef\xbf\xbd"; /* U+FFFD */
	const uint8_t *s = (const uint8_t *)data;
	size_t i, n, size = 0, at = 0;
	bool valid;
	char *copy;

	/* Compute the size first: 3 times len always suffices, but is rarely needed. */
	for (i = 0; i < len; i += n) {
		n = measure(s + i, len - i, &valid);
		if (__builtin_add_overflow(size, valid ? n : sizeof(mark) - 1, &size))
			return NULL;
	}
	if (__builtin_add_overflow(size, 1, &size))
		return NULL;
	copy = malloc(size);
	if (!copy)
		return NULL;

	for (i = 0; i < len; i += n) {
		n = measure(s + i, len - i, &valid);
		if (valid) {
			memcpy(copy + at, s + i, n);
			at += n;
		} else {
			memcpy(copy + at, mark, sizeof(mark) - 1);
			at += sizeof(mark) - 1;
		}
	}
	copy[at] = '\0';
	if (ret_len)
		*ret_len = at;
	return copy;
}

size_t dw_utf8_decode(const char *data, size_t len, uint32_t *ret)
{
	const uint8_t *s = (const uint8_t *)data;
	bool valid;
	size_t n = measure(s, len, &valid);

	if (!valid) {
		*ret = DW_UTF8_INVALID;
		return n;
	}
	*ret = n == 1 ? s[0] : s[0] & (0xffU >> (n + 1));
	for (size_t i = 1; i < n; i++)
		*ret = *ret << 6 | (s[i] & 0x3fU);
	return n;
}

bool dw_utf8_is_invisible(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} invisible[] = {
		{0x00, 0x1f},     {0x7f, 0x9f},       {0xad, 0xad},
		{0x34f, 0x34f},   {0x61c, 0x61c},     {0x115f, 0x1160},
		{0x17b4, 0x17b5}, {0x180b, 0x180f},   {0x200b, 0x200f},
		{0x2028, 0x202e}, {0x2060, 0x206f},   {0x3164, 0x3164},
		{0xfe00, 0xfe0f}, {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
		{0xfff0, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
	};

	for (size_t i = 0; i < ARRAY_SIZE(invisible); i++)
		if (c >= invisible[i].first && c <= invisible[i].last)
			return true;
	return false;
}

/* The length of a multibyte character with this first byte; 0 if there is no such one. */
static size_t length_by(uint8_t first)
{
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

size_t dw_utf8_unfinished(const char *data, size_t len)
{
	const uint8_t *s = (const uint8_t *)data;

	for (size_t back = 1; back <= 3 && back <= len; back++) {
		uint8_t c = s[len - back];

		if (c < 0x80 || c >= 0xc0)
			return length_by(c) > back ? back : 0;
	}
	return 0;
}
