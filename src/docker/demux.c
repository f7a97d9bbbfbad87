/* SPDX-License-Identifier: Apache-2.0 */
#include "docker/docker_own.h"

#include <errno.h>
#include <string.h>

#define STREAM_STDOUT 1
#define STREAM_STDERR 2

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Append to a buffer of size bytes, of which *at are filled; returns the number of bytes
 * copied.
 */
static size_t fill(void *into, size_t *at, size_t size, const char *data, size_t len)
{
	size_t n = smaller(size - *at, len);

	memcpy((char *)into + *at, data, n);
	*at += n;
	return n;
}

static int feed_guest(struct dw_demux *d, const char *data, size_t len)
{
	const size_t header = sizeof(d->frame);
	size_t n, at;
	int r;

	while (len > 0) {
		if (d->n_frame < header) {
			n = fill(&d->frame, &d->n_frame, header, data, len);
		} else {
			at = d->n_frame - header;
			n = fill(d->payload, &at, d->frame.len, data, len);
			d->n_frame = header + at;
		}
		data += n;
		len -= n;
		if (d->n_frame < header)
			return 0;
		if (d->frame.kind == 0 || d->frame.kind >= DW_GUEST_KIND_COUNT ||
		    d->frame.len > sizeof(d->payload))
			return -EPROTO;
		if (d->n_frame < header + d->frame.len)
			continue;
		d->n_frame = 0;
		r = d->on_frame(d->user, &d->frame, d->payload);
		if (r < 0)
			return r;
	}
	return 0;
}

int dw_demux_feed(struct dw_demux *d, const char *data, size_t len)
{
	size_t n;
	int r;

	while (len > 0) {
		if (d->n_header < sizeof(d->header)) {
			n = fill(d->header, &d->n_header, sizeof(d->header), data, len);
			data += n;
			len -= n;
			if (d->n_header < sizeof(d->header))
				return 0;
			if ((d->header[0] != STREAM_STDOUT &&
			     d->header[0] != STREAM_STDERR) ||
			    d->header[1] != 0 || d->header[2] != 0 || d->header[3] != 0)
				return -EPROTO;
			d->left = (uint32_t)d->header[4] << 24 |
			          (uint32_t)d->header[5] << 16 |
			          (uint32_t)d->header[6] << 8 | d->header[7];
		}
		n = smaller(d->left, len);
		if (d->header[0] == STREAM_STDERR)
			d->on_text(d->user, data, n);
		r = d->header[0] == STREAM_STDERR ? 0 : feed_guest(d, data, n);
		if (r < 0)
			return r;
		data += n;
		len -= n;
		d->left -= (uint32_t)n;
		if (d->left == 0)
			d->n_header = 0;
	}
	return 0;
}
