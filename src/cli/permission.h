/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_PERMISSION_H
#define DW_CLI_PERMISSION_H

#include <stdbool.h>

#include "dewar/request.h"
#include "run/gate.h"

/*
 * Whether a run of the command line may be: the policy, the operator's check, and
 * people, for whom it waits. Start from {0}.
 */
struct dw_cli_permission {
	struct dw_gate *gate;
	struct dw_approvals *approvals; /* once somebody was asked */
	struct dw_approver *people;
	struct dw_permission passage;
	const char *place; /* of the approvals; NULL: where the daemon's are */
	bool quiet;        /* do not say that we wait */
};

/* The policy as dw_policy_load() has it. */
int dw_cli_permission_open(struct dw_cli_permission *permit, const char *policy,
                           struct dw_error *err);

/*
 * Ask, and wait for who is asked, or until the request's cancel_fd is readable. What
 * was decided is in the passage, and if it is OPEN in the request, which refers to it.
 */
int dw_cli_permission_get(struct dw_cli_permission *permit, const char *who,
                          struct dw_request *req, struct dw_error *err);

/* Right before the run, with its record on disk: the passage may be SHUT after all. */
int dw_cli_permission_use(struct dw_cli_permission *permit, const char *who,
                          const struct dw_request *req, struct dw_error *err);

/* Once nobody uses the request any more. */
void dw_cli_permission_close(struct dw_cli_permission *permit);

#endif
