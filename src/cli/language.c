/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/language.h"

#include <string.h>

static bool in_list(const char *list, const char *word)
{
	size_t want = strlen(word);
	size_t len;

	for (; *list != '\0'; list += len) {
		list += strspn(list, " ");
		len = strcspn(list, " ");
		if (len > 0 && len == want && strncasecmp(list, word, len) == 0)
			return true;
	}
	return false;
}

bool dw_language_is(const char *word)
{
	struct dw_language lang;
	size_t i;

	for (i = 0; i < dw_language_count(); i++) {
		if (dw_language_peek(i, &lang) < 0)
			continue;
		if (strcasecmp(lang.name, word) == 0 || in_list(lang.aliases, word))
			return true;
	}
	return false;
}

void dw_language_guess(struct dw_guess *guess)
{
	struct dw_language lang;
	size_t i;

	for (i = 0; i < dw_language_count(); i++)
		if (dw_language_peek(i, &lang) == 0)
			dw_guess_offer(guess, lang.name);
}
