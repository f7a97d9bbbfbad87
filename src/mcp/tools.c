/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/call.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"

/* The shortest time between two progress messages about output. */
#define TELL_EVERY_MS 250

/* ---- a run ---- */

/*
 * The service's thread reports events, and the keepalive's thread reports that the run
 * goes on; fields that both use are atomic or protected by the lock.
 */
struct run {
	struct dw_mcp_call *call;
	struct dw_mcp_keepalive_entry beat;
	uint64_t start_ms;
	bool structured;
	struct dw_mcp_elicit elicit;
	pthread_mutex_t lock; /* protects the next two */
	double total_s;
	char waits_for[DW_ID_MAX]; /* the approval it waits for, or "" */
	_Atomic uint64_t told_ms;
	atomic_size_t bytes;
	atomic_bool started;
};

static void tell(struct run *run, const char *text)
{
	uint64_t now = dw_now_ms();
	double total_s;

	run->told_ms = now;
	(void)pthread_mutex_lock(&run->lock);
	total_s = run->total_s;
	(void)pthread_mutex_unlock(&run->lock);
	dw_mcp_call_progress(run->call, (double)(now - run->start_ms) / 1000, total_s,
	                     text);
}

static void tell_bytes(struct run *run)
{
	char text[96];

	(void)snprintf(text, sizeof(text), "running, %zu bytes of output so far",
	               (size_t)run->bytes);
	tell(run, text);
}

static void on_beat(void *user)
{
	struct run *run = user;
	char id[DW_ID_MAX], text[96] = "still queued";

	(void)pthread_mutex_lock(&run->lock);
	memcpy(id, run->waits_for, sizeof(id));
	(void)pthread_mutex_unlock(&run->lock);
	if (id[0] != '\0')
		(void)snprintf(text, sizeof(text), "still waiting for approval %s", id);
	if (run->started)
		tell_bytes(run);
	else
		tell(run, text);
}

/*
 * The run needs approval. If the policy allows it and the client supports it, ask this
 * client's user; otherwise another person decides. Cancelling the task must be the last
 * step.
 */
static void on_pending(struct run *run, struct dw_task *task,
                       const struct dw_task_approval *approval)
{
	enum dw_mcp_elicited asked;
	char text[640];

	(void)pthread_mutex_lock(&run->lock);
	memcpy(run->waits_for, approval->id, sizeof(run->waits_for));
	run->total_s = 0; /* unknown while a person decides */
	(void)pthread_mutex_unlock(&run->lock);
	asked = dw_mcp_elicit(&run->elicit, run->call, approval);
	(void)snprintf(text, sizeof(text), "waiting for approval %s by the rule %s: %s",
	               approval->id, approval->rule, approval->reason);
	tell(run, text);
	if (asked == DW_MCP_ELICIT_ANSWERED)
		dw_task_cancel(task);
}

static void on_started(struct run *run)
{
	(void)pthread_mutex_lock(&run->lock);
	run->waits_for[0] = '\0';
	(void)pthread_mutex_unlock(&run->lock);
	dw_mcp_elicit_end(&run->elicit);
	run->started = true;
	tell(run, "started");
}

static void run_free(struct run *run)
{
	if (dw_mcp_call_wants_progress(run->call))
		dw_mcp_keepalive_remove(dw_mcp_call_keepalive(run->call), &run->beat);
	(void)pthread_mutex_destroy(&run->lock);
	dw_mcp_call_unref(run->call);
	free(run);
}

static void on_event(void *user, struct dw_task *task, enum dw_task_event event,
                     enum dw_stream stream, const void *data, size_t len)
{
	struct run *run = user;

	(void)stream;
	switch (event) {
	case DW_TASK_STARTED:
		on_started(run);
		break;
	case DW_TASK_PENDING:
		on_pending(run, task, data);
		break;
	case DW_TASK_OUTPUT:
		if (atomic_fetch_add(&run->bytes, len) == 0 ||
		    dw_now_ms() - run->told_ms >= TELL_EVERY_MS)
			tell_bytes(run);
		break;
	case DW_TASK_NOTE:
		tell(run, data);
		break;
	case DW_TASK_ENDED:
		dw_mcp_elicit_end(&run->elicit);
		dw_mcp_call_answer(run->call, dw_mcp_result_make(task, run->structured));
		run_free(run);
		break;
	}
}

static void cancel(void *user)
{
	dw_task_cancel(user);
}

static void release(void *user)
{
	dw_task_unref(user);
}

/*
 * Answer that nothing will run. It is a result and not a protocol error, so that the
 * model reads the reason.
 */
static void answer_refused(struct dw_mcp_call *call, const struct dw_api_error *why)
{
	dw_mcp_call_answer(call, dw_mcp_result_refused(why));
}

static void start(struct dw_mcp_call *call, struct dw_request *req)
{
	const struct dw_mcp_message *msg = dw_mcp_call_message(call);
	struct run *run = calloc(1, sizeof(*run));
	struct dw_api_error why = {0};
	struct dw_task *task = NULL;
	struct dw_task_config config = {
		.caller = dw_mcp_call_caller(call),
		.traceparent = dw_mcp_text(msg->meta, "traceparent"),
		.door = "mcp",
		.on_event = on_event,
		.user = run,
		.keep = true,
	};

	if (!run) {
		dw_request_finish(req);
		dw_mcp_call_answer(call, NULL);
		return;
	}
	(void)pthread_mutex_init(&run->lock, NULL);
	run->call = dw_mcp_call_ref(call);
	run->start_ms = dw_now_ms();
	run->total_s = (double)req->limits.timeout_ms / 1000;
	run->structured = dw_mcp_call_since(call, DW_MCP_2025_06_18);
	tell(run, "queued");
	run->beat = (struct dw_mcp_keepalive_entry){.fn = on_beat, .user = run};
	if (dw_mcp_call_wants_progress(call))
		dw_mcp_keepalive_add(dw_mcp_call_keepalive(call), &run->beat);
	if (dw_task_start(dw_mcp_call_service(call), req, &config, &task, &why) < 0) {
		answer_refused(call, &why);
		run_free(run);
		return;
	}
	/* From here on the task owns run. */
	dw_mcp_call_on_cancel(call, cancel, release, task);
}

static void run_tool(struct dw_mcp_call *call, enum dw_mcp_runs which, const json_t *args)
{
	struct dw_api_error why = {0};
	struct dw_error err = {0};
	struct dw_request req;

	dw_request_init(&req);
	if (dw_mcp_args_read(which, args, &req, &err) < 0) {
		(void)dw_api_fail_with(&why, &err);
		answer_refused(call, &why);
		return;
	}
	start(call, &req);
}

static void call_code(struct dw_mcp_call *call, json_t *args)
{
	run_tool(call, DW_MCP_RUNS_CODE, args);
}

static void call_command(struct dw_mcp_call *call, json_t *args)
{
	run_tool(call, DW_MCP_RUNS_COMMAND, args);
}

/* ---- descriptions of the tools ---- */

static json_t *describe(const char *name, const char *title, const char *text,
                        enum dw_mcp_runs which)
{
	/* openWorldHint: with "network" a run can reach other hosts. */
	return json_pack("{s:s, s:s, s:s, s:o, s:o, s:{s:b, s:b, s:b, s:b}}", "name",
	                 name, "title", title, "description", text, "inputSchema",
	                 dw_mcp_args_schema(which), "outputSchema",
	                 dw_mcp_result_schema(), "annotations", "readOnlyHint", 0,
	                 "destructiveHint", 0, "idempotentHint", 0, "openWorldHint", 1);
}

static json_t *describe_code(void)
{
	return describe("code_execute", "Run code",
	                "Run a program in a new sandbox and return its output, exit "
	                "code and collected files. Print every value that you need. "
	                "Variables, files and processes do not persist between calls. "
	                "To get a chart, write it to a file and list the file in "
	                "collect.",
	                DW_MCP_RUNS_CODE);
}

static json_t *describe_command(void)
{
	return describe("command_execute", "Run a command",
	                "Run a shell command in a new sandbox and return its output, "
	                "exit code and collected files. The sandbox has the host's "
	                "programs but none of its data. Files and processes do not "
	                "persist between calls.",
	                DW_MCP_RUNS_COMMAND);
}

const struct dw_mcp_tool dw_mcp_tools[] = {
	{"code_execute", describe_code, call_code},
	{"command_execute", describe_command, call_command},
	{0},
};

/* ---- the methods ---- */

static void add_list(const struct dw_mcp_call *call, const struct dw_mcp_tool *tool,
                     json_t *list)
{
	static const struct {
		const char *key;
		const char *since;
	} news[] = {
		{"annotations", DW_MCP_2025_03_26},
		{"title", DW_MCP_2025_06_18},
		{"outputSchema", DW_MCP_2025_06_18},
	};
	json_t *item;

	for (; tool && tool->name; tool++) {
		item = tool->describe();
		for (size_t i = 0; i < ARRAY_SIZE(news); i++)
			if (!dw_mcp_call_since(call, news[i].since))
				(void)json_object_del(item, news[i].key);
		(void)json_array_append_new(list, item);
	}
}

json_t *dw_mcp_tools_list(const struct dw_mcp_call *call)
{
	json_t *list = json_array();

	add_list(call, dw_mcp_tools, list);
	add_list(call, dw_mcp_extra.tools, list);
	return list;
}

static const struct dw_mcp_tool *find(const struct dw_mcp_tool *tool, const char *name)
{
	for (; tool && tool->name; tool++)
		if (strcmp(tool->name, name) == 0)
			return tool;
	return NULL;
}

void dw_mcp_tools_call(struct dw_mcp_call *call, json_t *params)
{
	const char *name = dw_mcp_text(params, "name");
	json_t *given = json_object_get(params, "arguments");
	json_auto_t *args = given ? json_incref(given) : json_object();
	const struct dw_mcp_tool *tool = name ? find(dw_mcp_tools, name) : NULL;
	struct dw_mcp_problem why;

	if (!tool && name)
		tool = find(dw_mcp_extra.tools, name);
	if (!tool) {
		(void)dw_mcp_refuse(&why, DW_MCP_PARAMS, 200, NULL,
		                    name ? "unknown tool \"%.64s\""
		                         : "params.name must be the name of a tool%s",
		                    name ? name : "");
		dw_mcp_call_refuse(call, &why);
		return;
	}
	if (args && !json_is_object(args)) {
		(void)dw_mcp_refuse(&why, DW_MCP_PARAMS, 200, NULL,
		                    "params.arguments must be an object");
		dw_mcp_call_refuse(call, &why);
		return;
	}
	tool->call(call, args);
}
