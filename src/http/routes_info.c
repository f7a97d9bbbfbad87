/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "daemon/service.h"
#include "http/http_own.h"
#include "openapi_embedded.h"
#include "request/limits.h"

static void find_languages(struct dw_exchange *x)
{
	x->state = dw_host_info_languages();
	x->free_state = free;
}

static void find_levels(struct dw_exchange *x)
{
	x->state = dw_host_info_levels();
	x->free_state = free;
}

static void show(struct dw_exchange *x)
{
	dw_reply_json(x, 200, x->state);
}

void dw_api_languages(struct dw_exchange *x)
{
	dw_exchange_offload(x, find_languages, show);
}

/*
 * List all levels of this host. The caller's grant may permit fewer of them; the error
 * for a level that is not permitted names those that are.
 */
void dw_api_levels(struct dw_exchange *x)
{
	dw_exchange_offload(x, find_levels, show);
}

static char *openapi;

/* Add the limits, which openapi.json lacks because their own table describes them. */
static void make_openapi(void)
{
	json_auto_t *root = json_loadb((const char *)dw_openapi, sizeof(dw_openapi), 0,
	                               NULL);
	static const char *const path[] = {"components", "schemas", "Request",
	                                   "properties", "limits",  "properties"};
	json_t *limits = root;

	for (size_t i = 0; i < ARRAY_SIZE(path); i++)
		limits = json_object_get(limits, path[i]);
	for (size_t i = 0; i < DW_LIMIT_COUNT; i++)
		if (json_object_set_new(limits, dw_limit_rows[i].key,
		                        dw_limit_schema(i, true)) < 0)
			return;
	openapi = json_dumps(root, JSON_INDENT(1));
}

void dw_api_openapi(struct dw_exchange *x)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)pthread_once(&once, make_openapi);
	dw_reply_json(x, 200, openapi);
}

void dw_api_health(struct dw_exchange *x)
{
	dw_reply_json(x, 200, "{\"status\":\"ok\"}");
}

void dw_api_ready(struct dw_exchange *x)
{
	struct dw_error err = {0};
	struct dw_api_error why;

	if (dw_service_ready(dw_exchange_service(x), &err)) {
		dw_reply_json(x, 200, "{\"status\":\"ready\"}");
		return;
	}
	(void)dw_api_fail(&why, 503, NULL, "%s", err.text);
	dw_reply_error(x, &why);
}

void dw_api_metrics(struct dw_exchange *x)
{
	autobuf struct dw_buf text;

	dw_buf_init(&text, 1U << 20);
	dw_service_print(dw_exchange_service(x), &text);
	dw_reply(x, 200, "text/plain; version=0.0.4; charset=utf-8", text.data, text.len);
}
