/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/api_error.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/error_json.h"

/* The default for Retry-After, which the caller of dw_api_fail() may replace. */
#define RETRY_S 1

static const struct {
	int status;
	const char *code;
} codes[] = {
	{400, "invalid"},
	{401, "unauthorized"},
	{403, "denied"},
	{404, "not_found"},
	{405, "method_not_allowed"},
	{406, "not_acceptable"},
	{408, "timeout"},
	{409, "conflict"},
	{411, "too_large"}, /* no Content-Length, so the size is unknown */
	{413, "too_large"},
	{415, "unsupported_media_type"},
	{421, "misdirected"},
	{429, "busy"},
	{500, "internal"},
	{501, "unsupported"},
	{503, "unavailable"},
};

/* The status of each error code, as dewar/error.h lists them. */
static const int statuses[] = {
	[DW_OK] = 500, /* not an error */
	[DW_E_INVALID] = 400, [DW_E_DENIED] = 403,      [DW_E_NOT_FOUND] = 404,
	[DW_E_BUSY] = 429,    [DW_E_UNSUPPORTED] = 501, [DW_E_INTERNAL] = 500,
};
_Static_assert(ARRAY_SIZE(statuses) == DW_E_COUNT, "a status for each code");

static const char *code_of(int status)
{
	for (size_t i = 0; i < ARRAY_SIZE(codes); i++)
		if (codes[i].status == status)
			return codes[i].code;
	return status >= 400 && status < 500 ? "invalid" : "internal";
}

int dw_api_fail(struct dw_api_error *ret, int status, const char *hint, const char *fmt,
                ...)
{
	int saved = errno;
	va_list ap;

	*ret = (struct dw_api_error){
		.status = status,
		.code = code_of(status),
		.retry_after_s = status == 429 || status == 503 ? RETRY_S : 0,
	};
	va_start(ap, fmt);
	(void)vsnprintf(ret->message, sizeof(ret->message), fmt, ap);
	va_end(ap);
	(void)snprintf(ret->hint, sizeof(ret->hint), "%s", hint ? hint : "");
	errno = saved;
	return -1;
}

int dw_api_fail_with(struct dw_api_error *ret, const struct dw_error *err)
{
	int status = (unsigned)err->code < DW_E_COUNT ? statuses[err->code] : 500;

	return dw_api_fail(ret, status, NULL, "%s", err->text);
}

char *dw_api_error_to_json(const struct dw_api_error *error)
{
	json_auto_t *root = dw_error_json(error->code, error->message, error->hint);

	return root ? json_dumps(root, JSON_COMPACT) : NULL;
}
