/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_ANALYSIS_TREE_H
#define DW_ANALYSIS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/kinds.h"
#include "dewar/error.h"

/*
 * A parsed program as one array, in the order of the text: a part is followed by
 * what it consists of. So a part's children, its parent and all that is inside it
 * are found without a search, and no depth of nesting costs us stack.
 *
 * Comments are left out, and so are tokens that kinds.h does not name. Part 0 is
 * the whole program and is nobody's child, so that 0 also says "there is none".
 */
struct dw_part {
	uint16_t kind;  /* enum dw_kind */
	uint8_t field;  /* enum dw_field */
	uint8_t flags;  /* DW_PART_* */
	uint32_t start; /* in bytes */
	uint32_t end;
	uint32_t parent;
	uint32_t past;  /* the first part that is not inside this one */
	uint32_t scope; /* for whoever reads; 0 */
};

#define DW_PART_NAMED 1U   /* more than a token */
#define DW_PART_ERROR 2U   /* what the grammar could make no sense of */
#define DW_PART_MISSING 4U /* what the grammar had to imagine */

struct dw_tree {
	const char *code; /* not ours */
	size_t len;
	struct dw_part *parts; /* NULL unless n_parts */
	uint32_t n_parts;
	bool errors; /* some part has DW_PART_ERROR or DW_PART_MISSING */
};

/* How parsing ended where it did not fail. */
enum dw_parse {
	DW_PARSE_WHOLE = 0,
	DW_PARSE_TIMEOUT,  /* no parts: the time was up */
	DW_PARSE_TOO_MANY, /* no parts: there would be more than DW_PARTS_MAX */
	DW_PARSE_COUNT
};

#define DW_PARTS_MAX (1U << 21)

/* "python", "javascript", "typescript", "bash", "ruby", "php": is it here? */
bool dw_tree_has(const char *grammar);

/*
 * Parse. The code must live as long as the tree. Whatever the code is, this ends
 * after about timeout_ms; enum dw_parse says how, and -1 that we lack the grammar
 * (DW_E_UNSUPPORTED) or memory.
 */
int dw_tree_parse(struct dw_tree *tree, const char *grammar, const char *code, size_t len,
                  uint64_t timeout_ms, struct dw_error *err);
void dw_tree_finish(struct dw_tree *tree);

/* The name of a kind in the grammars; "" for DW_K_OTHER. */
const char *dw_kind_name(enum dw_kind kind);

static inline const struct dw_part *dw_part(const struct dw_tree *tree, uint32_t i)
{
	return &tree->parts[i];
}

static inline enum dw_kind dw_kind(const struct dw_tree *tree, uint32_t i)
{
	return (enum dw_kind)tree->parts[i].kind;
}

/* The first child, or 0. */
static inline uint32_t dw_child(const struct dw_tree *tree, uint32_t i)
{
	return i + 1 < tree->parts[i].past ? i + 1 : 0;
}

/* The next child of the same parent, or 0. */
static inline uint32_t dw_next(const struct dw_tree *tree, uint32_t i)
{
	uint32_t past = tree->parts[i].past;

	return i > 0 && past < tree->parts[tree->parts[i].parent].past ? past : 0;
}

/* Its first or next child that is no token; or 0. */
uint32_t dw_child_named(const struct dw_tree *tree, uint32_t i);
uint32_t dw_next_named(const struct dw_tree *tree, uint32_t i);
/* Its last one, and the one with so many before it; or 0. */
uint32_t dw_child_last(const struct dw_tree *tree, uint32_t i);
uint32_t dw_child_at(const struct dw_tree *tree, uint32_t i, unsigned index);

/* The first child in that role, or of that kind; or 0. */
uint32_t dw_child_in(const struct dw_tree *tree, uint32_t i, enum dw_field field);
uint32_t dw_child_of(const struct dw_tree *tree, uint32_t i, enum dw_kind kind);

static inline const char *dw_text(const struct dw_tree *tree, uint32_t i, size_t *ret_len)
{
	*ret_len = tree->parts[i].end - tree->parts[i].start;
	return tree->code + tree->parts[i].start;
}

/* Is its text this one? */
bool dw_text_is(const struct dw_tree *tree, uint32_t i, const char *text);

#endif
