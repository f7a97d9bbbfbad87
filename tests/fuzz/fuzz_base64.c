/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes survive a round trip, and no two texts decode to the same bytes. */
#undef NDEBUG
#include "base/base64.h"

#include <errno.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *text = NULL, *bytes = NULL, *again = NULL;
	size_t text_len, len = 42, room = dw_base64_room(size);
	int r;

	text = dw_base64_encode(data, size, &text_len);
	assert(text && strlen(text) == text_len);
	bytes = malloc(dw_base64_room(text_len) + 1);
	assert(bytes && dw_base64_decode(text, text_len, bytes, &len) == 0);
	assert(len == size && (size == 0 || memcmp(bytes, data, size) == 0));

	free(bytes);
	bytes = malloc(room);
	assert(bytes || room == 0);
	len = 42;
	r = dw_base64_decode((const char *)data, size, bytes, &len);
	if (r < 0) {
		assert(r == -EINVAL && len == 42);
		return 0;
	}
	assert(len <= room);
	again = dw_base64_encode(bytes, len, &text_len);
	assert(again && text_len == size &&
	       (size == 0 || memcmp(again, data, size) == 0));
	return 0;
}
