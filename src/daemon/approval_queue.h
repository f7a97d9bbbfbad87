/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_APPROVAL_QUEUE_H
#define DW_DAEMON_APPROVAL_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "dewar/error.h"

/*
 * Tasks that wait for a person. They hold neither a thread nor a place among those that
 * run; one thread looks for all of them whether somebody has decided, here or in
 * another process, and puts back into the queue whatever has its answer.
 */
struct dw_service;
struct dw_task;

/* Beside what approvals.h bounds: many may wait for one question. */
#define DW_APPROVAL_QUEUE_MAX 500U
#define DW_APPROVAL_QUEUE_MAX_PER_CALLER 20U

/* A decision that somebody made who must not wait. */
struct dw_approval_queue_answer;

/* The service's part; under its lock. */
struct dw_approval_queue {
	struct dw_task *first;
	size_t n;
	size_t bytes; /* of their requests */
	struct dw_approval_queue_answer *answers;
	bool decided; /* look now */
	pthread_cond_t wake;
};

/* May this one wait, if it has to? 0, or DW_E_BUSY. Takes the lock. */
int dw_approval_queue_room(struct dw_service *s, const struct dw_task *task,
                           struct dw_error *err);

/*
 * Park a task that runs, which must wait for a person: tells its client, and
 * gives its place back. False: it is over instead, and task->why. Takes the lock.
 */
bool dw_approval_queue_park(struct dw_service *s, struct dw_task *task);

/* Under the lock: it is not parked any more. */
void dw_approval_queue_leave(struct dw_service *s, struct dw_task *task);

/* The thread. */
void *dw_approval_queue_watch(void *service);

/* Once there are no threads. */
void dw_approval_queue_finish(struct dw_service *s);

#endif
