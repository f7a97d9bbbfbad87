/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error_json.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

json_t *dw_json_text(const char *text, size_t len)
{
	autofree char *clean = NULL;

	if (dw_utf8_valid(text, len))
		return json_stringn_nocheck(text, len);
	clean = dw_utf8_clean(text, len, &len);
	return clean ? json_stringn_nocheck(clean, len) : NULL;
}

json_t *dw_error_json(const char *code, const char *message, const char *hint)
{
	json_t *fix = hint && *hint ? dw_json_text(hint, strlen(hint)) : json_null();

	/* json_pack() frees the other values and returns NULL if one of them is NULL. */
	return json_pack("{s:{s:s, s:o, s:o}}", "error", "code", code, "message",
	                 dw_json_text(message, strlen(message)), "hint", fix);
}
