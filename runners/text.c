/* SPDX-License-Identifier: Apache-2.0 */
#include "runners/zygote.h"

size_t dw_length(const char *text)
{
	size_t n = 0;

	while (text[n] != '\0')
		n++;
	return n;
}

void dw_copy(void *to, const void *from, size_t len)
{
	char *t = to;
	const char *f = from;

	for (size_t i = 0; i < len; i++)
		t[i] = f[i];
}

const char *dw_after(const char *text, const char *start)
{
	while (*start != '\0')
		if (*text++ != *start++)
			return 0;
	return text;
}

bool dw_is_same(const char *a, const char *b)
{
	const char *rest = dw_after(a, b);

	return rest && *rest == '\0';
}

void dw_name(char *ret, const char *before, long number, const char *behind)
{
	char digits[20];
	size_t n = 0, len = dw_length(before);

	dw_copy(ret, before, len);
	ret += len;
	do
		digits[n++] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	while (n > 0)
		*ret++ = digits[--n];
	dw_copy(ret, behind, dw_length(behind) + 1);
}
