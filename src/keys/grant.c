/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/keys.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "base/values.h"

/* Indexed by the number of the scope's bit. */
const char *const dw_scope_words[] = {"run", "admin", "audit", "approve", NULL};
_Static_assert(DW_SCOPE_ALL == (1U << (ARRAY_SIZE(dw_scope_words) - 1)) - 1,
               "a name for each scope");

int dw_scope_parse(const char *name, unsigned *ret, struct dw_error *err)
{
	int chosen = dw_choose(NULL, name, dw_scope_words, err);

	if (chosen < 0)
		return -1;
	*ret = 1U << chosen;
	return 0;
}

void dw_scopes_text(unsigned scopes, char ret[DW_SCOPES_TEXT_MAX])
{
	size_t used = 0;

	ret[0] = '\0';
	for (size_t i = 0; dw_scope_words[i]; i++)
		if ((scopes & 1U << i) && used < DW_SCOPES_TEXT_MAX)
			used += (size_t)snprintf(ret + used, DW_SCOPES_TEXT_MAX - used,
			                         "%s%s", used > 0 ? "," : "",
			                         dw_scope_words[i]);
}
