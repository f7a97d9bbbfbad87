/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/words.h"

#include <stddef.h>
#include <string.h>

const char *dw_word(char *const *words, const char *key)
{
	size_t len = strlen(key);

	for (; *words; words++)
		if (strncmp(*words, key, len) == 0 && (*words)[len] == '=')
			return *words + len + 1;
	return NULL;
}
