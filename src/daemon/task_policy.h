/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_TASK_POLICY_H
#define DW_DAEMON_TASK_POLICY_H

#include "daemon/config.h"
#include "run/gate.h"

struct dw_service;
struct dw_task;

/*
 * The gate that tasks pass before they are recorded and run, and what it takes to
 * change it while some are on their way.
 */
struct dw_task_policy {
	struct dw_gate *gate;    /* under the service's lock */
	char *policy;            /* its name, or NULL */
	struct dw_gate **before; /* those that passages may still refer to */
	size_t n_before;
	struct dw_policy *seen; /* the keeper's: the last that it has told of */
};

/* Another policy, by its name as dw_policy_load() has it; the same: look at its file. */
int dw_task_policy_set(struct dw_service *s, const char *policy, struct dw_error *err);

/* Every now and then, without the lock: tell if the policy has changed, or should. */
void dw_task_policy_look(struct dw_service *s);

/* Once there are no tasks. */
void dw_task_policy_finish(struct dw_service *s);

enum dw_way {
	DW_WAY_OPEN = 0, /* task->req is what may run now, and nothing else */
	DW_WAY_SHUT,     /* dw_gate_refusal() is its result */
	DW_WAY_WAITS,    /* for a person */
	DW_WAY_FAILED,   /* task->why */
};

/* Where does a task stand? In the thread that runs it, which may take its time. */
enum dw_way dw_task_policy_pass(struct dw_service *s, struct dw_task *task);

/* For dw_approver: what would run, of a task's own request. */
int dw_task_policy_dress(void *service, const struct dw_policy_question *question,
                         const struct dw_permission *passage, struct dw_request *copy,
                         struct dw_error *err);

#endif
