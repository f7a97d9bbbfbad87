/* SPDX-License-Identifier: Apache-2.0 */
/* A program is read: parsed, its names bound, its parts looked at. */
#include "analysis/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/read_own.h"

/* Bounds of one reading, beside those that users are told of. */
#define FUEL (4U << 20)
#define PARSE_COST 4096U

bool dw_loop_ends(struct dw_reading *r, uint32_t loop,
                  int (*leaves)(struct dw_reading *r, uint32_t part))
{
	const struct dw_tree *tree = &r->tree;
	uint32_t inner = 0; /* we are in another loop up to here */

	for (uint32_t i = loop + 1; i < tree->parts[loop].past; i++) {
		int how;

		if (!dw_step(r))
			return true;
		how = leaves(r, i);
		if (how == 2 || (how == 1 && i >= inner))
			return true;
		if (how == -1 && tree->parts[i].past > inner)
			inner = tree->parts[i].past;
		if (how == -2)
			i = tree->parts[i].past - 1;
	}
	return false;
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

static int by_place(const void *a, const void *b)
{
	const struct dw_finding *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return strcmp(x->rule, y->rule);
}

static void set_scopes(struct dw_reading *r)
{
	struct dw_tree *tree = &r->tree;

	if (!r->reader->is_scope)
		return;
	for (uint32_t i = 1; i < tree->n_parts; i++) {
		uint32_t parent = tree->parts[i].parent;

		tree->parts[i].scope = parent > 0 && r->reader->is_scope(tree, parent)
		                               ? parent
		                               : tree->parts[parent].scope;
	}
}

/* One for each place, but not for what is inside it. */
static void check_syntax(struct dw_reading *r)
{
	const struct dw_tree *tree = &r->tree;

	for (uint32_t i = 0; tree->errors && i < tree->n_parts; i++) {
		if (!(tree->parts[i].flags & (DW_PART_ERROR | DW_PART_MISSING)))
			continue;
		dw_found(r, i, DW_SEVERITY_WARNING, "syntax:error",
		         "this is no %s that we understand: it was not looked at in full",
		         r->reader->name);
		if (i > 0)
			i = tree->parts[i].past - 1;
	}
}

static void look(struct dw_reading *r)
{
	const struct dw_reader *reader = r->reader;

	if (reader->read) {
		reader->read(r);
		return;
	}
	check_syntax(r);
	set_scopes(r);
	for (uint32_t i = 0; i < r->tree.n_parts; i++)
		reader->bind(r, i);
	if (dw_names_seal(r->names) < 0) {
		r->no_memory = true;
		return;
	}
	for (uint32_t i = 0; i < r->tree.n_parts && !r->cut; i++)
		reader->check(r, i);
}

static void say_bounds(struct dw_reading *r)
{
	if (r->fuel == 0)
		dw_found_at(r, 0, DW_SEVERITY_ERROR, "analysis:too-complex",
		            "this takes too many steps to understand: it was not looked "
		            "at in full");
	if (!r->cut)
		return;
	/* In the place of the last one. */
	r->cut = false;
	r->found.n--;
	dw_found_at(r, 0, DW_SEVERITY_ERROR, "analysis:too-many",
	            "there is more than these %d findings", DW_ANALYSE_FINDINGS_MAX);
}

int dw_read_program(const struct dw_reader *reader, const char *code, size_t len,
                    const struct dw_analyse_options *options, struct dw_reading *outer,
                    struct dw_findings *ret, struct dw_error *err)
{
	struct dw_reading r = {.reader = reader, .options = options, .fuel = FUEL};
	int parsed = 0;

	if (outer) {
		/* A parser and its tree are worth some steps. */
		outer->fuel = outer->fuel > PARSE_COST ? outer->fuel - PARSE_COST : 0;
		r.inner = outer->inner + 1;
		r.fuel = outer->fuel;
	}
	r.names = dw_names_create();
	if (!r.names)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "analyse %s", reader->name);
	if (len > DW_ANALYSE_CODE_MAX) {
		r.tree = (struct dw_tree){.code = code};
		dw_found_at(&r, 0, DW_SEVERITY_ERROR, "analysis:too-large",
		            "%zu bytes of code were not looked at: %zu are the most", len,
		            DW_ANALYSE_CODE_MAX);
		/* Without a grammar we say so, however long it is. */
		if (!dw_tree_has(reader->grammar))
			parsed = dw_tree_parse(&r.tree, reader->grammar, "", 0, 1, err);
	} else {
		parsed = dw_tree_parse(&r.tree, reader->grammar, code, len,
		                       DW_ANALYSE_TIMEOUT_MS, err);
		if (parsed == DW_PARSE_WHOLE)
			look(&r);
		else if (parsed > 0)
			dw_found_at(&r, 0, DW_SEVERITY_ERROR,
			            parsed == DW_PARSE_TIMEOUT ? "analysis:timeout"
			                                       : "analysis:too-complex",
			            "this takes too long to parse: it was not looked at");
		say_bounds(&r);
	}

	if (outer)
		outer->fuel = r.fuel;
	dw_names_free(r.names);
	dw_arena_free(r.arena);
	free(r.lines);
	dw_tree_finish(&r.tree);
	if (parsed >= 0 && r.no_memory)
		parsed = dw_fail(err, DW_E_INTERNAL, ENOMEM, "analyse %s", reader->name);
	if (parsed < 0) {
		dw_findings_finish(&r.found);
		return -1;
	}
	if (r.found.n > 0)
		qsort(r.found.list, r.found.n, sizeof(*r.found.list), by_place);
	*ret = r.found;
	return 0;
}
