/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_POLICY_DECIDE_H
#define DW_POLICY_DECIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/analyse.h"
#include "dewar/request.h"
#include "policy/policy.h"

/*
 * May this run? A pure function of the policy and the question: no I/O, no clock, and
 * the same answer to the same question. (But for code that takes so long to parse that
 * the analysis gives up, see analyse.h; that is a finding, which rules can name.)
 *
 * Rules are tried in order. The first that fits and says allow, deny or ask decides;
 * one that says raise makes the level stronger, and the walk goes on. If none decides,
 * the policy's default does. Code is analysed when the first rule wants to know.
 */
enum dw_verdict {
	DW_ALLOW = 0,
	DW_DENY,
	DW_ASK,
	DW_VERDICT_COUNT
};

/* "allow", "deny", "ask" */
const char *dw_verdict_name(enum dw_verdict verdict);

struct dw_policy_question {
	const char *who;  /* "uid:1000 (alice)", "key:1f2e3d4c (ci)" */
	const char *door; /* "cli", "http", "mcp" */
	const struct dw_request *req;
	/* As they would hold, defaults filled in; NULL: as the request has them. */
	const struct dw_limits *limits;
};

#define DW_DECISION_TEXT_MAX 256
#define DW_DECISION_LEVELS_MAX 64

/* Start from {0}. Its strings live as long as it does, whatever becomes of the policy. */
struct dw_decision {
	enum dw_verdict verdict;
	const char *rule;   /* its name; "default" if none decided */
	const char *file;   /* where that stands: a path, or a profile's name ... */
	unsigned line;      /* ... and its line there */
	const char *reason; /* what the rule's author has to say, or NULL */
	char matched[DW_DECISION_TEXT_MAX]; /* "network is full", for a person */

	/* The levels to run it at, if they are others than asked for; else empty. */
	char level[DW_DECISION_LEVELS_MAX];
	const char *raised_by; /* the last rule that changed them, or NULL */
	const char *raise_reason;
	unsigned raise_line;

	/*
	 * What the run is to be held to inside its cell: the policy's lists, and the
	 * request's own if it has any, whatever is on both. End in NULL; a NULL
	 * pointer: everything. The names are the policy's or the request's.
	 */
	const char **allowed_modules;
	const char **allowed_commands;

	struct dw_findings findings; /* empty if nobody wanted to know ... */
	bool analysed;               /* ... which is then false */

	struct dw_policy *policy; /* a reference */
};

void dw_decision_finish(struct dw_decision *decision);

/* -1 only without memory, or if the request names a level that there is not. */
int dw_policy_decide(struct dw_policy *policy, const struct dw_policy_question *question,
                     struct dw_decision *ret, struct dw_error *err);

/* A rule that was tried: what it says, if it fits, and why or why not. */
struct dw_tried {
	const char *rule;
	const char *file;
	unsigned line;
	const char *says; /* "allow", "deny", "ask", "raise" */
	bool fits;
	char text[DW_DECISION_TEXT_MAX];
};

/* How it came about. Start from {0}; the decision's strings are its own. */
struct dw_explanation {
	struct dw_decision decision;
	struct dw_tried *tried;
	size_t n_tried;
};

void dw_explanation_finish(struct dw_explanation *explanation);

/* The same decision, and every rule on the way to it; always with an analysis. */
int dw_policy_explain(struct dw_policy *policy, const struct dw_policy_question *question,
                      struct dw_explanation *ret, struct dw_error *err);

#endif
