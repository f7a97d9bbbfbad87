/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/grant.h"

#include <stdio.h>
#include <string.h>

#include "base/choose.h"
#include "base/cleanup.h"

static const struct {
	const char *name;
	unsigned scope;
} scopes_by_name[] = {
	{"run", DW_SCOPE_RUN},
	{"admin", DW_SCOPE_ADMIN},
	{"audit", DW_SCOPE_AUDIT},
	{"approve", DW_SCOPE_APPROVE},
};

int dw_scope_parse(const char *name, unsigned *ret, struct dw_error *err)
{
	struct dw_guess guess = {.typed = name};

	for (size_t i = 0; i < ARRAY_SIZE(scopes_by_name); i++) {
		if (strcmp(scopes_by_name[i].name, name) == 0) {
			*ret = scopes_by_name[i].scope;
			return 0;
		}
		dw_guess_offer(&guess, scopes_by_name[i].name);
	}
	if (guess.best)
		return dw_fail(err, DW_E_INVALID, 0,
		               "no scope \"%.64s\", did you mean %s?", name, guess.best);
	return dw_fail(err, DW_E_INVALID, 0,
	               "no scope \"%.64s\", there are run, admin, audit and approve",
	               name);
}

void dw_scopes_text(unsigned scopes, char ret[DW_SCOPES_TEXT_MAX])
{
	size_t used = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(scopes_by_name); i++)
		if ((scopes & scopes_by_name[i].scope) && used < DW_SCOPES_TEXT_MAX)
			used += (size_t)snprintf(ret + used, DW_SCOPES_TEXT_MAX - used,
			                         "%s%s", used > 0 ? "," : "",
			                         scopes_by_name[i].name);
}
