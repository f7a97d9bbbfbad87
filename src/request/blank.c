/* SPDX-License-Identifier: Apache-2.0 */
#include "request/blank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/id.h"

struct dw_result *dw_result_blank(const struct dw_request *req)
{
	struct dw_result *res = calloc(1, sizeof(*res));

	if (!res)
		return NULL;
	if (req->id) {
		(void)snprintf(res->id, sizeof(res->id), "%s", req->id);
	} else if (dw_id_make(res->id, NULL) < 0) {
		free(res);
		return NULL;
	}
	res->execution_time_ms = res->cpu_time_ms = res->memory_used_mb = -1;
	res->exit_code = -1;
	(void)snprintf(res->proof.requested, sizeof(res->proof.requested), "%s",
	               req->level ? req->level : DW_LEVEL_DEFAULT);
	if (req->image)
		res->image = strdup(req->image);
	return res;
}
