/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "http/headers.h"
#include "http/http_own.h"

static const struct dw_route routes[] = {
	{"POST", "/v1/runs", DW_SCOPE_RUN, false, dw_api_run},
	{"GET", "/v1/runs/{id}", DW_SCOPE_RUN, false, dw_api_run_get},
	{"DELETE", "/v1/runs/{id}", DW_SCOPE_RUN, false, dw_api_run_cancel},
	{"GET", "/v1/languages", 0, false, dw_api_languages},
	{"GET", "/v1/levels", 0, false, dw_api_levels},
	{"GET", "/v1/approvals", DW_SCOPE_APPROVE, false, dw_api_approvals},
	{"GET", "/v1/approvals/{id}", DW_SCOPE_APPROVE, false, dw_api_approval_get},
	{"POST", "/v1/approvals/{id}", DW_SCOPE_APPROVE, false, dw_api_approval_decide},
	{"GET", "/v1/memories", DW_SCOPE_APPROVE, false, dw_api_memories},
	{"DELETE", "/v1/memories/{id}", DW_SCOPE_APPROVE, false, dw_api_memory_forget},
	{"GET", "/v1/audit", DW_SCOPE_AUDIT, false, dw_api_audit},
	{"POST", "/mcp", DW_SCOPE_RUN, false, dw_mcp_http_post},
	{"DELETE", "/mcp", DW_SCOPE_RUN, false, dw_mcp_http_delete},
	{"GET", "/metrics", DW_SCOPE_ADMIN, false, dw_api_metrics},
	{"GET", "/openapi.json", 0, true, dw_api_openapi},
	{"GET", "/healthz", 0, true, dw_api_health},
	{"GET", "/readyz", 0, true, dw_api_ready},
};

const struct dw_route *dw_route_find(struct dw_exchange *x, struct dw_api_error *why)
{
	char allowed[64] = "";

	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		if (!dw_headers_path_fits(routes[i].path, x->path, x->param,
		                          sizeof(x->param)))
			continue;
		if (strcmp(routes[i].method, x->method) == 0)
			return &routes[i];
		(void)snprintf(allowed + strlen(allowed),
		               sizeof(allowed) - strlen(allowed), "%s%s",
		               allowed[0] ? ", " : "", routes[i].method);
	}
	if (allowed[0] == '\0') {
		(void)dw_api_fail(why, 404, "GET /openapi.json lists all paths",
		                  "unknown path %.200s", x->path);
		return NULL;
	}
	dw_reply_header(x, "Allow", allowed);
	(void)dw_api_fail(why, 405, "GET /openapi.json lists all paths",
	                  "%.200s accepts %s, not %.20s", x->path, allowed, x->method);
	return NULL;
}
