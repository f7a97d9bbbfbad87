/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input: pieces of output, each after a byte with its length. Cleaning them one by one,
 * split before an unfinished character, gives the same text as cleaning them at once.
 */
#undef NDEBUG
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"

/* Handles one piece as a stream does, after the rest of the pieces before. */
static void take(struct dw_buf *sent, struct dw_buf *left, const char *piece, size_t len)
{
	autofree char *clean = NULL;
	size_t rest, n;
	char tail[4];

	(void)dw_buf_add(left, piece, len);
	rest = dw_utf8_unfinished(left->data ? left->data : "", left->len);
	assert(rest <= 3 && rest <= left->len);
	n = left->len - rest;
	if (rest > 0)
		memcpy(tail, left->data + n, rest);
	clean = dw_utf8_clean(left->data ? left->data : "", n, &n);
	assert(clean);
	(void)dw_buf_add(sent, clean, n);
	dw_buf_finish(left);
	dw_buf_init(left, SIZE_MAX / 2);
	(void)dw_buf_add(left, tail, rest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	autobuf struct dw_buf whole, sent, left;
	autofree char *clean = NULL;
	size_t len;

	dw_buf_init(&whole, SIZE_MAX / 2);
	dw_buf_init(&sent, SIZE_MAX / 2);
	dw_buf_init(&left, SIZE_MAX / 2);
	while (in.size > 0) {
		uint8_t n = fuzz_byte(&in);
		autofree char *piece = fuzz_copy(&in, n, &len);

		(void)dw_buf_add(&whole, piece, len);
		take(&sent, &left, piece, len);
	}
	clean = dw_utf8_clean(left.data ? left.data : "", left.len, &len);
	assert(clean);
	(void)dw_buf_add(&sent, clean, len);
	free(clean);
	clean = dw_utf8_clean(whole.data ? whole.data : "", whole.len, &len);
	assert(clean && len == sent.len);
	assert(len == 0 || memcmp(clean, sent.data, len) == 0);
	return 0;
}
