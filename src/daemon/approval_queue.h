/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_APPROVAL_QUEUE_H
#define DW_DAEMON_APPROVAL_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "dewar/error.h"

/*
 * Parked tasks: tasks that wait for a person's approval. They hold neither a thread nor
 * a slot for a running task. One thread polls for decisions, made in this process or in
 * another one, and puts each decided task back into the queue.
 */
struct dw_service;
struct dw_task;

/*
 * These limits apply in addition to those in approvals.h: many tasks may wait for one
 * approval.
 */
#define DW_APPROVAL_QUEUE_MAX 500U
#define DW_APPROVAL_QUEUE_MAX_PER_CALLER 20U

/*
 * A decision made in a thread that must not block, kept until the polling thread stores
 * it.
 */
struct dw_approval_queue_answer;

/* The service's parked tasks, protected by its lock. */
struct dw_approval_queue {
	struct dw_task *first;
	size_t n;
	size_t bytes; /* the size of their requests */
	struct dw_approval_queue_answer *answers;
	bool decided; /* an approval was decided: poll at once */
	pthread_cond_t wake;
};

/*
 * Returns 0 if the task could be parked if it needs approval, or -1 with DW_E_BUSY. Takes
 * the lock.
 */
int dw_approval_queue_room(struct dw_service *s, const struct dw_task *task,
                           struct dw_error *err);

/*
 * Park a running task that needs approval: notify its client, and free its slot. Returns
 * false, with task->why set, if the task has to end instead. Takes the lock.
 */
bool dw_approval_queue_park(struct dw_service *s, struct dw_task *task);

/* Remove the task from the list of parked tasks, if it is parked. Under the lock. */
void dw_approval_queue_leave(struct dw_service *s, struct dw_task *task);

/* The main function of the polling thread. */
void *dw_approval_queue_watch(void *service);

/* Free the decisions that were not stored. Call this after all threads have ended. */
void dw_approval_queue_finish(struct dw_service *s);

#endif
