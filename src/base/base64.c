/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include <errno.h>
#include <stdlib.h>

#include <nettle/base64.h>

char *dw_base64_encode(const void *data, size_t len, size_t *ret_len)
{
	size_t size;
	char *text;

	if (__builtin_mul_overflow(len / 3 + 1, 4, &size) ||
	    __builtin_add_overflow(size, 1, &size))
		return NULL;
	text = malloc(size);
	if (!text)
		return NULL;

	size = BASE64_ENCODE_RAW_LENGTH(len);
	base64_encode_raw(text, len, data);
	text[size] = '\0';
	if (ret_len)
		*ret_len = size;
	return text;
}

size_t dw_base64_room(size_t text_len)
{
	return text_len / 4 * 3;
}

int dw_base64_decode(const char *text, size_t len, void *data, size_t *ret_len)
{
	struct base64_decode_ctx ctx;
	size_t pads = 0, n = 0;

	if (len % 4 != 0)
		return -EINVAL;
	while (pads < 2 && pads < len && text[len - 1 - pads] == '=')
		pads++;
	base64_decode_init(&ctx);
	if (!base64_decode_update(&ctx, &n, data, len, text) ||
	    !base64_decode_final(&ctx))
		return -EINVAL;
	/* Nettle skips blanks and accepts "A==="; both yield fewer bytes than that. */
	if (n != dw_base64_room(len) - pads)
		return -EINVAL;
	*ret_len = n;
	return 0;
}
