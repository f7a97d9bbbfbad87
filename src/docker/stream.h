/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DOCKER_STREAM_H
#define DW_DOCKER_STREAM_H

#include <stdbool.h>

#include "base/buf.h"
#include "docker/collected.h"
#include "docker/demux.h"
#include "docker/held_limits.h"
#include "wire/docker.h"
#include "wire/guest.h"
#include "wire/plan.h"

/* How far the guest is. */
enum dw_stage {
	DW_STAGE_START, /* there may be no guest yet */
	DW_STAGE_READY, /* it has said HELLO */
	DW_STAGE_RUNS,  /* WALLS */
	DW_STAGE_ENDED, /* END */
	DW_STAGE_DONE,  /* DONE, or an ERROR */
};

/* Start from {0}. */
struct dw_stream {
	int fd;
	enum dw_stage stage;
	struct dw_guest_hello hello;
	int pid;               /* of the guest, on the host; 0 if unknown */
	struct dw_held held;   /* what the kernel counts of it */
	struct dw_error error; /* the guest's */
	struct dw_docker_end end;
	struct dw_collected collected;
	char said[300]; /* on the container's stderr: a runtime that failed */
	unsigned kills; /* how often dewar said so */
	uint64_t killed_ms;
	bool dewar_gone;
	/* the rest is the stream's own */
	bool wants; /* input */
	bool input_over;
	struct dw_buf out; /* that has not been taken yet */
	size_t out_at;
	struct dw_demux demux;
};

void dw_stream_init(struct dw_stream *s);
void dw_stream_finish(struct dw_stream *s);

/* Tell dewar. Should it be gone, the next look at its socket says so. */
void dw_docker_tell(const struct dw_docker_report *report);

/* For the guest, when the stream is next pumped. */
void dw_stream_queue(struct dw_stream *s, enum dw_guest_kind kind, const void *data,
                     size_t len);

/* What is there now. -1: the stream is over, or what came is not the guest's. */
int dw_stream_take(struct dw_stream *s, struct dw_error *err);

/*
 * Until the stage is reached. -1 if that will not be: with an error, or, where we were
 * told to stop, with DW_E_BUSY.
 */
int dw_stream_pump(struct dw_stream *s, enum dw_stage until, uint64_t deadline_ms,
                   struct dw_error *err);

#endif
