/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_ANALYSIS_RUBY_H
#define DW_ANALYSIS_RUBY_H

#include "analysis/read.h"

/*
 * What the files that read Ruby share: names, bindings, values, findings.
 *
 * In Ruby nearly everything is a method. Those of Kernel may be called from anywhere
 * without naming it, and through send() on any object at all. We bind variables as they
 * are, and methods with a dot in front.
 */

#define DW_RUBY_NAME_MAX 200

extern const char *const dw_ruby_modules[];
extern const struct dw_danger dw_ruby_dangers[];
/* Words, as dw_word_in() takes them. */
extern const char dw_ruby_kernel[];
extern const char dw_ruby_needs_text[];

bool dw_ruby_is_scope(const struct dw_tree *tree, uint32_t part);
void dw_ruby_bind(struct dw_reading *r, uint32_t part);
struct dw_value dw_ruby_eval(struct dw_reading *r, uint32_t part);
struct dw_value dw_ruby_member(struct dw_reading *r, struct dw_value base,
                               const char *name, size_t len);

/* The call's argument in that place; or 0. */
uint32_t dw_ruby_argument(const struct dw_tree *tree, uint32_t call, unsigned index);
/* Kernel's method of that name; unknown if we do not ask for it. */
struct dw_value dw_ruby_kernel_method(struct dw_reading *r, const char *name, size_t len);
/* Does it call, or get, the method that its argument names? */
bool dw_ruby_is_send(const struct dw_tree *tree, uint32_t method);
/* The method that a call calls, behind send() and method() too. */
struct dw_value dw_ruby_callee(struct dw_reading *r, uint32_t call);
struct dw_value dw_ruby_string_value(struct dw_reading *r, uint32_t part);

#endif
