/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_ANALYSIS_PHP_H
#define DW_ANALYSIS_PHP_H

#include "analysis/read.h"

/*
 * What the files that read PHP share: names, bindings, values, findings.
 *
 * In PHP a text is as good as a function's name, and no name minds its case. We bind
 * variables with their dollar, and functions without.
 */

/* What comes with a request: a name that no function has. */
#define DW_PHP_REQUEST "$request"

extern const struct dw_danger dw_php_dangers[];
/* Words, as dw_word_in() takes them. */
extern const char dw_php_callers[];
extern const char dw_php_reflectors[];
extern const char dw_php_from_outside[];

bool dw_php_is_scope(const struct dw_tree *tree, uint32_t part);
void dw_php_bind(struct dw_reading *r, uint32_t part);
struct dw_value dw_php_eval(struct dw_reading *r, uint32_t part);

bool dw_php_is_function(enum dw_kind kind);
/* What the call's argument in that place is; or 0. */
uint32_t dw_php_argument(const struct dw_tree *tree, uint32_t call, unsigned index);
/* The function of that name, if it is PHP's: without case, without a first "\". */
struct dw_value dw_php_function_named(struct dw_reading *r, const char *text, size_t len);
/* The function that a call calls. */
struct dw_value dw_php_callee(struct dw_reading *r, uint32_t call);
struct dw_value dw_php_string_value(struct dw_reading *r, uint32_t part);

#endif
