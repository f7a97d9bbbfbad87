/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "daemon/service.h"
#include "http/http_own.h"
#include "request/request.h"

/* Returns {"id", "state"}, with "approval" if pending, "result" or "error" if done. */
static char *describe(struct dw_task *task)
{
	const char *state = dw_task_state(task);
	bool done = strcmp(state, "done") == 0;
	const char *result = done ? dw_task_json(task) : NULL;
	autofree char *error = NULL;
	autobuf struct dw_buf text;
	struct dw_api_error why;

	dw_buf_init(&text, SIZE_MAX / 2);
	(void)dw_buf_printf(&text, "{\"id\":\"%s\",\"state\":\"%s\"", dw_task_id(task),
	                    state);
	if (strcmp(state, "pending") == 0) {
		struct dw_task_approval approval;
		autofree char *json = NULL;

		dw_task_approval(task, &approval);
		json = dw_task_approval_json(&approval);
		(void)dw_buf_printf(&text, ",\"approval\":%s", json ? json : "null");
	}
	if (result) {
		(void)dw_buf_puts(&text, ",\"result\":");
		(void)dw_buf_puts(&text, result);
	} else if (done) {
		(void)dw_task_result(task, &why);
		error = dw_api_error_to_json(&why); /* {"error":...} */
		(void)dw_buf_puts(&text, error ? "," : ",\"error\":{");
		(void)dw_buf_add(&text, error ? error + 1 : "}",
		                 error ? strlen(error) - 2 : 1);
	}
	(void)dw_buf_puts(&text, "}");
	return text.failed ? NULL : dw_buf_take(&text, NULL);
}

/* Called once the run has ended. */
static void reply_result(struct dw_exchange *x)
{
	const struct dw_result *res;
	struct dw_api_error why;

	res = dw_task_result(x->task, &why);
	/* A level that this host lacks is an error; how a program ended never is. */
	if (res && !res->ok && res->reason == DW_REASON_UNAVAILABLE) {
		(void)dw_api_fail(&why, 501,
		                  "GET /v1/levels lists the levels of this host", "%s",
		                  res->hint);
		res = NULL;
	}
	if (res)
		dw_reply_json(x, 200, dw_task_json(x->task));
	else
		dw_reply_error(x, &why);
}

static void on_event(void *user, struct dw_task *task, enum dw_task_event event,
                     enum dw_stream stream, const void *data, size_t len)
{
	(void)task, (void)stream, (void)data, (void)len;
	if (event == DW_TASK_ENDED)
		dw_exchange_resume(user);
}

static void reply_accepted(struct dw_exchange *x)
{
	autofree char *text = describe(x->task);
	char where[64];

	(void)snprintf(where, sizeof(where), "/v1/runs/%s", dw_task_id(x->task));
	dw_reply_header(x, "Location", where);
	dw_reply_json(x, 202, text);
}

/* Read the request, and the key async, which is not a part of it. */
static int read_body(struct dw_exchange *x, struct dw_request *req, bool *ret_async,
                     struct dw_api_error *why)
{
	struct dw_error err = {0};
	json_auto_t *tree = NULL;
	const json_t *async;

	if (dw_exchange_check_json(x, why) < 0)
		return -1;
	tree = dw_request_tree(x->body.data ? x->body.data : "", x->body.len, &err);
	if (!tree)
		return dw_api_fail_with(why, &err);
	async = json_object_get(tree, "async");
	if (async && !json_is_boolean(async) && !json_is_null(async))
		return dw_api_fail(why, 400, NULL, "async must be true or false");
	*ret_async = json_is_true(async);
	(void)json_object_del(tree, "async");
	dw_request_init(req);
	if (dw_request_from_tree(req, TAKE_PTR(tree), &err) < 0)
		return dw_api_fail_with(why, &err);
	return 0;
}

void dw_api_run(struct dw_exchange *x)
{
	enum dw_stream_form form = dw_stream_form(dw_exchange_header(x, "Accept"));
	struct dw_task_config config = {
		.caller = &x->caller,
		.id = x->id,
		.traceparent = x->traceparent[0] ? x->traceparent : NULL,
		.door = "http",
		.on_event = on_event,
		.user = x,
		.keep = true,
	};
	struct dw_request req;
	struct dw_api_error why;
	bool async = false;

	if (read_body(x, &req, &async, &why) < 0) {
		dw_reply_error(x, &why);
		return;
	}
	config.claimed = x->claimed;
	if (async) {
		config.on_event = NULL;
	} else if (form != DW_STREAM_NONE &&
	           dw_stream_open(x, form, &config.on_event, &config.user) < 0) {
		dw_request_finish(&req);
		dw_reply_json(x, 500, NULL);
		return;
	}
	if (dw_task_start(dw_exchange_service(x), &req, &config, &x->task, &why) < 0) {
		dw_reply_error(x, &why);
		return;
	}
	x->claimed = 0; /* the task returns it to the service */
	dw_exchange_drop_body(x);
	x->detached = async;
	if (async)
		reply_accepted(x);
	else if (form != DW_STREAM_NONE)
		dw_reply_stream(x, dw_stream_type(form));
	else
		dw_exchange_suspend(x, reply_result);
}

static struct dw_task *find(struct dw_exchange *x)
{
	struct dw_task *task = dw_task_find(dw_exchange_service(x), &x->caller, x->param);
	struct dw_api_error why;

	if (task)
		return task;
	(void)dw_api_fail(&why, 404, "GET /v1/audit lists every run",
	                  "no run %.64s, or its result has expired (it is kept for %u s)",
	                  x->param, dw_service_keep_s(dw_exchange_service(x)));
	dw_reply_error(x, &why);
	return NULL;
}

void dw_api_run_get(struct dw_exchange *x)
{
	struct dw_task *task = find(x);
	autofree char *text = NULL;

	if (!task)
		return;
	text = describe(task);
	dw_task_unref(task);
	dw_reply_json(x, 200, text);
}

void dw_api_run_cancel(struct dw_exchange *x)
{
	struct dw_task *task = find(x);
	autofree char *text = NULL;
	struct dw_api_error why;

	if (!task)
		return;
	if (strcmp(dw_task_state(task), "done") == 0) {
		dw_task_unref(task);
		(void)dw_api_fail(&why, 409, "GET /v1/runs/{id} shows the result",
		                  "the run has already ended");
		dw_reply_error(x, &why);
		return;
	}
	dw_task_cancel(task);
	text = describe(task);
	dw_task_unref(task);
	dw_reply_json(x, 202, text);
}
