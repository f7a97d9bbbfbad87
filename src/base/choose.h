/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_BASE_CHOOSE_H
#define DW_BASE_CHOOSE_H

#include <stddef.h>

/*
 * What somebody may have meant: offer every word there is, then look at best.
 * Start from {.typed = text}.
 */
struct dw_guess {
	const char *typed;
	const char *best; /* NULL while nothing is close enough */
	size_t distance;
};

/* The word must live as long as the guess. */
void dw_guess_offer(struct dw_guess *guess, const char *word);

#endif
