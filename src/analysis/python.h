/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_ANALYSIS_PYTHON_H
#define DW_ANALYSIS_PYTHON_H

#include "analysis/read.h"

/* What the files that read Python share: names, bindings, values, findings. */

extern const char *const dw_python_modules[];
extern const struct dw_danger dw_python_dangers[];
/* Words, as dw_word_in() takes them. */
extern const char dw_python_builtins[];
extern const char dw_python_dunders[];
extern const char dw_python_carried[];

bool dw_python_is_scope(const struct dw_tree *tree, uint32_t part);
void dw_python_bind(struct dw_reading *r, uint32_t part);
struct dw_value dw_python_eval(struct dw_reading *r, uint32_t part);
struct dw_value dw_python_member(struct dw_reading *r, struct dw_value base,
                                 const char *name, size_t len);

/* Does it stand for the names inside it, that are given something? */
bool dw_python_is_pattern(enum dw_kind kind);
/* A list or the like, as it stands there? */
bool dw_python_is_sequence(enum dw_kind kind);
/* The dotted name, without blanks or line ends that may stand in it. */
const char *dw_python_dotted(struct dw_reading *r, uint32_t part, size_t *ret_len);
/* The call's argument in that place, if it is given by its place; or 0. */
uint32_t dw_python_argument(const struct dw_tree *tree, uint32_t call, unsigned index);

#endif
