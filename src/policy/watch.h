/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_POLICY_WATCH_H
#define DW_POLICY_WATCH_H

#include "policy/policy.h"

/*
 * A policy that follows its file, for a daemon. At most once a second the file is
 * checked with stat(), and read again if its inode, size or times changed. A bad or
 * missing file changes nothing: the last good policy stays, and the error is reported
 * once. Any number of threads may use it.
 */
struct dw_policy_watch;

/* The name is as for dw_policy_load(), which must succeed. */
int dw_policy_watch_open(const char *name, struct dw_policy_watch **ret,
                         struct dw_error *err);
void dw_policy_watch_close(struct dw_policy_watch *watch); /* accepts NULL */

/*
 * The current policy: a reference for the caller, never NULL. *ret_problem says once why
 * a changed file was rejected; otherwise its code is DW_OK. It may be NULL if another
 * caller reads it.
 */
struct dw_policy *dw_policy_watch_get(struct dw_policy_watch *watch,
                                      struct dw_error *ret_problem);

/* Check now: 1 if there is a new policy, 0 if not, -1 if the file is bad. */
int dw_policy_watch_look(struct dw_policy_watch *watch, struct dw_error *err);

#endif
