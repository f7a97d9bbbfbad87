/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_POLICY_POLICY_H
#define DW_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "dewar/error.h"

/*
 * The settings and rules of one file, loaded and checked. A policy never changes, so
 * threads share it; take a reference to keep it. docs/POLICY.md specifies the format,
 * and decide.h applies a policy to a request.
 */
struct dw_policy;

/* The host's policy; used by default if the file exists. */
#define DW_POLICY_HOST "/etc/dewar/policy.yaml"

/*
 * Load a built-in profile ("open", "standard", "strict") or, if the name contains a slash
 * or ends in .yaml, a file. NULL: DW_POLICY_HOST if it exists, otherwise "open". A bad
 * file is DW_E_INVALID with file, line and key.
 */
int dw_policy_load(const char *name, struct dw_policy **ret, struct dw_error *err);

/* The same for a policy in memory; file is its name in errors and explanations. */
int dw_policy_parse(const char *file, const char *text, size_t len,
                    struct dw_policy **ret, struct dw_error *err);

/* Both accept NULL and work in any thread; the last unref frees the policy. */
struct dw_policy *dw_policy_ref(struct dw_policy *policy);
void dw_policy_unref(struct dw_policy *policy);

/* The path of the policy's file, or the name of the profile. */
const char *dw_policy_file(const struct dw_policy *policy);

/* The number of rules, including those of the profile. */
size_t dw_policy_n_rules(const struct dw_policy *policy);

/* A built-in profile: the name at index (NULL after the last), and its text. */
const char *dw_policy_profile(size_t index, const char **ret_text, size_t *ret_len);

/* The front doors that a rule may name; ends in NULL. */
extern const char *const dw_policy_door_words[];

/*
 * Settings for approvals. The strings live as long as the policy.
 */
struct dw_policy_approvals {
	unsigned expire_s;   /* how long an approval may be pending */
	bool self;           /* callers may approve their own requests */
	const char *webhook; /* a URL to notify of new approvals, or NULL */
};

const struct dw_policy_approvals *dw_policy_approvals(const struct dw_policy *policy);

/*
 * The operator's check: a program or a URL that is called for each run that the rules do
 * not deny.
 */
struct dw_policy_hook {
	const char *const *program;   /* argv with an absolute path, or NULL for a url */
	const char *url;              /* or NULL */
	unsigned timeout_s;           /* no answer in time is a denial */
	const char *const *languages; /* called only for these; NULL: for all */
};

#define DW_POLICY_HOOK_TIMEOUT_MAX_S 60U

/* NULL if the policy has no hook. */
const struct dw_policy_hook *dw_policy_hook(const struct dw_policy *policy);

/* ---- watch.c ---- */

/*
 * A policy that follows its file, for a daemon. At most once a second the file is
 * checked with stat(), and read again if its inode, size or times changed. A bad or
 * missing file changes nothing: the last good policy stays, and the error is reported
 * once. Any number of threads may use it.
 */
struct dw_policy_watch;

/* The name is as for dw_policy_load(). Fails if the policy cannot be loaded. */
int dw_policy_watch_open(const char *name, struct dw_policy_watch **ret,
                         struct dw_error *err);
void dw_policy_watch_close(struct dw_policy_watch *watch); /* accepts NULL */

/*
 * The current policy: a reference for the caller, never NULL. If a changed file was
 * rejected, *ret_problem gets the error, once for all callers; otherwise its code is
 * DW_OK. ret_problem may be NULL; the error is then kept for another call.
 */
struct dw_policy *dw_policy_watch_get(struct dw_policy_watch *watch,
                                      struct dw_error *ret_problem);

/* Check now: 1 if there is a new policy, 0 if not, -1 if the file is bad. */
int dw_policy_watch_look(struct dw_policy_watch *watch, struct dw_error *err);

#endif
