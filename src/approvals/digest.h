/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_APPROVALS_DIGEST_H
#define DW_APPROVALS_DIGEST_H

#include "approvals/approvals.h"

/*
 * SHA-256 over all of a request that says what runs, and where: any difference in it
 * is another hash. Left out are its id, and what is about whoever waits (callbacks,
 * cancel_fd, yields, memory). Of what is on the host (workspace, program, image) it has the
 * names; of an open stdin_fd only that there is one.
 */
void dw_approval_digest(const struct dw_request *req, char ret[DW_APPROVAL_HASH_MAX]);

#endif
