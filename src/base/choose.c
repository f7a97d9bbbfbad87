/* SPDX-License-Identifier: Apache-2.0 */
#include "base/values.h"

#include <stdio.h>
#include <string.h>

#define WORD_MAX 24

static size_t min(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * The edit distance of two words: how many letters to add, remove, change, or swap
 * with their neighbour to turn one into the other. Both are at most WORD_MAX long.
 */
static size_t distance(const char *a, const char *b)
{
	size_t d[WORD_MAX + 1][WORD_MAX + 1];
	size_t n = strlen(a);
	size_t m = strlen(b);
	size_t i, j;

	for (i = 0; i <= n; i++)
		d[i][0] = i;
	for (j = 0; j <= m; j++)
		d[0][j] = j;

	for (i = 1; i <= n; i++) {
		for (j = 1; j <= m; j++) {
			d[i][j] = min(d[i - 1][j], d[i][j - 1]) + 1;
			d[i][j] = min(d[i][j], d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				d[i][j] = min(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[n][m];
}

void dw_guess_offer(struct dw_guess *guess, const char *word)
{
	size_t len = strlen(guess->typed);
	size_t far;

	if (len < 2 || len > WORD_MAX || strlen(word) > WORD_MAX)
		return;

	/* Permit one error in a word of up to four letters, and two in a longer one. */
	far = distance(guess->typed, word);
	if (far > 1 + (len > 4))
		return;
	if (guess->best && far >= guess->distance)
		return;

	guess->best = word;
	guess->distance = far;
}

int dw_suggest(struct dw_error *err, const struct dw_guess *guess, const char *prefix)
{
	size_t len = err ? strlen(err->text) : 0;

	if (err && guess->best)
		(void)snprintf(err->text + len, sizeof(err->text) - len,
		               " (did you mean %s%s?)", prefix, guess->best);
	return -1;
}

const char *dw_words_text(const char *const *words, char ret[DW_WORDS_TEXT_MAX])
{
	size_t used = 0;

	ret[0] = '\0';
	for (size_t i = 0; words[i] && used < DW_WORDS_TEXT_MAX; i++)
		used += (size_t)snprintf(ret + used, DW_WORDS_TEXT_MAX - used, "%s%s",
		                         i == 0         ? ""
		                         : words[i + 1] ? ", "
		                                        : " or ",
		                         words[i]);
	if (used >= DW_WORDS_TEXT_MAX)
		(void)memcpy(ret + DW_WORDS_TEXT_MAX - 4, "...", 4);
	return ret;
}

int dw_choose(const char *what, const char *text, const char *const *words,
              struct dw_error *err)
{
	struct dw_guess guess = {.typed = text};
	char all[DW_WORDS_TEXT_MAX];

	for (int i = 0; words[i]; i++) {
		if (strcmp(words[i], text) == 0)
			return i;
		dw_guess_offer(&guess, words[i]);
	}
	(void)dw_fail(err, DW_E_INVALID, 0, "%s%smust be %s, not \"%.32s\"",
	              what ? what : "", what ? " " : "", dw_words_text(words, all), text);
	return dw_suggest(err, &guess, "");
}
