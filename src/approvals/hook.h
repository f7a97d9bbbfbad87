/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_APPROVALS_HOOK_H
#define DW_APPROVALS_HOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dewar/error.h"

/*
 * The operator's own check: a program, or a URL, that is given a request as JSON and
 * answers {"decision": "allow" | "deny" | "ask", "reason": "..."}.
 */

/* One of argv and url. */
struct dw_hook {
	const char *const *argv; /* ends in NULL; argv[0] is an absolute path */
	const char *url;         /* http:// or https:// */
	uint64_t timeout_ms;     /* from start to end; 0: DW_HOOK_TIMEOUT_MS */
};

#define DW_HOOK_TIMEOUT_MS 5000U
#define DW_HOOK_TIMEOUT_MAX_MS 60000U
#define DW_HOOK_URL_MAX 2048
#define DW_HOOK_ANSWER_MAX ((size_t)64 << 10) /* bytes of an answer */
#define DW_HOOK_REASON_MAX 512

enum dw_hook_decision {
	DW_HOOK_DENY = 0, /* what zeroes mean */
	DW_HOOK_ALLOW,
	DW_HOOK_ASK,
	DW_HOOK_DECISION_COUNT
};

const char *dw_hook_decision_name(enum dw_hook_decision decision);

struct dw_hook_answer {
	enum dw_hook_decision decision;
	bool failed; /* there was no answer: then it is a deny, and reason says why */
	char reason[DW_HOOK_REASON_MAX]; /* UTF-8 without control characters, or "" */
	char detail[DW_HOOK_REASON_MAX]; /* if it failed, for the operator's log alone:
	                                  * the last line that it wrote to stderr, or "" */
};

/* Does the hook make sense? DW_E_INVALID, and what does not. For reading a config. */
int dw_hook_check(const struct dw_hook *hook, struct dw_error *err);

/*
 * Ask, and wait for the answer. There is always one: whatever goes wrong (late, crashed,
 * another exit status than 0, garbage, too long, not there) is a deny. Nothing of
 * the hook's process group is left running. From any number of threads.
 */
void dw_hook_ask(const struct dw_hook *hook, const char *json, size_t len,
                 struct dw_hook_answer *ret);

/* The answer in these bytes; -1 with DW_E_INVALID, and then *ret is untouched. */
int dw_hook_answer_parse(const char *text, size_t len, struct dw_hook_answer *ret,
                         struct dw_error *err);

#endif
