/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_TASK_OWN_H
#define DW_DAEMON_TASK_OWN_H

#include <pthread.h>
#include <stdatomic.h>

#include "daemon/ceilings.h"
#include "daemon/quota.h"
#include "daemon/task.h"
#include "run/conduct.h"

/*
 * A task's private state, for task.c and the files of the service.
 */
enum dw_task_state {
	DW_TASK_QUEUED = 0,
	DW_TASK_RUNNING,
	DW_TASK_WAITING, /* for a person's approval */
	DW_TASK_DONE,
};

struct dw_task {
	struct dw_waiting waiting;   /* must be first: cast to the task */
	struct dw_task *next, *prev; /* in the service's list, under its lock */
	struct dw_service *service;
	struct dw_tenant *tenant;
	atomic_uint refs;
	atomic_int state; /* an enum dw_task_state */

	char id[DW_ID_MAX];
	char traceparent[64];
	const char *door;
	struct dw_caller caller;
	struct dw_request req;
	char image[DW_CEILINGS_IMAGE_MAX]; /* from the config, if the request names none */
	char level[sizeof(((struct dw_ceilings *)0)->level)]; /* likewise */
	uint64_t arrived_ns;
	uint64_t counts_ns;  /* when it arrived or was approved: its timeout starts */
	uint64_t timeout_ms; /* counted from counts_ns */
	int cancel_fd;       /* an eventfd */
	bool keep;
	size_t claimed;        /* bytes of dw_service_claim() */
	struct dw_conduct run; /* the run's state in dw_conduct() */
	bool yields;          /* the run yields to other tenants: see dw_quota_yields() */
	uint64_t admitted_ns; /* when queue, policy and approval had admitted it */
	uint64_t started_ns;  /* when its program started */
	uint64_t ended_ns;

	/* The service's lock protects these fields. */
	bool cancelled;
	bool kept;   /* the task has ended, and service->kept counts its result */
	bool parked; /* the task waits for an approval */
	struct dw_task *before, *behind; /* neighbours in the list of parked tasks */
	bool looked_at; /* its approval was checked since the task was parked */

	pthread_mutex_t lock; /* protects all below; held while on_event is called */
	dw_task_fn *on_event;
	void *user;
	struct dw_task_approval approval;
	struct dw_result *res; /* once the task is done: res and json, or why */
	char *json;
	struct dw_api_error why;
	uint64_t done_ms;
	size_t bytes; /* the memory of a kept task */
};

/*
 * Create a task, which takes ownership of the request. Returns NULL if memory or
 * descriptors run out.
 */
struct dw_task *dw_task_new(struct dw_service *service, struct dw_request *req,
                            const struct dw_task_config *config);

void dw_task_tell(struct dw_task *task, enum dw_task_event event, enum dw_stream stream,
                  const void *data, size_t len);

/* End the task with a result, which it takes over, or with NULL and task->why. */
void dw_task_end(struct dw_task *task, struct dw_result *res);

#endif
