/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_LANGUAGE_H
#define DW_CLI_LANGUAGE_H

#include <stdbool.h>

#include "base/choose.h"
#include "dewar/dewar.h"
#include "languages/installed.h"

/* Is it a language's name or one of its aliases, in any case? */
bool dw_language_is(const char *word);

/* Offer the names of all languages. */
void dw_language_guess(struct dw_guess *guess);

#endif
