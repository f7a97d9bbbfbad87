/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_POLICY_WATCH_H
#define DW_POLICY_WATCH_H

#include "policy/policy.h"

/*
 * A policy that follows its file, for whoever lives long. The file is looked at (a
 * stat) at most once a second, and read again when it is another one, or its size or
 * times have changed. One that makes no sense, or is gone, changes nothing: the last
 * good one holds, and the error is told once.
 *
 * From any number of threads.
 */
struct dw_policy_watch;

/* The name as for dw_policy_load(), which must succeed. */
int dw_policy_watch_open(const char *name, struct dw_policy_watch **ret,
                         struct dw_error *err);
void dw_policy_watch_close(struct dw_policy_watch *watch); /* accepts NULL */

/*
 * The policy of now: a reference for the caller, never NULL. If the file has just been
 * found to make no sense, *ret_problem says why, and has DW_OK as its code otherwise;
 * it may be NULL, if somebody else calls with one.
 */
struct dw_policy *dw_policy_watch_get(struct dw_policy_watch *watch,
                                      struct dw_error *ret_problem);

/* Look now: 1 if there is a new one, 0 if not, -1 if what is there makes no sense. */
int dw_policy_watch_look(struct dw_policy_watch *watch, struct dw_error *err);

#endif
