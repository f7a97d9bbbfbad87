/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/lock.h"
#include "mcp/mcp_own.h"

struct batch {
	pthread_mutex_t lock;
	unsigned refs; /* one per message, and one held by dw_mcp_batch_take() */
	struct dw_buf answers;
	struct dw_mcp_sink sink;
};

/* The caller holds the lock. */
static void add_answer(struct batch *batch, const char *text)
{
	(void)dw_buf_puts(&batch->answers, batch->answers.len > 0 ? "," : "[");
	(void)dw_buf_puts(&batch->answers, text);
}

static void on_send(void *user, struct dw_mcp_out *out)
{
	struct batch *batch = user;

	HOLD_LOCK(&batch->lock);
	if (out->answer) {
		add_answer(batch, out->text);
		free(out->text);
	} else {
		batch->sink.send(batch->sink.user, out);
	}
}

static void on_done(void *user)
{
	struct batch *batch = user;
	struct dw_mcp_out out = {.answer = true, .status = 200};
	bool last;

	(void)pthread_mutex_lock(&batch->lock);
	last = --batch->refs == 0;
	(void)pthread_mutex_unlock(&batch->lock);
	if (!last)
		return;
	if (batch->answers.len > 0)
		(void)dw_buf_puts(&batch->answers, "]");
	if (batch->answers.len > 0 && !batch->answers.failed)
		out.text = dw_buf_take(&batch->answers, &out.len);
	if (out.text)
		batch->sink.send(batch->sink.user, &out);
	batch->sink.done(batch->sink.user);
	dw_buf_finish(&batch->answers);
	(void)pthread_mutex_destroy(&batch->lock);
	free(batch);
}

static void take_one(struct batch *batch, struct dw_mcp_peer *peer, json_t *root)
{
	const struct dw_mcp_sink sink = {.send = on_send, .done = on_done, .user = batch};
	struct dw_mcp_message *msg = NULL;
	char *error = NULL;

	if (dw_mcp_message_of(json_incref(root), &msg, &error) < 0) {
		(void)pthread_mutex_lock(&batch->lock);
		if (error)
			add_answer(batch, error);
		(void)pthread_mutex_unlock(&batch->lock);
		free(error);
		return;
	}
	(void)pthread_mutex_lock(&batch->lock);
	batch->refs++;
	(void)pthread_mutex_unlock(&batch->lock);
	dw_mcp_peer_take(peer, msg, &sink);
}

void dw_mcp_batch_take(struct dw_mcp_peer *peer, struct dw_mcp_message *msg,
                       const struct dw_mcp_sink *sink)
{
	struct batch *batch = calloc(1, sizeof(*batch));

	if (!batch) {
		dw_mcp_message_free(msg);
		sink->done(sink->user);
		return;
	}
	(void)pthread_mutex_init(&batch->lock, NULL);
	dw_buf_init(&batch->answers, SIZE_MAX / 2);
	batch->refs = 1;
	batch->sink = *sink;
	for (size_t i = 0; i < json_array_size(msg->root); i++)
		take_one(batch, peer, json_array_get(msg->root, i));
	dw_mcp_message_free(msg);
	on_done(batch);
}
