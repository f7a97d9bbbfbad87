/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/log.h"
#include "daemon/service_own.h"
#include "dewar/dewar.h"
#include "request/warnings.h"

#define WAIT_THAT_COUNTS_MS 100U /* a shorter one is nobody's concern */

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

static int record_intent(struct dw_service *s, struct dw_task *task)
{
	struct dw_audit_run run = {
		.id = task->id,
		.who = task->caller.who,
		.decision = task->passage.decided,
		.rule = task->passage.rule,
	};
	uint64_t since = dw_now_ns();
	struct dw_error err = {0};
	int r = dw_audit_intent(s->audit, &run, &task->req, &err);

	s->audit_down_ms = r < 0 ? dw_now_ms() : 0;
	if (r == 0) {
		dw_metrics_audit(s->metrics, DW_METRICS_INTENT,
		                 seconds(since, dw_now_ns()));
		return 0;
	}
	dw_metrics_audit_failed(s->metrics);
	dw_log(DW_LOG_ERROR, "no record, no run", "run", task->id, "why", err.text, NULL);
	(void)dw_api_fail(&task->why, 503, "see to the disk of the audit record",
	                  "no record, no run: %s", err.text);
	task->why.retry_after_s = 5;
	return -1;
}

void dw_worker_record(struct dw_service *s, const struct dw_task *task)
{
	struct dw_audit_run run = {.id = task->id, .who = task->caller.who};
	uint64_t since = dw_now_ns();
	struct dw_error err = {0};

	if (!task->intended)
		return;
	if (dw_audit_outcome(s->audit, &run, task->res, task->res ? NULL : &task->failed,
	                     &err) == 0) {
		dw_metrics_audit(s->metrics, DW_METRICS_OUTCOME,
		                 seconds(since, dw_now_ns()));
		return;
	}
	dw_metrics_audit_failed(s->metrics);
	dw_log(DW_LOG_ERROR, "an outcome was not recorded", "run", task->id, "why",
	       err.text, NULL);
}

static void count_run(struct dw_service *s, const struct dw_task *task,
                      const struct dw_result *res, uint64_t left_ns, uint64_t end_ns)
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
		.queue_s = seconds(task->counts_ns, left_ns),
		.start_s = ran < 0 ? -1 : seconds(left_ns, end_ns) - ran,
		.run_s = ran,
	};

	dw_metrics_run(s->metrics, &run);
}

void dw_worker_log(const struct dw_task *task, const struct dw_result *res)
{
	char ms[32];

	(void)snprintf(ms, sizeof(ms), "%.1f",
	               seconds(task->arrived_ns, dw_now_ns()) * 1e3);
	dw_log(DW_LOG_INFO, "run", "run", task->id, "who", task->caller.who, "door",
	       task->door, "status", res ? dw_status_name(res->status) : "refused",
	       "reason", res ? dw_reason_name(res->reason) : task->why.code, "ms", ms,
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
	(void)dw_api_fail(&task->why, 429, "try again later, or ask for more time",
	                  "busy: its %.1f s passed in the queue",
	                  (double)task->timeout_ms / 1e3);
	task->why.retry_after_s = 1;
	return false;
}

/* The program itself, with what is left of its time. */
static struct dw_result *run(struct dw_service *s, struct dw_task *task, uint64_t waited)
{
	struct dw_result *res = NULL;
	int r;

	dw_task_tell(task, DW_TASK_STARTED, DW_STDOUT, NULL, 0);
	if (waited >= WAIT_THAT_COUNTS_MS)
		task->req.limits.timeout_ms = task->timeout_ms - waited;
	task->req.on_output = on_output;
	task->req.on_note = on_note;
	task->req.user = task;
	r = s->pool ? dw_pool_run(s->pool, &task->req, &res, &task->failed)
	            : dw_run(&task->req, &res, &task->failed);
	if (r < 0) {
		(void)dw_api_fail_with(&task->why, &task->failed);
		return NULL;
	}
	if (waited >= WAIT_THAT_COUNTS_MS)
		dw_warn(res,
		        "it waited %.1f s for its turn, which counts towards its %.1f s",
		        (double)waited / 1e3, (double)task->timeout_ms / 1e3);
	if (task->req.yields)
		dw_warn(res,
		        "a run of this key came to its limit of processes less than %u s "
		        "before: this one yields to the runs of others",
		        DW_UNRULY_MS / 1000);
	dw_gate_remark(&task->passage, res);
	return res;
}

/* It may not run: that is on record, and a result. */
static struct dw_result *refuse(struct dw_task *task)
{
	struct dw_result *res = dw_gate_refusal(&task->passage, &task->req);

	if (!res) {
		(void)dw_fail(&task->failed, DW_E_INTERNAL, 0,
		              "write the result: no memory");
		(void)dw_api_fail_with(&task->why, &task->failed);
	}
	return res;
}

bool dw_worker(struct dw_service *s, struct dw_task *task, struct dw_result **ret)
{
	enum dw_way way = DW_WAY_FAILED;
	struct dw_result *res = NULL;
	uint64_t left_ns;

	if (dw_worker_in_time(task, dw_now_ns()))
		way = dw_task_policy_pass(s, task);
	if (way == DW_WAY_WAITS)
		return false;
	/* What the policy took counts as well. */
	left_ns = dw_now_ns();
	if (way == DW_WAY_OPEN && !dw_worker_in_time(task, left_ns))
		way = DW_WAY_FAILED;
	if (way != DW_WAY_FAILED && record_intent(s, task) == 0) {
		task->intended = true;
		res = way == DW_WAY_OPEN ? run(s, task, waited_ms(task, left_ns))
		                         : refuse(task);
	}
	if (res)
		count_run(s, task, res, left_ns, dw_now_ns());
	else
		dw_metrics_refused(s->metrics, task->why.status);
	*ret = res;
	return true;
}
