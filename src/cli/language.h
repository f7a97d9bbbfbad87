/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_LANGUAGE_H
#define DW_CLI_LANGUAGE_H

#include <stdbool.h>

#include "cli/guess.h"
#include "dewar/dewar.h"

/*
 * As dw_language_get(), but nobody is asked: path and version stay empty. A run
 * must not pay for starting an interpreter only to learn that it has a name.
 */
int dw_language_peek(size_t index, struct dw_language *ret);

/* Is it a language's name or one of its aliases, in any case? */
bool dw_language_is(const char *word);

/* Offer the names of all languages. */
void dw_language_guess(struct dw_guess *guess);

#endif
