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
 * What a task is inside; for service.c, which moves it along, and task.c.
 */
enum dw_task_stage {
	DW_TASK_QUEUED = 0,
	DW_TASK_RUNNING,
	DW_TASK_WAITING, /* for a person */
	DW_TASK_DONE,
};

struct dw_task {
	struct dw_waiting waiting;   /* the first: the queue gives this back */
	struct dw_task *next, *prev; /* among the service's, under its lock */
	struct dw_service *service;
	struct dw_tenant *tenant;
	atomic_uint refs;
	atomic_int stage; /* of enum dw_task_stage */

	char id[DW_ID_MAX];
	char traceparent[64];
	const char *door;
	struct dw_caller caller;
	struct dw_request req;
	char image[DW_CEILINGS_IMAGE_MAX]; /* if it is the config's, and not the request's */
	char level[sizeof(((struct dw_ceilings *)0)->level)]; /* the same */
	uint64_t arrived_ns;
	uint64_t counts_ns;  /* its arrival, or when a person has decided */
	uint64_t timeout_ms; /* from then on */
	int cancel_fd;       /* an eventfd */
	bool keep;
	size_t claimed;        /* for its request */
	struct dw_conduct run; /* its way through policy, record and cell */
	bool yields;           /* to the runs of others: see dw_quota_yields() */
	uint64_t started_ns;   /* it left the queue; then, its program was started */
	uint64_t ended_ns;

	/* Under the service's lock. */
	bool cancelled;
	bool parked;                     /* among those who wait for a person */
	struct dw_task *before, *behind; /* there */
	bool looked_at;                  /* since it was parked */

	pthread_mutex_t lock; /* of all below; held while on_event is called */
	pthread_cond_t over;
	dw_task_fn *on_event;
	void *user;
	struct dw_task_approval approval;
	struct dw_result *res; /* once it is done, this and json, or why */
	char *json;
	struct dw_api_error why;
	uint64_t done_ms;
	size_t bytes; /* that keeping it costs */
};

/* NULL without memory. The request is taken over. */
struct dw_task *dw_task_new(struct dw_service *service, struct dw_request *req,
                            const struct dw_order *order);

void dw_task_tell(struct dw_task *task, enum dw_task_event event, enum dw_stream stream,
                  const void *data, size_t len);

/* It is done: res (taken over), or without one task->why has been filled. */
void dw_task_end(struct dw_task *task, struct dw_result *res);

#endif
