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
#include "dewar/pool.h"
#include "run/conduct.h"

/*
 * The service's private state.
 *
 * One lock protects the queue, the list of tasks and the ceilings; it is held for
 * microseconds. Workers hold no lock while a program runs.
 */
#define DW_WORKERS_MAX 1024U

struct dw_service_keep {
	unsigned n, s;
	uint64_t bytes;
};

struct dw_service {
	pthread_mutex_t lock;
	pthread_cond_t work; /* a task may start, or the service ends */
	pthread_cond_t idle; /* no task runs or waits any more */
	pthread_cond_t tick; /* the maintainer has to end */
	struct dw_quota *quota;
	struct dw_ceilings ceilings;
	struct dw_service_keep keep;
	/*
	 * Tasks that clients can look up. Those that have ended are in the order of their
	 * ends.
	 */
	struct dw_task *first, *last;
	unsigned kept;
	uint64_t kept_bytes;
	struct dw_audit_keep retain;    /* here, since_us is a duration */
	_Atomic uint64_t audit_down_ms; /* when the last intent failed; 0: it did not */
	atomic_bool draining;
	bool ended;
	bool hurry;    /* end the drain before its deadline */
	bool stopping; /* the drain's deadline has passed: park no more tasks */
	_Atomic uint64_t claimed, claimed_max; /* bytes of requests, and their bound */

	struct dw_pool *pool;      /* NULL: every run is cold */
	struct dw_request *docker; /* requests that the pool's containers fit */
	struct dw_audit *audit;
	char *approvals_path;
	pthread_mutex_t opening; /* protects approvals, which is opened on first use */
	struct dw_approvals *approvals;
	struct dw_conductor *conductor;
	struct dw_policy *policy_reported; /* logged last; used by the maintainer only */
	struct dw_approval_queue pending;
	unsigned ending; /* waiting tasks that are being ended without the lock */
	struct dw_metrics *metrics;
	pthread_t workers[DW_WORKERS_MAX], maintainer, scout, watcher;
	unsigned n_workers;
	bool keeping, scouting, watching;
};

/*
 * The threads: the workers, the maintainer (periodic work), and one that probes the
 * levels at the start.
 */
void *dw_queue_work(void *user);
void *dw_queue_maintain(void *user);
void *dw_queue_look_around(void *user);

/* Returns true if no task runs or waits. Under the lock. */
bool dw_queue_idle(const struct dw_service *s);

/*
 * Cancel all running and waiting tasks. Call it with the lock, which it releases
 * meanwhile.
 */
void dw_queue_cancel(struct dw_service *s);

/*
 * Put a parked task whose approval was decided back into the queue, and end the waiting
 * tasks of tenants that have used up their cpu seconds. Call it with the lock, which it
 * releases meanwhile.
 */
void dw_queue_return(struct dw_service *s, struct dw_task *task);

/* Release every task, after all threads have ended. */
void dw_queue_forget(struct dw_service *s);

/* Log a policy that has changed or is invalid. Called periodically, without the lock. */
void dw_service_report_policy(struct dw_service *s);

/*
 * Run a task that has left the queue with dw_conduct(). *ret is its result, or NULL with
 * task->why set. Updates metrics and sends events, but neither ends nor logs the task.
 * Returns false if the task waits for an approval: park it, and call this again after the
 * approval.
 */
bool dw_worker(struct dw_service *s, struct dw_task *task, struct dw_result **ret);

/* Count a task that ends without a result as refused, by the status in task->why. */
void dw_worker_abandon(struct dw_service *s, struct dw_task *task);

/*
 * Returns true if the task still has time to run; false, with task->why set, if its time
 * ran out in the queue. The time counts from the task's arrival, or from its approval.
 */
bool dw_worker_in_time(struct dw_task *task, uint64_t now_ns);

/* Log the end of a task; res may be NULL. */
void dw_worker_log(const struct dw_task *task, const struct dw_result *res);

#endif
