/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "fakes/fake_task.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/service.h"

struct dw_task {
	unsigned refs;
	char id[DW_ID_MAX];
	char traceparent[64];
	struct dw_request req;
	struct dw_caller caller;
	struct dw_task_config config;
	struct dw_result *res;
	char *json;
	bool done, cancelled;
};

static struct dw_task *last, *kept;
static const struct dw_api_error *refusal;
static bool at_once;
static size_t alive, made;
static char decided[512];

struct dw_task *fake_task_last(void)
{
	return last;
}

void fake_task_refuse(const struct dw_api_error *why)
{
	refusal = why;
}

void fake_task_at_once(bool yes)
{
	at_once = yes;
}

const struct dw_request *fake_task_request(const struct dw_task *task)
{
	return &task->req;
}

const char *fake_task_traceparent(const struct dw_task *task)
{
	return task->traceparent;
}

size_t fake_task_alive(void)
{
	return alive;
}

void fake_task_forget(void)
{
	struct dw_task *task = kept;

	decided[0] = '\0';
	kept = NULL;
	dw_task_unref(task);
}

int dw_task_start(struct dw_service *service, struct dw_request *req,
                  const struct dw_task_config *config, struct dw_task **ret,
                  struct dw_api_error *why)
{
	struct dw_task *task;

	(void)service;
	if (refusal) {
		*why = *refusal;
		dw_request_finish(req);
		return -1;
	}
	task = calloc(1, sizeof(*task));
	assert(task);
	(void)snprintf(task->id, sizeof(task->id), "%032zx", ++made);
	(void)snprintf(task->traceparent, sizeof(task->traceparent), "%s",
	               config->traceparent ? config->traceparent : "");
	task->req = *req;
	dw_request_init(req);
	task->caller = *config->caller;
	task->config = *config;
	task->refs = 2; /* the caller's, and the run's own */
	alive++;
	last = task;
	*ret = task;
	if (at_once) {
		fake_task_started(task);
		fake_task_output(task, "1\n");
		fake_task_end(task, fake_result("1\n", ""));
	}
	return 0;
}

void fake_task_started(struct dw_task *task)
{
	task->config.on_event(task->config.user, task, DW_TASK_STARTED, DW_STDOUT, NULL,
	                      0);
}

void fake_task_pending(struct dw_task *task, const struct dw_task_approval *approval)
{
	task->config.on_event(task->config.user, task, DW_TASK_PENDING, DW_STDOUT,
	                      approval, sizeof(*approval));
}

void dw_service_decide(struct dw_service *service, const char *approval, const char *who,
                       bool yes, const char *note)
{
	(void)service;
	(void)snprintf(decided, sizeof(decided), "%s %s %s %s", approval, who,
	               yes ? "yes" : "no", note ? note : "-");
}

const char *fake_task_decided(void)
{
	return decided;
}

void fake_task_output(struct dw_task *task, const char *text)
{
	task->config.on_event(task->config.user, task, DW_TASK_OUTPUT, DW_STDOUT, text,
	                      strlen(text));
}

void fake_task_end(struct dw_task *task, struct dw_result *res)
{
	assert(!task->done);
	task->done = true;
	task->res = res;
	if (res) {
		memcpy(res->id, task->id, sizeof(res->id));
		task->json = dw_result_to_json(res);
	}
	task->config.on_event(task->config.user, task, DW_TASK_ENDED, DW_STDOUT, NULL, 0);
	if (task->config.keep) {
		fake_task_forget();
		kept = dw_task_ref(task);
	}
	dw_task_unref(task);
}

void dw_task_cancel(struct dw_task *task)
{
	struct dw_result *res;

	if (task->cancelled || task->done)
		return;
	task->cancelled = true;
	res = fake_result("", "");
	res->status = DW_STATUS_ERROR;
	res->reason = DW_REASON_CANCELLED;
	fake_task_end(task, res);
}

struct dw_task *dw_task_ref(struct dw_task *task)
{
	task->refs++;
	return task;
}

void dw_task_unref(struct dw_task *task)
{
	if (!task || --task->refs > 0)
		return;
	if (task == last)
		last = NULL;
	dw_request_finish(&task->req);
	dw_result_free(task->res);
	free(task->json);
	free(task);
	alive--;
}

struct dw_task *dw_task_find(struct dw_service *service, const struct dw_caller *caller,
                             const char *id)
{
	(void)service;
	if (!kept || strcmp(kept->id, id) != 0 ||
	    strcmp(kept->caller.who, caller->who) != 0)
		return NULL;
	return dw_task_ref(kept);
}

const char *dw_task_id(const struct dw_task *task)
{
	return task->id;
}

const char *dw_task_state(const struct dw_task *task)
{
	return task->done ? "done" : "running";
}

const struct dw_result *dw_task_result(const struct dw_task *task,
                                       struct dw_api_error *why)
{
	if (!task->res && why)
		(void)dw_api_fail(why, 503, "try again later", "the queue took too long");
	return task->res;
}

const char *dw_task_json(const struct dw_task *task)
{
	return task->json;
}

/* ---- results ---- */

struct dw_result *fake_result(const char *out, const char *err)
{
	struct dw_result *res = calloc(1, sizeof(*res));

	assert(res);
	res->out[DW_STDOUT] = strdup(out);
	res->out[DW_STDERR] = strdup(err);
	assert(res->out[DW_STDOUT] && res->out[DW_STDERR]);
	res->out_len[DW_STDOUT] = strlen(out);
	res->out_len[DW_STDERR] = strlen(err);
	res->ok = true;
	(void)snprintf(res->proof.requested, sizeof(res->proof.requested), "container");
	(void)snprintf(res->proof.achieved, sizeof(res->proof.achieved), "container");
	return res;
}

void fake_result_file(struct dw_result *res, const char *name, const void *data,
                      size_t len)
{
	struct dw_file_out *files;

	files = realloc(res->files, (res->n_files + 1) * sizeof(*files));
	assert(files);
	res->files = files;
	files[res->n_files] = (struct dw_file_out){.name = strdup(name), .len = len};
	files[res->n_files].data = malloc(len + 1);
	assert(files[res->n_files].name && files[res->n_files].data);
	memcpy(files[res->n_files].data, data, len);
	res->n_files++;
}
