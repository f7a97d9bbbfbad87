/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_DAEMON_SERVICE_OWN_H
#define DW_DAEMON_SERVICE_OWN_H

#include <pthread.h>

#include "approvals/approvals.h"
#include "audit/audit.h"
#include "daemon/approval_queue.h"
#include "daemon/ceilings.h"
#include "daemon/quota.h"
#include "daemon/service.h"
#include "daemon/task_own.h"
#include "daemon/task_policy.h"
#include "dewar/pool.h"
#include "run/approver.h"

/*
 * What the service is inside.
 *
 * One lock for the queue, the list of tasks and the rules; it is held for
 * microseconds. Threads that run tasks hold nothing while a program runs.
 */
#define DW_WORKERS_MAX 1024U

struct dw_service_keep {
	unsigned n, s;
	uint64_t bytes;
};

struct dw_service {
	pthread_mutex_t lock;
	pthread_cond_t work; /* somebody may run, or it is over */
	pthread_cond_t idle; /* nobody runs or waits any more */
	pthread_cond_t tick; /* the keeper is to end */
	pthread_cond_t recorded;
	unsigned recording; /* runs that were answered, and whose end is being recorded */
	struct dw_quota *quota;
	struct dw_ceilings rules;
	struct dw_service_keep keep;
	struct dw_task *first, *last; /* all that can be found, the oldest first */
	unsigned kept;
	uint64_t kept_bytes;
	struct dw_audit_keep retain;    /* since_us is how long, here */
	_Atomic uint64_t audit_down_ms; /* the last intent's failure; 0: none */
	atomic_bool draining;
	bool ended;
	bool hurry;    /* the drain's deadline has come early */
	bool stopping; /* ... or has come: nobody begins to wait */
	_Atomic uint64_t claimed, claimed_max; /* bytes of requests */

	struct dw_pool *pool;      /* NULL: every run is cold */
	struct dw_request *docker; /* what containers of the pool's are like */
	struct dw_audit *audit;
	char *approvals_path;
	pthread_mutex_t opening; /* of the next one, which is there once it is needed */
	struct dw_approvals *approvals;
	struct dw_approver *people;
	struct dw_task_policy gatehouse;
	struct dw_approval_queue pending;
	struct dw_metrics *metrics;
	pthread_t workers[DW_WORKERS_MAX], keeper, scout, watcher;
	unsigned n_workers;
	bool keeping, scouting, watching;
};

/* Threads: those that run what is next, one that goes by the clock, one at the start. */
void *dw_queue_work(void *user);
void *dw_queue_keep_house(void *user);
void *dw_queue_look_around(void *user);

/* Under the lock: does nobody run or wait? */
bool dw_queue_idle(const struct dw_service *s);

/* Under the lock, which is let go of meanwhile: cancel all that run and wait. */
void dw_queue_cancel(struct dw_service *s);

/*
 * Under the lock: one that is parked has its answer, and waits for its turn again;
 * then whoever has no cpu seconds left is told, so the lock is let go of meanwhile.
 */
void dw_queue_return(struct dw_service *s, struct dw_task *task);

/* Let go of every task, once there are no threads. */
void dw_queue_forget(struct dw_service *s);

/*
 * Run a task that has left the queue: its result, or NULL and task->why. Passes the
 * policy's gate, records the intent, counts and tells; neither ends nor logs it. False:
 * it is to wait for a person, and to come again.
 */
bool dw_worker(struct dw_service *s, struct dw_task *task, struct dw_result **ret);

/*
 * Record how a task ended that has ended: after the answer, which need not wait for
 * it. Should we be killed in between, the run counts as interrupted.
 */
void dw_worker_record(struct dw_service *s, const struct dw_task *task);

/* Its time counts from when it came, or was approved. False: there is none left, and task->why. */
bool dw_worker_in_time(struct dw_task *task, uint64_t now_ns);

/* A task is over, with a result or not. */
void dw_worker_log(const struct dw_task *task, const struct dw_result *res);

#endif
