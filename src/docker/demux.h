/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DOCKER_DEMUX_H
#define DW_DOCKER_DEMUX_H

#include <stddef.h>
#include <stdint.h>

#include "wire/guest.h"

/*
 * Two layers of framing, taken off as bytes come, in whatever pieces.
 *
 * An engine wraps what a container writes: a byte for the stream, three of zero,
 * four for the length (the highest first), and the bytes. Inside, standard output
 * is the guest's (wire/guest.h), and standard error is whatever a runtime has to
 * say before there is a guest.
 */
typedef int dw_demux_frame_fn(void *user, const struct dw_guest_frame *frame,
                              const char *payload);
typedef void dw_demux_text_fn(void *user, const char *data, size_t len);

struct dw_demux {
	dw_demux_frame_fn *on_frame;
	dw_demux_text_fn *on_text;
	void *user;
	/* the rest is the demultiplexer's own */
	unsigned char head[8];
	size_t n_head;
	uint32_t left; /* of the engine's frame */
	struct dw_guest_frame frame;
	size_t n_frame; /* of its header and payload */
	char payload[DW_GUEST_PAYLOAD_MAX];
};

/*
 * 0, or -EPROTO for what neither an engine nor a guest would send, or what
 * on_frame returned if that is negative.
 */
int dw_demux_feed(struct dw_demux *d, const char *data, size_t len);

#endif
