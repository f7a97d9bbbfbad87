/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_SERVER_PENDING_H
#define DW_SERVER_PENDING_H

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
#define DW_PENDING_MAX 500U
#define DW_PENDING_MAX_PER_CALLER 20U

/* A decision that somebody made who must not wait. */
struct dw_pending_answer;

/* The service's part; under its lock. */
struct dw_pending {
	struct dw_task *first;
	size_t n;
	size_t bytes; /* of their requests */
	struct dw_pending_answer *answers;
	bool decided; /* look now */
	pthread_cond_t wake;
};

/* May this one wait, if it has to? 0, or DW_E_BUSY. Takes the lock. */
int dw_pending_room(struct dw_service *s, const struct dw_task *task,
                    struct dw_error *err);

/*
 * Park a task that runs, which its passage has to wait for: tells whoever listens, and
 * gives its place back. False: it is over instead, and task->why. Takes the lock.
 */
bool dw_pending_park(struct dw_service *s, struct dw_task *task);

/* Under the lock: it is not parked any more. */
void dw_pending_leave(struct dw_service *s, struct dw_task *task);

/* The thread. */
void *dw_pending_watch(void *service);

/* Once there are no threads. */
void dw_pending_finish(struct dw_service *s);

#endif
