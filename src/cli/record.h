/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_RECORD_H
#define DW_CLI_RECORD_H

#include "dewar/request.h"
#include "dewar/result.h"

/* A run and its record in the caller's audit file. Start from {0}: without one. */
struct dw_cli_record {
	struct dw_audit *audit;
	char id[DW_ID_MAX];
	char who[96];
	const char *decision; /* of the policy, and by which rule; or NULL */
	const char *rule;
};

/* Who the caller is, and the request's id: before it is decided about and recorded. */
void dw_cli_record_init(struct dw_cli_record *rec, struct dw_request *req);

/*
 * Write down that it is about to run; 0 once that is on disk. The path may be NULL,
 * for the default. The request refers to *rec.
 */
int dw_cli_record_begin(struct dw_cli_record *rec, const char *path,
                        struct dw_request *req, struct dw_error *err);

/* How it went: res, or why there is none. Nothing to do without a record. */
int dw_cli_record_end(struct dw_cli_record *rec, const struct dw_result *res,
                      const struct dw_error *why, struct dw_error *err);

#endif
