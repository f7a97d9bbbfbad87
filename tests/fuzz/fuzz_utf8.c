/* SPDX-License-Identifier: Apache-2.0 */
/* dw_utf8_valid() and jansson agree on what is UTF-8, and cleaned text is always UTF-8. */
#undef NDEBUG
#include "base/utf8.h"

#include <jansson.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"

/* Counts the bytes of ASCII. Cleaning must not change any, including NULs. */
static size_t count_ascii(const char *data, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += (unsigned char)data[i] < 0x80;
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = size > 0 ? (const char *)data : "";
	bool valid = dw_utf8_valid(text, size);
	json_t *theirs = json_stringn(text, size);
	autofree char *clean = NULL;
	size_t len;

	assert(valid == (theirs != NULL));
	json_decref(theirs);

	clean = dw_utf8_clean(text, size, &len);
	assert(clean && clean[len] == '\0' && dw_utf8_valid(clean, len));
	assert(count_ascii(clean, len) == count_ascii(text, size));
	assert(valid == (len == size && memcmp(clean, text, size) == 0));
	return 0;
}
