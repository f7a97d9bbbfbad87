/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_POLICY_POLICY_H
#define DW_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "dewar/error.h"

/*
 * What may run: settings and rules of one file, loaded and checked. It never
 * changes, so threads share it; who wants to keep it takes a reference.
 *
 * docs/POLICY.md has the format. What a policy says of a request: decide.h.
 */
struct dw_policy;

/* Where the host's own is, which holds if nobody names one. */
#define DW_POLICY_HOST "/etc/dewar/policy.yaml"

/* What is larger is refused. */
#define DW_POLICY_BYTES_MAX ((size_t)1 << 20)

/*
 * A profile that we ship ("open", "standard", "strict") or, if there is a slash in it
 * or .yaml at its end, a file. NULL: DW_POLICY_HOST if that is there, or else "open".
 * What is wrong with a file is DW_E_INVALID with file, line and key.
 */
int dw_policy_load(const char *name, struct dw_policy **ret, struct dw_error *err);

/* The same of a text; the file is for errors, and for whoever asks what decided. */
int dw_policy_parse(const char *file, const char *text, size_t len,
                    struct dw_policy **ret, struct dw_error *err);

/* Both accept NULL; the last reference frees it. From any thread. */
struct dw_policy *dw_policy_ref(struct dw_policy *policy);
void dw_policy_unref(struct dw_policy *policy);

/* The file that it was read from, or the name of the profile. */
const char *dw_policy_file(const struct dw_policy *policy);

/* How many rules it has, its profile's counted. */
size_t dw_policy_n_rules(const struct dw_policy *policy);

/* The profiles that we ship: the name at index (NULL behind the last), and its text. */
const char *dw_policy_profile(size_t index, const char **ret_text, size_t *ret_len);

/*
 * Settings that others act on. The strings live as long as the policy.
 */
struct dw_policy_approvals {
	unsigned expire_s;   /* how long one waits for its answer */
	bool self;           /* may one approve what one has asked for oneself? */
	const char *webhook; /* is told when one arrives; or NULL */
};

const struct dw_policy_approvals *dw_policy_approvals(const struct dw_policy *policy);

/*
 * The operator's own check, an external program or a URL, which is asked about every
 * run that the rules do not deny. NULL without one.
 */
struct dw_policy_hook {
	const char *const *program;   /* argv, an absolute path first; or NULL */
	const char *url;              /* ... then this is not */
	unsigned timeout_s;           /* no answer by then is a denial */
	const char *const *languages; /* only of these (names); NULL: of all */
};

const struct dw_policy_hook *dw_policy_hook(const struct dw_policy *policy);

#endif
