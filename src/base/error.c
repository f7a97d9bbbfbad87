/* SPDX-License-Identifier: Apache-2.0 */
#include "dewar/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

static const char *const code_names[] = {
	[DW_OK] = "ok",
	[DW_E_INVALID] = "invalid",
	[DW_E_DENIED] = "denied",
	[DW_E_NOT_FOUND] = "not_found",
	[DW_E_BUSY] = "busy",
	[DW_E_UNSUPPORTED] = "unsupported",
	[DW_E_INTERNAL] = "internal",
};
_Static_assert(ARRAY_SIZE(code_names) == DW_E_COUNT, "a name for each code");

const char *dw_code_name(enum dw_code code)
{
	return (unsigned)code < DW_E_COUNT ? code_names[code] : "internal";
}

/* Keep the text on one line: parts of it may come from a program or a file. */
static void flatten(char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = ' ';
}

int dw_fail(struct dw_error *err, enum dw_code code, int eno, const char *fmt, ...)
{
	int saved = errno;
	const char *why;
	size_t len;
	va_list ap;

	if (!err)
		return -1;

	err->code = code;
	err->sys_errno = eno;

	va_start(ap, fmt);
	(void)vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);

	if (eno != 0) {
		/* strerror() may allocate and translate; this is a table lookup. */
		why = strerrordesc_np(eno);
		len = strlen(err->text);
		(void)snprintf(err->text + len, sizeof(err->text) - len, ": %s",
		               why ? why : "unknown error");
	}
	flatten(err->text);
	errno = saved;
	return -1;
}

/* Returns true if the text is a sentence that lacks its subject, as "must be ...". */
static bool lacks_subject(const char *text)
{
	static const char *const verbs[] = {"must ", "is ", "has ", "does not "};

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (strncmp(text, verbs[i], strlen(verbs[i])) == 0)
			return true;
	return false;
}

int dw_wrap(struct dw_error *err, const char *fmt, ...)
{
	char front[DW_ERROR_TEXT_MAX];
	size_t len, rest;
	int saved = errno;
	va_list ap;

	if (!err)
		return -1;

	va_start(ap, fmt);
	(void)vsnprintf(front, sizeof(front) - 2, fmt, ap);
	va_end(ap);
	flatten(front);

	len = strlen(front);
	/* No colon in "--level must be ...", but one in "config.yaml:3: must be ...". */
	if (!lacks_subject(err->text) || len == 0 ||
	    (front[len - 1] >= '0' && front[len - 1] <= '9'))
		front[len++] = ':';
	front[len++] = ' ';
	rest = strlen(err->text);
	if (rest > sizeof(err->text) - 1 - len)
		rest = sizeof(err->text) - 1 - len;
	memmove(err->text + len, err->text, rest);
	memcpy(err->text, front, len);
	err->text[len + rest] = '\0';
	errno = saved;
	return -1;
}
