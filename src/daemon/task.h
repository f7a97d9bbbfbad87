/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_TASK_H
#define DW_DAEMON_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/api_error.h"
#include "dewar/request.h"
#include "dewar/result.h"
#include "keys/keys.h"

/*
 * A task is a run in the daemon, from its arrival through the queue to its result. The
 * threads of the service (service.h) run it.
 */
struct dw_service;
struct dw_task;

/* The authenticated caller, identified by its key or by the user of its socket. */
struct dw_caller {
	char who[128]; /* "key:1f2e3d4c (ci)", "uid:1000 (alice)" */
	struct dw_grant grant;
};

/* The approval that a run waits for. */
struct dw_task_approval {
	char id[DW_ID_MAX]; /* "": the run never needed an approval */
	int64_t expires_us; /* microseconds since 1970 */
	bool self;          /* the caller itself may decide it */
	char rule[256];     /* the name of the policy's rule */
	char reason[256];
};

enum dw_task_event {
	DW_TASK_STARTED = 0, /* the task left the queue, and may run */
	DW_TASK_PENDING, /* the task needs approval; data is a struct dw_task_approval */
	DW_TASK_OUTPUT,  /* stream, data and len are set */
	DW_TASK_NOTE,    /* data is a line for a person, NUL-terminated */
	DW_TASK_ENDED,   /* the last event: dw_task_result() is set */
};

/*
 * Called for one event at a time, by the thread that runs the task or, if the task never
 * ran, by the thread that ended it. Must not block.
 */
typedef void dw_task_fn(void *user, struct dw_task *task, enum dw_task_event event,
                        enum dw_stream stream, const void *data, size_t len);

/* How to run a request. */
struct dw_task_config {
	const struct dw_caller *caller;
	const char *id;          /* the id of the run; NULL: a new id */
	const char *traceparent; /* as received, or NULL */
	const char *door;     /* the front door, "http" or "mcp", for logs and metrics */
	dw_task_fn *on_event; /* or NULL */
	void *user;
	bool keep;      /* keep the result, so that clients can fetch it by id */
	size_t claimed; /* bytes of dw_service_claim(), released at the task's end */
};

/*
 * Queue a request. The service takes ownership of the request even on an error, and calls
 * dw_request_finish() on it. Returns 0 with a reference for the caller in *ret (events
 * may already arrive), or -1 with *why set; then nothing will run.
 */
int dw_task_start(struct dw_service *service, struct dw_request *req,
                  const struct dw_task_config *config, struct dw_task **ret,
                  struct dw_api_error *why);

/* Cancel the task. May be called repeatedly, after its end, and from on_event. */
void dw_task_cancel(struct dw_task *task);

/*
 * Stop calling on_event: once this returns, no call is in progress. Must not be called
 * from on_event.
 */
void dw_task_mute(struct dw_task *task);

struct dw_task *dw_task_ref(struct dw_task *task);
void dw_task_unref(struct dw_task *task); /* accepts NULL */

/*
 * Returns a reference to a task that is in progress, or whose result was kept. Finds the
 * caller's own tasks, and for an admin the tasks of all callers; otherwise returns NULL.
 */
struct dw_task *dw_task_find(struct dw_service *service, const struct dw_caller *caller,
                             const char *id);

const char *dw_task_id(const struct dw_task *task);

/* Returns "queued", "running", "pending" or "done". */
const char *dw_task_state(const struct dw_task *task);

/*
 * Returns the approval that the task waits for, or waited for last. Must not be called
 * from on_event.
 */
void dw_task_approval(struct dw_task *task, struct dw_task_approval *ret);

/*
 * Returns {"id", "expires", "rule", "reason"}, to be freed with free(), or NULL if memory
 * runs out.
 */
char *dw_task_approval_json(const struct dw_task_approval *approval);

/*
 * Returns the result of a task that is done, or NULL with *why set (its time ran out in
 * the queue, the audit record could not be written, ...). The result is valid as long as
 * the task.
 */
const struct dw_result *dw_task_result(const struct dw_task *task,
                                       struct dw_api_error *why);

/*
 * Returns the result as JSON, made by dw_result_to_json(), or NULL if there is no result.
 * The task owns the string.
 */
const char *dw_task_json(const struct dw_task *task);

#endif
