/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/doctor.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

static const struct dw_known_bad table[] = {
#define FIXED(...)          \
	{                   \
		__VA_ARGS__ \
	}
#define CALLS(...)          \
	{                   \
		__VA_ARGS__ \
	}
#define NO_CALLS     \
	{            \
		NULL \
	}
#define NO_WALL NULL
#define KNOWN_BAD(component, cve, from, fixed, what, wall, calls) \
	{DW_COMPONENT_##component, cve, from, fixed, what, wall, calls},
#include "doctor/known_bad.def"
};

const struct dw_known_bad *dw_known_bad_table(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(table);
	return table;
}

/*
 * Read a number and move *at behind it. Returns false if it is missing or above a
 * million.
 */
static bool read_number(const char **at, int *ret)
{
	char *end;
	long n;

	if (!isdigit((unsigned char)**at))
		return false;
	n = strtol(*at, &end, 10);
	if (n > 1000000)
		return false;
	*at = end;
	*ret = (int)n;
	return true;
}

bool dw_version_read(const char *text, struct dw_version *ret)
{
	for (const char *p = text; *p != '\0'; p++) {
		struct dw_version v = {0, 0, 0, DW_NO_RC};
		const char *at = p;

		if (p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '.'))
			continue;
		if (*at == 'v')
			at++;
		if (!read_number(&at, &v.major) || *at++ != '.' ||
		    !read_number(&at, &v.minor))
			continue;
		if (at[0] == '.' && isdigit((unsigned char)at[1])) {
			at++;
			if (!read_number(&at, &v.patch))
				continue;
		}
		/* 1.0.0-rc93, 1.0.0~rc93+ds1 (Debian), 1.4.0-rc.3 */
		if (*at == '-' || *at == '~' || *at == '+')
			at++;
		if (strncmp(at, "rc", 2) == 0) {
			at += 2 + (at[2] == '.' || at[2] == '-');
			if (!read_number(&at, &v.rc))
				v.rc = 0;
		}
		*ret = v;
		return true;
	}
	return false;
}

static int order(int a, int b)
{
	return (a > b) - (a < b);
}

int dw_version_compare(const struct dw_version *a, const struct dw_version *b)
{
	int c = order(a->major, b->major);

	if (c == 0)
		c = order(a->minor, b->minor);
	if (c == 0)
		c = order(a->patch, b->patch);
	return c != 0 ? c : order(a->rc, b->rc);
}

bool dw_version_of_kernel(const char *release, const char *version, const char *signature,
                          struct dw_version *ret)
{
	const char *debian = strstr(version, "Debian "), *last = strrchr(signature, ' ');

	if (debian && dw_version_read(debian + strlen("Debian "), ret))
		return true;
	if (strncmp(signature, "Ubuntu ", 7) == 0 && last &&
	    dw_version_read(last + 1, ret))
		return true;
	return dw_version_read(release, ret);
}

bool dw_known_bad_has(const struct dw_known_bad *bad, const struct dw_version *version)
{
	struct dw_version from, fixed, newest = {0};

	if (dw_version_read(bad->from, &from) && dw_version_compare(version, &from) < 0)
		return false;
	for (size_t i = 0; i < DW_FIXED_MAX && bad->fixed[i]; i++) {
		if (!dw_version_read(bad->fixed[i], &fixed))
			continue;
		if (fixed.major == version->major && fixed.minor == version->minor)
			return dw_version_compare(version, &fixed) < 0;
		if (dw_version_compare(&fixed, &newest) > 0)
			newest = fixed;
	}
	return dw_version_compare(version, &newest) < 0;
}
