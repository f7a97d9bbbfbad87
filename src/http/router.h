/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_HTTP_ROUTER_H
#define DW_HTTP_ROUTER_H

#include "http/http.h"

struct dw_route {
	const char *method;
	const char *path; /* "/v1/runs/{id}" */
	unsigned scope;   /* of enum dw_scope; 0: any key will do */
	bool open;        /* without a key, too */
	void (*fn)(struct dw_exchange *x);
};

/* The route that method and path name, with x->param; or NULL and why. */
const struct dw_route *dw_route_find(struct dw_exchange *x, struct dw_api_error *why);

/* Each in the file of its name. */
void dw_api_run(struct dw_exchange *x);
void dw_api_run_get(struct dw_exchange *x);
void dw_api_run_cancel(struct dw_exchange *x);
void dw_api_languages(struct dw_exchange *x);
void dw_api_levels(struct dw_exchange *x);
void dw_api_openapi(struct dw_exchange *x);
void dw_api_approvals(struct dw_exchange *x);
void dw_api_approval_get(struct dw_exchange *x);
void dw_api_approval_decide(struct dw_exchange *x);
void dw_api_memories(struct dw_exchange *x);
void dw_api_memory_forget(struct dw_exchange *x);
void dw_api_audit(struct dw_exchange *x);
void dw_api_health(struct dw_exchange *x);
void dw_api_ready(struct dw_exchange *x);
void dw_api_metrics(struct dw_exchange *x);
void dw_mcp_http_post(struct dw_exchange *x);
void dw_mcp_http_delete(struct dw_exchange *x);

#endif
