/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/task.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "audit/record.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/id.h"
#include "base/utf8.h"
#include "daemon/service.h"
#include "daemon/task_own.h"

struct dw_task *dw_task_new(struct dw_service *service, struct dw_request *req,
                            const struct dw_task_config *config)
{
	struct dw_task *task = calloc(1, sizeof(*task));
	bool no_id = false;

	if (!task) {
		dw_request_finish(req);
		return NULL;
	}
	(void)pthread_mutex_init(&task->lock, NULL);
	task->service = service;
	task->refs = 1;
	task->door = config->door;
	task->caller = *config->caller;
	task->keep = config->keep;
	task->claimed = config->claimed;
	task->on_event = config->on_event;
	task->user = config->user;
	if (config->traceparent)
		(void)snprintf(task->traceparent, sizeof(task->traceparent), "%s",
		               config->traceparent);
	if (config->id)
		(void)snprintf(task->id, sizeof(task->id), "%s", config->id);
	else if (dw_id_make(task->id, NULL) < 0)
		no_id = true;
	task->req = *req;
	task->req.id = task->id;
	dw_request_init(req);
	task->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	task->req.cancel_fd = task->cancel_fd;
	if (task->cancel_fd < 0 || no_id) {
		dw_task_unref(task);
		return NULL;
	}
	return task;
}

struct dw_task *dw_task_ref(struct dw_task *task)
{
	atomic_fetch_add(&task->refs, 1);
	return task;
}

void dw_task_unref(struct dw_task *task)
{
	if (!task || atomic_fetch_sub(&task->refs, 1) > 1)
		return;
	dw_request_finish(&task->req);
	dw_conduct_finish(&task->run);
	dw_result_free(task->res);
	free(task->json);
	dw_fd_close(&task->cancel_fd);
	(void)pthread_mutex_destroy(&task->lock);
	free(task);
}

void dw_task_tell(struct dw_task *task, enum dw_task_event event, enum dw_stream stream,
                  const void *data, size_t len)
{
	(void)pthread_mutex_lock(&task->lock);
	if (task->on_event)
		task->on_event(task->user, task, event, stream, data, len);
	(void)pthread_mutex_unlock(&task->lock);
}

void dw_task_mute(struct dw_task *task)
{
	(void)pthread_mutex_lock(&task->lock);
	task->on_event = NULL;
	(void)pthread_mutex_unlock(&task->lock);
}

void dw_task_end(struct dw_task *task, struct dw_result *res)
{
	char *json = res ? dw_result_to_json(res) : NULL;

	if (res && !json) {
		dw_result_free(res);
		res = NULL;
		(void)dw_api_fail(&task->why, 500, "",
		                  "cannot write the result: out of memory");
	}
	(void)pthread_mutex_lock(&task->lock);
	task->res = res;
	task->json = json;
	task->done_ms = dw_now_ms();
	task->bytes = sizeof(*task) + (json ? strlen(json) : 0);
	for (int i = 0; res && i < DW_STREAM_COUNT; i++)
		task->bytes += res->out_len[i];
	for (size_t i = 0; res && i < res->n_files; i++)
		task->bytes += res->files[i].len;
	/* Free the request, which is not needed any more and may be large. */
	dw_request_finish(&task->req);
	dw_conduct_finish(&task->run);
	dw_service_unclaim(task->service, task->claimed);
	/* Set the state last: a thread that sees DW_TASK_DONE may read all fields. */
	atomic_store(&task->state, DW_TASK_DONE);
	if (task->on_event)
		task->on_event(task->user, task, DW_TASK_ENDED, DW_STDOUT, NULL, 0);
	(void)pthread_mutex_unlock(&task->lock);
}

const char *dw_task_id(const struct dw_task *task)
{
	return task->id;
}

const char *dw_task_state(const struct dw_task *task)
{
	static const char *const names[] = {
		[DW_TASK_QUEUED] = "queued",
		[DW_TASK_RUNNING] = "running",
		[DW_TASK_WAITING] = "pending",
		[DW_TASK_DONE] = "done",
	};

	return names[atomic_load(&task->state)];
}

void dw_task_approval(struct dw_task *task, struct dw_task_approval *ret)
{
	(void)pthread_mutex_lock(&task->lock);
	*ret = task->approval;
	(void)pthread_mutex_unlock(&task->lock);
}

char *dw_task_approval_json(const struct dw_task_approval *approval)
{
	autofree char *rule = NULL, *reason = NULL;
	char expires[DW_AUDIT_TIME_MAX];
	json_auto_t *root = NULL;
	size_t len;

	/* The strings may have been cut in the middle of a character. */
	rule = dw_utf8_clean(approval->rule, strlen(approval->rule), &len);
	reason = dw_utf8_clean(approval->reason, strlen(approval->reason), &len);
	dw_audit_time_text(approval->expires_us, expires);
	root = json_pack("{s:s, s:s, s:s, s:s}", "id", approval->id, "expires", expires,
	                 "rule", rule ? rule : "", "reason", reason ? reason : "");
	return root ? json_dumps(root, JSON_COMPACT) : NULL;
}

const struct dw_result *dw_task_result(const struct dw_task *task,
                                       struct dw_api_error *why)
{
	if (!task->res && why)
		*why = task->why;
	return task->res;
}

const char *dw_task_json(const struct dw_task *task)
{
	return task->json;
}
