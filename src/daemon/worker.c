/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "daemon/log.h"
#include "daemon/service_own.h"
#include "dewar/dewar.h"
#include "request/request.h"

#define WAIT_THAT_COUNTS_MS 100U /* a shorter wait is not worth a warning */

static void on_output(void *user, enum dw_stream stream, const void *data, size_t len)
{
	dw_task_tell(user, DW_TASK_OUTPUT, stream, data, len);
}

static void on_note(void *user, const char *text)
{
	dw_task_tell(user, DW_TASK_NOTE, DW_STDERR, text, strlen(text));
}

static double seconds(uint64_t from_ns, uint64_t to_ns)
{
	return (double)(to_ns - from_ns) / 1e9;
}

/*
 * Update the metrics of the audit record, and log an outcome that could not be written.
 */
static void count_record(struct dw_service *s, const struct dw_task *task)
{
	const struct dw_conduct *run = &task->run;

	if (run->intended)
		dw_metrics_audit(s->metrics, DW_METRICS_INTENT,
		                 (double)run->intent_ns / 1e9);
	else if (!run->res && run->step == DW_CONDUCT_INTENT)
		dw_metrics_audit_failed(s->metrics);
	if (!run->intended)
		return;
	if (run->unrecorded.code == DW_OK) {
		dw_metrics_audit(s->metrics, DW_METRICS_OUTCOME,
		                 (double)run->outcome_ns / 1e9);
		return;
	}
	dw_metrics_audit_failed(s->metrics);
	dw_log(DW_LOG_ERROR, "audit.outcome_failed", "run", task->id, "error",
	       run->unrecorded.text, NULL);
}

static void count_run(struct dw_service *s, const struct dw_task *task,
                      const struct dw_result *res)
{
	const char *language = task->req.language ? dw_language_name(task->req.language)
	                                          : NULL;
	double ran = res->execution_time_ms < 0 ? -1 : res->execution_time_ms / 1e3;
	struct dw_metrics_run run = {
		.language = language ? language : "sh",
		.level = res->proof.achieved,
		.status = dw_status_name(res->status),
		.reason = dw_reason_name(res->reason),
		.way = res->warm ? "warm" : "cold",
		.queue_s = seconds(task->counts_ns, task->admitted_ns),
		.start_s = ran < 0 ? -1 : seconds(task->started_ns, task->ended_ns) - ran,
		.run_s = ran,
	};

	dw_metrics_run(s->metrics, &run);
}

void dw_worker_log(const struct dw_task *task, const struct dw_result *res)
{
	char ms[32];

	(void)snprintf(ms, sizeof(ms), "%.1f",
	               seconds(task->arrived_ns, dw_now_ns()) * 1e3);
	dw_log(DW_LOG_INFO, res ? "run.ended" : "run.refused", "run", task->id, "who",
	       task->caller.who, "door", task->door, "status",
	       res ? dw_status_name(res->status) : "refused", "reason",
	       res ? dw_reason_name(res->reason) : task->why.code, "ms", ms,
	       "traceparent", task->traceparent[0] ? task->traceparent : NULL, NULL);
}

static uint64_t waited_ms(const struct dw_task *task, uint64_t now_ns)
{
	return (now_ns - task->counts_ns) / 1000000;
}

bool dw_worker_in_time(struct dw_task *task, uint64_t now_ns)
{
	if (waited_ms(task, now_ns) < task->timeout_ms)
		return true;
	(void)dw_api_fail(&task->why, 429, "retry later, or with a longer timeout",
	                  "busy: the run's timeout of %.1f s passed in the queue",
	                  (double)task->timeout_ms / 1e3);
	task->why.retry_after_s = 1;
	return false;
}

/*
 * The policy may have raised the level: the daemon and the key must allow the new level
 * too, and the config may set another image for it.
 */
static int check_raised(struct dw_service *s, struct dw_task *task,
                        struct dw_request *req)
{
	const struct dw_decision *decision = &task->run.permission.decision;
	const char *image;
	int r;

	if (req->image == task->image)
		req->image = NULL;
	(void)pthread_mutex_lock(&s->lock);
	r = dw_ceilings_check(&s->ceilings, &task->caller, req, &task->why);
	image = dw_ceilings_image(&s->ceilings, req);
	if (r == 0 && image) {
		(void)snprintf(task->image, sizeof(task->image), "%s", image);
		req->image = task->image;
	}
	(void)pthread_mutex_unlock(&s->lock);
	if (r < 0)
		(void)snprintf(task->why.hint, sizeof(task->why.hint),
		               "the policy's rule %.100s raises its level to %.64s",
		               decision->raised_by, decision->level);
	return r;
}

static int on_admit(struct dw_conduct *run, bool asking, struct dw_error *err)
{
	struct dw_task *task = run->user;

	if (run->permission.decision.level[0] != '\0' &&
	    check_raised(task->service, task, &run->req) < 0)
		return dw_fail(err, DW_E_DENIED, 0, "%s (%s)", task->why.message,
		               task->why.hint);
	if (asking)
		return dw_approval_queue_room(task->service, task, err);
	/* The time that the policy took counts toward the timeout. */
	task->admitted_ns = dw_now_ns();
	if (!dw_worker_in_time(task, task->admitted_ns))
		return dw_fail(err, DW_E_BUSY, 0, "%s", task->why.message);
	return 0;
}

/* Run the program in the time that is left. */
static int on_execute(struct dw_conduct *run, struct dw_result **ret,
                      struct dw_error *err)
{
	struct dw_task *task = run->user;
	struct dw_service *s = task->service;
	struct dw_request *req = &run->req;
	/* The time to write the intent does not count toward the run's timeout. */
	uint64_t waited = waited_ms(task, task->admitted_ns);
	int r;

	task->started_ns = dw_now_ns();
	dw_task_tell(task, DW_TASK_STARTED, DW_STDOUT, NULL, 0);
	if (waited >= WAIT_THAT_COUNTS_MS)
		req->limits.timeout_ms = waited < task->timeout_ms
		                                 ? task->timeout_ms - waited
		                                 : 1;
	req->yields = task->yields;
	req->on_output = on_output;
	req->on_note = on_note;
	req->user = task;
	r = s->pool ? dw_pool_run(s->pool, req, ret, err) : dw_run(req, ret, err);
	task->ended_ns = dw_now_ns();
	if (r < 0)
		return -1;
	if (waited >= WAIT_THAT_COUNTS_MS)
		dw_warn(*ret,
		        "the run waited %.1f s in the queue, which counts toward its "
		        "timeout of %.1f s",
		        (double)waited / 1e3, (double)task->timeout_ms / 1e3);
	if (req->yields)
		dw_warn(*ret,
		        "a run of this key reached its limit of processes less than %u "
		        "s ago: this run yields to runs of other keys",
		        DW_UNRULY_MS / 1000);
	return 0;
}

/* Set the error for the client of a run that ended without a result. */
static void explain(struct dw_service *s, struct dw_task *task)
{
	const struct dw_conduct *run = &task->run;

	if (task->why.status != 0)
		return; /* on_admit() has set it */
	if (run->step != DW_CONDUCT_INTENT) {
		(void)dw_api_fail_with(&task->why, &run->error);
		return;
	}
	s->audit_down_ms = dw_now_ms();
	dw_log(DW_LOG_ERROR, "audit.intent_failed", "run", task->id, "error",
	       run->error.text, NULL);
	(void)dw_api_fail(&task->why, 503, "check the disk of the audit record", "%s",
	                  run->error.text);
	task->why.retry_after_s = 5;
}

/* Returns false if the task waits for an approval. */
static bool conduct(struct dw_service *s, struct dw_task *task)
{
	struct dw_conduct *run = &task->run;
	bool decided = run->decided, ended;

	run->door = task->door;
	run->who = task->caller.who;
	run->asked = &task->req;
	run->admit = on_admit;
	run->execute = on_execute;
	run->user = task;
	ended = dw_conduct(s->conductor, run);
	if (!decided && run->decided)
		dw_metrics_decision(s->metrics, run->permission.decided);
	if (run->intended)
		s->audit_down_ms = 0;
	return ended;
}

void dw_worker_abandon(struct dw_service *s, struct dw_task *task)
{
	dw_metrics_refused(s->metrics, task->why.status);
}

bool dw_worker(struct dw_service *s, struct dw_task *task, struct dw_result **ret)
{
	task->admitted_ns = task->started_ns = task->ended_ns = dw_now_ns();
	if (!dw_worker_in_time(task, task->admitted_ns)) {
		dw_worker_abandon(s, task);
		return true;
	}
	if (!conduct(s, task))
		return false;
	count_record(s, task);
	if (!task->run.res)
		explain(s, task);
	*ret = TAKE_PTR(task->run.res);
	if (*ret)
		count_run(s, task, *ret);
	else
		dw_metrics_refused(s->metrics, task->why.status);
	return true;
}
