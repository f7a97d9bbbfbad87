/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/name_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Separators, which no name contains. */
#define BETWEEN ", \t"

const char **dw_names_split(const struct dw_strings *given)
{
	size_t names = 1, bytes = 0, n = 0;
	const char **list;
	char *to;

	errno = 0;
	if (given->n == 0)
		return NULL;
	for (size_t i = 0; i < given->n; i++) {
		/* Each name is followed by a separator or by the end. */
		names += strlen(given->list[i]) / 2 + 1;
		bytes += strlen(given->list[i]) + 1;
	}
	list = calloc(1, names * sizeof(*list) + bytes);
	if (!list)
		return NULL;
	to = (char *)(list + names);
	for (size_t i = 0; i < given->n; i++) {
		const char *p = given->list[i] + strspn(given->list[i], BETWEEN);

		while (*p != '\0') {
			size_t len = strcspn(p, BETWEEN);

			list[n++] = memcpy(to, p, len);
			to += len + 1;
			p += len + strspn(p + len, BETWEEN);
		}
	}
	return list;
}
