/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define NAME_OF(id, name) name,

static const char *const kind_names[] = {"", DW_KINDS(NAME_OF)};

_Static_assert(ARRAY_SIZE(kind_names) == DW_K_COUNT, "a name for every kind");

const char *dw_kind_name(enum dw_kind kind)
{
	return kind < DW_K_COUNT ? kind_names[kind] : "";
}

void dw_tree_finish(struct dw_tree *tree)
{
	free(tree->parts);
	*tree = (struct dw_tree){0};
}

uint32_t dw_child_named(const struct dw_tree *tree, uint32_t i)
{
	uint32_t c = dw_child(tree, i);

	while (c && !(tree->parts[c].flags & DW_PART_NAMED))
		c = dw_next(tree, c);
	return c;
}

uint32_t dw_next_named(const struct dw_tree *tree, uint32_t i)
{
	do
		i = dw_next(tree, i);
	while (i && !(tree->parts[i].flags & DW_PART_NAMED));
	return i;
}

uint32_t dw_child_last(const struct dw_tree *tree, uint32_t i)
{
	uint32_t last = 0;

	for (uint32_t c = dw_child_named(tree, i); c; c = dw_next_named(tree, c))
		last = c;
	return last;
}

uint32_t dw_child_at(const struct dw_tree *tree, uint32_t i, unsigned index)
{
	uint32_t c = dw_child_named(tree, i);

	while (c && index > 0) {
		c = dw_next_named(tree, c);
		index--;
	}
	return c;
}

uint32_t dw_child_in(const struct dw_tree *tree, uint32_t i, enum dw_field field)
{
	uint32_t c = dw_child(tree, i);

	while (c && tree->parts[c].field != field)
		c = dw_next(tree, c);
	return c;
}

uint32_t dw_child_of(const struct dw_tree *tree, uint32_t i, enum dw_kind kind)
{
	uint32_t c = dw_child(tree, i);

	while (c && tree->parts[c].kind != kind)
		c = dw_next(tree, c);
	return c;
}

bool dw_text_is(const struct dw_tree *tree, uint32_t i, const char *text)
{
	size_t len;
	const char *at = dw_text(tree, i, &len);

	return strlen(text) == len && memcmp(at, text, len) == 0;
}

bool dw_word_in(const char *words, const char *word, size_t len)
{
	const char *p = words;

	if (len == 0 || memchr(word, ' ', len))
		return false;
	while ((p = memmem(p, strlen(p), word, len))) {
		if (p > words && p[-1] == ' ' && p[len] == ' ')
			return true;
		p++;
	}
	return false;
}

bool dw_text_in(const struct dw_tree *tree, uint32_t i, const char *words)
{
	size_t len;
	const char *text = dw_text(tree, i, &len);

	return dw_word_in(words, text, len);
}
