/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the compiler calls by itself, even without a libc. */
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t len) __attribute__((visibility("hidden")));
void *memset(void *to, int byte, size_t len) __attribute__((visibility("hidden")));

void *memcpy(void *to, const void *from, size_t len)
{
	char *t = to;
	const char *f = from;

	for (size_t i = 0; i < len; i++)
		t[i] = f[i];
	return to;
}

void *memset(void *to, int byte, size_t len)
{
	char *t = to;

	for (size_t i = 0; i < len; i++)
		t[i] = (char)byte;
	return to;
}
