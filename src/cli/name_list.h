/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_CLI_NAME_LIST_H
#define DW_CLI_NAME_LIST_H

#include "cli/options.h"

/*
 * "a,b" and "c", given in one option or in several: a list that ends in NULL, and
 * all of it in one piece of memory, to free(). Blanks around a name and empty names
 * are left out, so that "" is the list of nothing. NULL if none was given, or
 * without memory, which errno tells apart.
 */
const char **dw_names_split(const struct dw_strings *given);

#endif
