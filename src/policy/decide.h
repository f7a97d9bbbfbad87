/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_POLICY_DECIDE_H
#define DW_POLICY_DECIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/analyse.h"
#include "dewar/request.h"
#include "policy/policy.h"

/*
 * The decision about a run: a pure function of the policy and the question, without I/O
 * and clock. (One exception: the analysis gives up on code that takes too long to parse,
 * see analyse.h; that is a finding, which rules can name.)
 *
 * Rules are tried in order. The first matching rule with allow, deny or ask decides; a
 * matching raise makes the level stronger, and the walk goes on. Without a match the
 * default of the policy decides. Code is analysed when a rule first needs it.
 */
enum dw_effect {
	DW_ALLOW = 0,
	DW_DENY,
	DW_ASK,
	DW_EFFECT_COUNT
};

/* "allow", "deny", "ask" */
const char *dw_effect_name(enum dw_effect effect);

struct dw_policy_question {
	const char *who;  /* "uid:1000 (alice)", "key:1f2e3d4c (ci)" */
	const char *door; /* "cli", "http", "mcp" */
	const struct dw_request *req;
	/* The limits, with defaults filled in; NULL: those of the request. */
	const struct dw_limits *limits;
};

#define DW_DECISION_TEXT_MAX 256
#define DW_DECISION_LEVELS_MAX 64

/* Start from {0}. The decision has a reference to the policy, which owns its strings. */
struct dw_decision {
	enum dw_effect effect;
	const char *rule;   /* the name of the rule, or "default" */
	const char *file;   /* where the rule is: a path, or a profile's name */
	unsigned line;      /* of the rule, in that file */
	const char *reason; /* of the rule, or NULL */
	char matched[DW_DECISION_TEXT_MAX]; /* "network is full", for a person */

	/* The levels to run at if they differ from the request, otherwise "". */
	char level[DW_DECISION_LEVELS_MAX];
	const char *raised_by; /* the last rule that changed them, or NULL */
	const char *raise_reason;
	unsigned raise_line;

	/*
	 * The lists to enforce inside the cell: names that both the policy and the
	 * request allow. They end in NULL; a NULL pointer allows everything. The names
	 * belong to the policy or the request.
	 */
	const char **allowed_modules;
	const char **allowed_commands;

	struct dw_findings findings; /* empty unless analysed */
	bool analysed;

	struct dw_policy *policy; /* a reference */
};

void dw_decision_finish(struct dw_decision *decision);

/* Returns -1 only if out of memory, or if the request names an unknown level. */
int dw_policy_decide(struct dw_policy *policy, const struct dw_policy_question *question,
                     struct dw_decision *ret, struct dw_error *err);

/* A rule that was tried, whether it matched, and why. */
struct dw_tried {
	const char *rule;
	const char *file;
	unsigned line;
	const char *says; /* "allow", "deny", "ask", "raise" */
	bool fits;
	char text[DW_DECISION_TEXT_MAX];
};

/* A decision with all rules tried. Start from {0}. */
struct dw_explanation {
	struct dw_decision decision;
	struct dw_tried *tried;
	size_t n_tried;
};

void dw_explanation_finish(struct dw_explanation *explanation);

/* Decide, and list each rule that was tried; always analyses the code. */
int dw_policy_explain(struct dw_policy *policy, const struct dw_policy_question *question,
                      struct dw_explanation *ret, struct dw_error *err);

#endif
