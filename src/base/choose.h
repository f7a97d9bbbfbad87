/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_CHOOSE_H
#define DW_BASE_CHOOSE_H

#include <stddef.h>

#include "dewar/error.h"

/*
 * One of several words, and the word that was probably meant: for every front door, so
 * that all of them suggest alike.
 */

/*
 * The index of the text among the words, which end in NULL; or -1 and DW_E_INVALID:
 * WHAT must be a, b or c, not "x" (did you mean b?). A caller that puts the name in front
 * itself gives NULL.
 */
int dw_choose(const char *what, const char *text, const char *const *words,
              struct dw_error *err);

/*
 * The nearest of many words: offer each of them, then look at best, or add it to an
 * error. Start from {.typed = text}.
 */
struct dw_guess {
	const char *typed;
	const char *best; /* NULL while nothing is close enough */
	size_t distance;
};

/* The word must live as long as the guess. */
void dw_guess_offer(struct dw_guess *guess, const char *word);

/* Append " (did you mean PREFIXbest?)" to the error if there is one, and return -1. */
int dw_suggest(struct dw_error *err, const struct dw_guess *guess, const char *prefix);

#endif
