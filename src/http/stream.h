/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_HTTP_STREAM_H
#define DW_HTTP_STREAM_H

#include "http/http.h"

/*
 * A run as it goes on, as server-sent events or as a line of JSON an event:
 * start, stdout, stderr, note, and at last result or error.
 */
enum dw_stream_form {
	DW_STREAM_NONE = 0,
	DW_STREAM_EVENTS, /* text/event-stream */
	DW_STREAM_LINES,  /* application/x-ndjson */
};

/* What the header Accept asks for; NULL for none. */
enum dw_stream_form dw_stream_form(const char *accept);
const char *dw_stream_type(enum dw_stream_form form);

/* What to give to dw_task_start(); -1 without memory. */
int dw_stream_open(struct dw_exchange *x, enum dw_stream_form form, dw_task_fn **ret_fn,
                   void **ret_user);

#endif
