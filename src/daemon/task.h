/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_TASK_H
#define DW_DAEMON_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/api_error.h"
#include "dewar/request.h"
#include "dewar/result.h"
#include "keys/grant.h"

/*
 * A run as a front door of the daemon's sees it: from its arrival, through the
 * queue, to its result. The service (service.h) has the threads that run them.
 */
struct dw_service;
struct dw_task;

/* Who calls, once its key or its socket has told. */
struct dw_caller {
	char who[128]; /* "key:1f2e3d4c (ci)", "uid:1000 (alice)" */
	struct dw_grant grant;
};

/* What a run waits for a person with. */
struct dw_task_approval {
	char id[DW_ID_MAX]; /* "": it never did */
	int64_t expires_us; /* since 1970 */
	bool self;          /* who asked may answer */
	char rule[256];     /* of the policy, by name */
	char reason[256];
};

enum dw_task_event {
	DW_TASK_STARTED = 0, /* it left the queue, and may run */
	DW_TASK_PENDING,     /* a person is asked; data is a struct dw_task_approval */
	DW_TASK_OUTPUT,      /* stream, data and len are set */
	DW_TASK_NOTE,        /* data is a line for a person, NUL-terminated */
	DW_TASK_ENDED,       /* the last: ask dw_task_result() */
};

/*
 * Called from the thread that runs it, one after the other, or for the end of
 * one that never ran from whichever thread ended it. Must not wait for anything.
 */
typedef void dw_task_fn(void *user, struct dw_task *task, enum dw_task_event event,
                        enum dw_stream stream, const void *data, size_t len);

/* What is asked for, besides the request. */
struct dw_order {
	const struct dw_caller *caller;
	const char *id;          /* of the run; NULL: one is made */
	const char *traceparent; /* as it came, or NULL */
	const char *door;        /* "http", "mcp", for logs and metrics */
	dw_task_fn *on_event;    /* or NULL */
	void *user;
	bool keep;      /* its result may be asked for later, by its id */
	size_t claimed; /* of the service, which the task gives back at its end */
};

/*
 * Take a request, which is the service's from here on whatever comes of it
 * (dw_request_finish() is called on it). 0: *ret is a reference for the caller,
 * and events may already come. -1: nothing will run, and why.
 */
int dw_task_start(struct dw_service *service, struct dw_request *req,
                  const struct dw_order *order, struct dw_task **ret,
                  struct dw_api_error *why);

/* End it; it ends as cancelled. Twice, after its end, or from on_event, is fine. */
void dw_task_cancel(struct dw_task *task);

/* Stop calling on_event: no call is under way once this returns. Not from on_event. */
void dw_task_mute(struct dw_task *task);

struct dw_task *dw_task_ref(struct dw_task *task);
void dw_task_unref(struct dw_task *task); /* accepts NULL */

/* One that is under way, or was kept; the caller's own, or anybody's for an admin. */
struct dw_task *dw_task_find(struct dw_service *service, const struct dw_caller *caller,
                             const char *id);

const char *dw_task_id(const struct dw_task *task);

/* "queued", "running", "pending", "done" */
const char *dw_task_state(const struct dw_task *task);

/* What it waits for while it is pending, or waited for last. Not from on_event. */
void dw_task_approval(struct dw_task *task, struct dw_task_approval *ret);

/* {"id", "expires", "rule", "reason"}; free() it. NULL without memory. */
char *dw_task_approval_json(const struct dw_task_approval *approval);

/*
 * Once it is done: its result, or NULL and *why says what went wrong instead (the
 * queue took too long, the record could not be written, ...). As long as the task.
 */
const struct dw_result *dw_task_result(const struct dw_task *task,
                                       struct dw_api_error *why);

/* Its result as JSON, as dw_result_to_json() has it; NULL as above. Not to be freed. */
const char *dw_task_json(const struct dw_task *task);

/* Wait for the end. */
void dw_task_wait(struct dw_task *task);

#endif
