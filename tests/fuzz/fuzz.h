/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_FUZZ_FUZZ_H
#define DW_FUZZ_FUZZ_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dewar/error.h"

#ifdef NDEBUG
#error "a target that asserts nothing: #undef NDEBUG comes first"
#endif

/* libFuzzer, or replay.c in its place, calls this for each input. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The rest of an input that is not consumed yet. */
struct fuzz_input {
	const uint8_t *data;
	size_t size;
};

/* Copies n bytes to ret; if fewer are left, the rest is 0. */
static inline void fuzz_take(struct fuzz_input *in, void *ret, size_t n)
{
	size_t some = n < in->size ? n : in->size;

	memset(ret, 0, n);
	if (some > 0)
		memcpy(ret, in->data, some);
	in->data += some;
	in->size -= some;
}

static inline uint8_t fuzz_byte(struct fuzz_input *in)
{
	uint8_t byte;

	fuzz_take(in, &byte, 1);
	return byte;
}

/*
 * Returns a copy of n bytes, or of all that are left, followed by a NUL. No byte more is
 * allocated, so that ASan detects a read past the end. The caller frees it.
 */
static inline char *fuzz_copy(struct fuzz_input *in, size_t n, size_t *ret_len)
{
	char *copy;

	n = n < in->size ? n : in->size;
	copy = malloc(n + 1);
	assert(copy);
	copy[n] = '\0';
	fuzz_take(in, copy, n);
	if (ret_len)
		*ret_len = n;
	return copy;
}

/* Returns the text up to the next NUL or the end. The caller frees it. */
static inline char *fuzz_text(struct fuzz_input *in)
{
	const uint8_t *end = in->size > 0 ? memchr(in->data, '\0', in->size) : NULL;
	char *text = fuzz_copy(in, end ? (size_t)(end - in->data) : in->size, NULL);

	if (end)
		(void)fuzz_byte(in);
	return text;
}

/* A refusal has a code and a reason in one line. */
static inline void fuzz_check_refusal(const struct dw_error *err)
{
	assert(err->code > DW_OK && err->code < DW_E_COUNT);
	assert(memchr(err->text, '\0', sizeof(err->text)));
	assert(err->text[0] != '\0' && !strpbrk(err->text, "\n\r\033"));
}

#endif
