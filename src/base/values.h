/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_VALUES_H
#define DW_BASE_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "dewar/error.h"

/* ---- num.c ---- */

/*
 * Numbers in human-readable form. The whole text must be a number: no blanks, no sign,
 * nothing after it. On failure *ret is untouched and the error is DW_E_INVALID, with the
 * text and the accepted units.
 */

/* "42" */
int dw_parse_uint(const char *text, uint64_t max, uint64_t *ret, struct dw_error *err);

/* "512k", "1.5m", "256MB", "1g", "1GiB", "1048576": bytes; k is 1024. */
int dw_parse_size(const char *text, uint64_t *ret, struct dw_error *err);

/* "30", "30s", "1.5s", "500ms", "2m", "1h": milliseconds; a plain number is seconds. */
int dw_parse_time(const char *text, uint64_t *ret_ms, struct dw_error *err);

/* "0.5", "2", "50%": percent of one core. */
int dw_parse_cpus(const char *text, uint64_t *ret_percent, struct dw_error *err);

#define DW_VALUE_TEXT_MAX 32

/* Format a value, in the largest unit without a fraction: "256M", "90s". */
const char *dw_size_text(uint64_t bytes, char ret[DW_VALUE_TEXT_MAX]);
const char *dw_time_text(uint64_t ms, char ret[DW_VALUE_TEXT_MAX]);

/* ---- choose.c ---- */

/*
 * Choose one of several words, or suggest the word that was probably meant. All front
 * doors use these functions, so that all give the same suggestions.
 */

#define DW_WORDS_TEXT_MAX 256

/* Write words, which end in NULL, as "a, b or c"; cut if it is too long. Returns ret. */
const char *dw_words_text(const char *const *words, char ret[DW_WORDS_TEXT_MAX]);

/*
 * The index of the text among the words, which end in NULL; or -1 and DW_E_INVALID:
 * WHAT must be a, b or c, not "x" (did you mean b?). If what is NULL, the caller puts the
 * name in front of the error.
 */
int dw_choose(const char *what, const char *text, const char *const *words,
              struct dw_error *err);

/*
 * The word that is nearest to a mistyped one: start from {.typed = text}, offer all
 * words, then read best, or add it to an error by dw_suggest().
 */
struct dw_guess {
	const char *typed;
	const char *best; /* NULL while nothing is close enough */
	size_t distance;
};

/* The word must live as long as the guess. */
void dw_guess_offer(struct dw_guess *guess, const char *word);

/* If best is set, append " (did you mean PREFIXbest?)" to the error. Returns -1. */
int dw_suggest(struct dw_error *err, const struct dw_guess *guess, const char *prefix);

#endif
