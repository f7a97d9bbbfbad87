/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error_json.h"
#include "base/utf8.h"
#include "http/headers.h"
#include "http/http_own.h"

/*
 * Send a run as server-sent events, or as one line of JSON per event: start, pending,
 * stdout, stderr, note, and finally result or error.
 */

/* The first bytes of a UTF-8 character whose other bytes have not arrived yet. */
struct tail {
	char bytes[4];
	size_t n;
};

struct stream {
	struct dw_exchange *x;
	enum dw_stream_form form;
	struct tail tails[DW_STREAM_COUNT];
};

enum dw_stream_form dw_stream_form(const char *accept)
{
	if (accept && dw_headers_accepts(accept, "text/event-stream"))
		return DW_STREAM_EVENTS;
	if (accept && (dw_headers_accepts(accept, "application/x-ndjson") ||
	               dw_headers_accepts(accept, "application/jsonl")))
		return DW_STREAM_LINES;
	return DW_STREAM_NONE;
}

const char *dw_stream_type(enum dw_stream_form form)
{
	return form == DW_STREAM_EVENTS ? "text/event-stream" : "application/x-ndjson";
}

/* data is one line of JSON. */
static void send_event(struct stream *s, const char *event, const char *data)
{
	autobuf struct dw_buf text;

	dw_buf_init(&text, SIZE_MAX / 2);
	(void)dw_buf_printf(&text,
	                    s->form == DW_STREAM_EVENTS ? "event: %s\ndata: "
	                                                : "{\"event\":\"%s\",\"data\":",
	                    event);
	(void)dw_buf_puts(&text, data);
	(void)dw_buf_puts(&text, s->form == DW_STREAM_EVENTS ? "\n\n" : "}\n");
	if (!text.failed)
		dw_stream_add(s->x, text.data, text.len);
}

static void send_text(struct stream *s, const char *event, const char *data, size_t len)
{
	json_auto_t *root = json_pack("{s:o}", "text", dw_json_text(data, len));
	autofree char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	if (text)
		send_event(s, event, text);
}

static const char *const names[] = {[DW_STDOUT] = "stdout", [DW_STDERR] = "stderr"};

static void send_output(struct stream *s, enum dw_stream stream, const char *data,
                        size_t len)
{
	struct tail *tail = &s->tails[stream];
	autobuf struct dw_buf text;
	size_t rest;

	dw_buf_init(&text, SIZE_MAX / 2);
	(void)dw_buf_add(&text, tail->bytes, tail->n);
	(void)dw_buf_add(&text, data, len);
	if (text.failed)
		return; /* the result contains all output */
	rest = dw_utf8_unfinished(text.data, text.len);
	memcpy(tail->bytes, text.data + text.len - rest, rest);
	tail->n = rest;
	if (text.len > rest)
		send_text(s, names[stream], text.data, text.len - rest);
}

static void send_end(struct stream *s, const struct dw_task *task)
{
	autofree char *error = NULL;
	struct dw_api_error why;

	for (int i = 0; i < DW_STREAM_COUNT; i++)
		if (s->tails[i].n > 0)
			send_text(s, names[i], s->tails[i].bytes, s->tails[i].n);
	if (dw_task_result(task, &why)) {
		send_event(s, "result", dw_task_json(task));
	} else {
		error = dw_api_error_to_json(&why);
		send_event(s, "error", error ? error : "{}");
	}
	dw_stream_end(s->x);
}

static void send_pending(struct stream *s, const struct dw_task *task,
                         const struct dw_task_approval *approval)
{
	autofree char *json = dw_task_approval_json(approval);
	autobuf struct dw_buf text;

	dw_buf_init(&text, SIZE_MAX / 2);
	(void)dw_buf_printf(&text, "{\"id\":\"%s\",\"approval\":%s}", dw_task_id(task),
	                    json ? json : "null");
	if (!text.failed)
		send_event(s, "pending", text.data);
}

static void on_event(void *user, struct dw_task *task, enum dw_task_event event,
                     enum dw_stream stream, const void *data, size_t len)
{
	struct stream *s = user;
	char text[64];

	switch (event) {
	case DW_TASK_STARTED:
		(void)snprintf(text, sizeof(text), "{\"id\":\"%s\"}", dw_task_id(task));
		send_event(s, "start", text);
		break;
	case DW_TASK_PENDING:
		send_pending(s, task, data);
		break;
	case DW_TASK_OUTPUT:
		send_output(s, stream, data, len);
		break;
	case DW_TASK_NOTE:
		send_text(s, "note", data, len);
		break;
	case DW_TASK_ENDED:
		send_end(s, task);
		break;
	}
}

int dw_stream_open(struct dw_exchange *x, enum dw_stream_form form, dw_task_fn **ret_fn,
                   void **ret_user)
{
	struct stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -1;
	s->x = x;
	s->form = form;
	x->state = s;
	x->free_state = free;
	*ret_fn = on_event;
	*ret_user = s;
	return 0;
}
