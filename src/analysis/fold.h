/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_ANALYSIS_FOLD_H
#define DW_ANALYSIS_FOLD_H

#include "analysis/read.h"

/*
 * What the usual functions make of constants: enough that a name put together from
 * pieces is seen for what it is. Unknown goes in, unknown comes out.
 */

/* Decode \n, \x41, \u0041, \u{41}, \101 and the like, as most languages have them. */
struct dw_value dw_unescape(struct dw_reading *r, const char *text, size_t len);

struct dw_value dw_fold_char(struct dw_reading *r, struct dw_value number);
/* The numbers that are a part's children, as characters. */
struct dw_value dw_fold_chars(struct dw_reading *r, uint32_t list);
/* The texts that are a part's children, with something between them. */
struct dw_value dw_fold_list(struct dw_reading *r, uint32_t list,
                             struct dw_value between);
struct dw_value dw_fold_replace(struct dw_reading *r, struct dw_value v,
                                struct dw_value old, struct dw_value new, bool all);
struct dw_value dw_fold_case(struct dw_reading *r, struct dw_value v, bool upper);
struct dw_value dw_fold_reverse(struct dw_reading *r, struct dw_value v);
struct dw_value dw_fold_times(struct dw_reading *r, struct dw_value v, int64_t n);
struct dw_value dw_fold_slice(struct dw_reading *r, struct dw_value v, int64_t from,
                              int64_t to, int64_t step);
struct dw_value dw_fold_base64(struct dw_reading *r, struct dw_value v);
struct dw_value dw_fold_hex(struct dw_reading *r, struct dw_value v);
struct dw_value dw_fold_percent(struct dw_reading *r, struct dw_value v);
struct dw_value dw_fold_rot13(struct dw_reading *r, struct dw_value v);
/* Numbers added, texts joined. */
struct dw_value dw_fold_plus(struct dw_reading *r, struct dw_value a, struct dw_value b);
/* A literal of pieces: plain text, escapes, and holes with an expression in them. */
struct dw_value dw_fold_pieces(struct dw_reading *r, uint32_t part, enum dw_kind plain,
                               enum dw_kind hole);
/*
 * A command line with more arguments behind it, each in quotes of its own: that part
 * and those beside it. What we do not know is some word.
 */
struct dw_value dw_fold_command(struct dw_reading *r, struct dw_value line,
                                uint32_t first);

/* Either may be it; a name of the library's is what we are after. */
struct dw_value dw_either(struct dw_reading *r, uint32_t a, uint32_t b);

/* "f" and "()": what a call of f gave. */
struct dw_value dw_value_called(struct dw_reading *r, struct dw_value f);

#endif
