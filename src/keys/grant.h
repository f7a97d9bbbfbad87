/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_KEYS_GRANT_H
#define DW_KEYS_GRANT_H

#include <stdint.h>

#include "dewar/error.h"
#include "dewar/request.h"

/* What a key may do. */
enum dw_scope {
	DW_SCOPE_RUN = 1U << 0,     /* run code, and see and cancel its own runs */
	DW_SCOPE_ADMIN = 1U << 1,   /* read metrics, see and cancel all runs */
	DW_SCOPE_AUDIT = 1U << 2,   /* read the audit record */
	DW_SCOPE_APPROVE = 1U << 3, /* decide approvals */
};

#define DW_SCOPE_ALL (DW_SCOPE_RUN | DW_SCOPE_ADMIN | DW_SCOPE_AUDIT | DW_SCOPE_APPROVE)

/* The scope of that name: run, admin, audit or approve. */
int dw_scope_parse(const char *name, unsigned *ret, struct dw_error *err);

/* "run,audit" */
#define DW_SCOPES_TEXT_MAX 32
void dw_scopes_text(unsigned scopes, char ret[DW_SCOPES_TEXT_MAX]);

struct dw_grant {
	unsigned scopes;     /* of enum dw_scope */
	unsigned concurrent; /* runs at a time; here and below 0 is no limit */
	unsigned runs_per_minute;
	uint64_t cpu_s_per_day; /* from midnight UTC */
	char levels[64];        /* "container,docker"; "": all that the daemon allows */
	struct dw_limits max;   /* the most that a request may ask for */
};

#endif
