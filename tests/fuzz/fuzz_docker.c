/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input: the sizes of the pieces, then the stream of a container, wrapped by an engine.
 * The frames are the same however the stream is split, and none is too long.
 */
#undef NDEBUG
#include "docker/docker_own.h"

#include <errno.h>

#include "fuzz/fuzz.h"

struct seen {
	uint64_t sum;
	unsigned frames;
};

static void add(struct seen *s, const void *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		s->sum = s->sum * 31 + ((const unsigned char *)data)[i];
}

static int on_frame(void *user, const struct dw_guest_frame *frame, const char *payload)
{
	struct seen *s = user;

	assert(frame->kind > 0 && frame->kind < DW_GUEST_KIND_COUNT);
	assert(frame->len <= DW_GUEST_PAYLOAD_MAX);
	add(s, frame, sizeof(*frame));
	add(s, payload, frame->len);
	s->frames++;
	return 0;
}

static void on_text(void *user, const char *data, size_t len)
{
	(void)user;
	(void)data;
	assert(len > 0 || data);
}

static int feed(const uint8_t *data, size_t size, size_t step, struct seen *ret)
{
	static struct dw_demux d;
	int r = 0;

	memset(&d, 0, sizeof(d));
	d.on_frame = on_frame;
	d.on_text = on_text;
	d.user = ret;
	for (size_t at = 0; at < size && r == 0; at += step)
		r = dw_demux_feed(&d, (const char *)data + at,
		                  size - at < step ? size - at : step);
	assert(r == 0 || r == -EPROTO);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	size_t step = fuzz_byte(&in) + 1U;
	struct seen whole = {0}, cut = {0};
	int r = in.size == 0 ? 0 : feed(in.data, in.size, in.size, &whole);

	assert(feed(in.data, in.size, step, &cut) == r);
	assert(cut.frames == whole.frames && cut.sum == whole.sum);
	return 0;
}
