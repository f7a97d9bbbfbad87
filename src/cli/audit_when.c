/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/audit_when.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/num.h"

#define DAY_MS 86400000

/* "7d", or what dw_parse_time() knows. */
static int parse_age(const char *text, uint64_t *ret_ms, struct dw_error *err)
{
	size_t len = strlen(text);
	uint64_t days;
	char number[16];

	if (len < 2 || len > sizeof(number) || text[len - 1] != 'd')
		return dw_parse_time(text, ret_ms, err);
	(void)snprintf(number, sizeof(number), "%.*s", (int)len - 1, text);
	if (dw_parse_uint(number, 1000000, &days, err) < 0)
		return -1;
	*ret_ms = days * DAY_MS;
	return 0;
}

int dw_when_parse(const char *text, int64_t now_us, int64_t *ret_us, struct dw_error *err)
{
	static const char *const forms[] = {
		"%Y-%m-%d",
		"%Y-%m-%dT%H:%M",
		"%Y-%m-%dT%H:%M:%S",
	};
	uint64_t age_ms;

	for (size_t i = 0; i < ARRAY_SIZE(forms) && strlen(text) >= 8; i++) {
		struct tm tm = {0};
		const char *end = strptime(text, forms[i], &tm);

		if (!end || (strcmp(end, "") != 0 && strcmp(end, "Z") != 0))
			continue;
		*ret_us = (int64_t)timegm(&tm) * 1000000;
		return 0;
	}
	if (parse_age(text, &age_ms, NULL) < 0 || age_ms > (uint64_t)now_us / 1000)
		return dw_fail(err, DW_E_INVALID, 0,
		               "\"%.64s\" is no time: write 2026-11-15, 2026-11-15T14:00:00Z, "
		               "or how long ago (90s, 2h, 7d)",
		               text);
	*ret_us = now_us - (int64_t)age_ms * 1000;
	return 0;
}
