/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_ANALYSIS_JAVASCRIPT_H
#define DW_ANALYSIS_JAVASCRIPT_H

#include "analysis/read.h"

/*
 * What the files that read JavaScript share: names, bindings, values, findings. That is
 * JavaScript as Node.js has it, and TypeScript, whose tree only has types besides.
 */

extern const char *const dw_javascript_modules[];
extern const struct dw_danger dw_javascript_dangers[];
/* Words, as dw_word_in() takes them. */
extern const char dw_javascript_globals[];
extern const char dw_javascript_everything[];

bool dw_javascript_is_scope(const struct dw_tree *tree, uint32_t part);
void dw_javascript_bind(struct dw_reading *r, uint32_t part);
struct dw_value dw_javascript_eval(struct dw_reading *r, uint32_t part);
struct dw_value dw_javascript_member(struct dw_reading *r, struct dw_value base,
                                     const char *name, size_t len);

bool dw_javascript_is_function(enum dw_kind kind);
/* import type, import typeof: gone before the program runs. */
bool dw_javascript_is_type_only(const struct dw_tree *tree, uint32_t part);
/* "node:fs", "fs/promises": the module's own name. */
const char *dw_javascript_module_path(struct dw_reading *r, struct dw_value v);
/* The key of a pair in an object, or in a pattern for one; NULL if not known. */
const char *dw_javascript_key_of(struct dw_reading *r, uint32_t key);
/* The call's argument in that place; or 0. */
uint32_t dw_javascript_argument(const struct dw_tree *tree, uint32_t call,
                                unsigned index);
/* Is it require(), or another function that does the same? */
bool dw_javascript_is_require(struct dw_value f);

#endif
