/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_FAKES_FAKE_TASK_H
#define DW_FAKES_FAKE_TASK_H

#include "daemon/task.h"

/*
 * The task API of src/daemon/task.h without a service behind it: a task does what
 * the test says, in the test's own thread. One service for all.
 */

/* The one that was started last, or NULL; borrowed. */
struct dw_task *fake_task_last(void);

/* What the next start is refused with; NULL: it is not. */
void fake_task_refuse(const struct dw_api_error *why);

/* Tasks end as soon as they start, with status success; for fuzzing. */
void fake_task_at_once(bool yes);

const struct dw_request *fake_task_request(const struct dw_task *task);
const char *fake_task_traceparent(const struct dw_task *task);

void fake_task_started(struct dw_task *task);
void fake_task_pending(struct dw_task *task, const struct dw_task_approval *approval);
void fake_task_output(struct dw_task *task, const char *text);

/* It ends; res is taken over, NULL: it ends as refused. */
void fake_task_end(struct dw_task *task, struct dw_result *res);

/* The last call of dw_service_decide(): "ID CALLER yes NOTE", or "". */
const char *fake_task_decided(void);

/* How many are alive, and forget the kept ones. */
size_t fake_task_alive(void);
void fake_task_forget(void);

/* A result on the heap that says success. */
struct dw_result *fake_result(const char *out, const char *err);
void fake_result_file(struct dw_result *res, const char *name, const void *data,
                      size_t len);

#endif
