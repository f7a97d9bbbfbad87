/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_PERMIT_H
#define DW_CLI_PERMIT_H

#include <stdbool.h>

#include "dewar/request.h"
#include "gate/gate.h"

/*
 * Whether a run of the command line may be: the policy, the operator's check, and
 * people, for whom it waits. Start from {0}.
 */
struct dw_permit {
	struct dw_gate *gate;
	struct dw_approvals *approvals; /* once somebody was asked */
	struct dw_people *people;
	struct dw_passage passage;
	const char *place; /* of the approvals; NULL: where the daemon's are */
	bool quiet;        /* do not say that we wait */
};

/* The policy as dw_policy_load() has it. */
int dw_permit_open(struct dw_permit *permit, const char *policy, struct dw_error *err);

/*
 * Ask, and wait for who is asked, or until the request's cancel_fd is readable. What
 * was decided is in the passage, and if it is OPEN in the request, which refers to it.
 */
int dw_permit_get(struct dw_permit *permit, const char *who, struct dw_request *req,
                  struct dw_error *err);

/* Right before the run, with its record on disk: the passage may be SHUT after all. */
int dw_permit_use(struct dw_permit *permit, const char *who, const struct dw_request *req,
                  struct dw_error *err);

/* Once nobody uses the request any more. */
void dw_permit_close(struct dw_permit *permit);

#endif
