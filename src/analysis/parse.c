/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only file that uses tree-sitter. Grammars are third-party C that reads hostile
 * input: see tests/fuzz/fuzz_analyse.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <tree_sitter/api.h>

#include "analysis/reader.h"
#include "base/cleanup.h"

/* NOLINTBEGIN(readability-redundant-declaration): grammars bring no headers */
const TSLanguage *tree_sitter_bash(void);
const TSLanguage *tree_sitter_javascript(void);
const TSLanguage *tree_sitter_php(void);
const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_ruby(void);
const TSLanguage *tree_sitter_typescript(void);
/* NOLINTEND(readability-redundant-declaration) */

static const struct {
	const char *name;
	const TSLanguage *(*language)(void);
} grammars[] = {
	{"bash", tree_sitter_bash}, {"javascript", tree_sitter_javascript},
	{"php", tree_sitter_php},   {"python", tree_sitter_python},
	{"ruby", tree_sitter_ruby}, {"typescript", tree_sitter_typescript},
};

static const char *const field_names[] = {
#define F(id, name) name,
	DW_FIELDS(F)
#undef F
};

_Static_assert(ARRAY_SIZE(field_names) == DW_F_COUNT - 1, "a name for every field");

static const TSLanguage *find(const char *grammar)
{
	for (size_t i = 0; i < ARRAY_SIZE(grammars); i++)
		if (strcmp(grammars[i].name, grammar) == 0)
			return grammars[i].language();
	return NULL;
}

bool dw_tree_has(const char *grammar)
{
	return find(grammar);
}

/* Our numbers for the symbols and fields of a grammar. */
struct names {
	uint16_t *kinds; /* by symbol */
	uint32_t n_kinds;
	uint8_t fields[256];
};

#define SLOTS 1024U /* a power of two, far above DW_K_COUNT */

_Static_assert(DW_K_COUNT < SLOTS / 2, "room to find kinds quickly");

static size_t slot_of(const char *name)
{
	uint32_t h = 2166136261U;

	for (; *name != '\0'; name++)
		h = (h ^ (uint8_t)*name) * 16777619U;
	return (h ^ (h >> 15)) & (SLOTS - 1);
}

/*
 * Match symbols by name: their numbers change between versions of a grammar. "await" and
 * "class" name both a token and a node; both get the same kind.
 */
static int names_init(struct names *names, const TSLanguage *lang)
{
	uint16_t slots[SLOTS] = {0};
	uint32_t n = ts_language_symbol_count(lang);

	names->kinds = calloc(n, sizeof(*names->kinds));
	if (!names->kinds)
		return -ENOMEM;
	names->n_kinds = n;
	for (enum dw_kind kind = 1; kind < DW_K_COUNT; kind++) {
		size_t slot = slot_of(dw_kind_name(kind));

		while (slots[slot])
			slot = (slot + 1) & (SLOTS - 1);
		slots[slot] = (uint16_t)kind;
	}
	for (uint32_t i = 1; i < n; i++) {
		const char *name = ts_language_symbol_name(lang, (TSSymbol)i);
		size_t slot = name ? slot_of(name) : 0;

		while (name && slots[slot]) {
			if (strcmp(dw_kind_name(slots[slot]), name) == 0) {
				names->kinds[i] = slots[slot];
				break;
			}
			slot = (slot + 1) & (SLOTS - 1);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(field_names); i++) {
		TSFieldId id = ts_language_field_id_for_name(lang, field_names[i],
		                                             (uint32_t)strlen(
								     field_names[i]));

		if (id > 0 && id < ARRAY_SIZE(names->fields))
			names->fields[id] = (uint8_t)(i + 1);
	}
	return 0;
}

/* The part that the cursor is at. */
static struct dw_part part_of(const struct names *names, const TSTreeCursor *cursor)
{
	TSNode node = ts_tree_cursor_current_node(cursor);
	TSFieldId field = ts_tree_cursor_current_field_id(cursor);
	TSSymbol symbol = ts_node_symbol(node);
	struct dw_part part = {
		.kind = symbol < names->n_kinds ? names->kinds[symbol] : DW_K_OTHER,
		.field = field < ARRAY_SIZE(names->fields) ? names->fields[field] : 0,
		.start = ts_node_start_byte(node),
		.end = ts_node_end_byte(node),
	};

	if (ts_node_is_named(node))
		part.flags |= DW_PART_NAMED;
	if (symbol == (TSSymbol)-1) /* tree-sitter's ERROR node */
		part.flags |= DW_PART_ERROR;
	if (ts_node_is_missing(node))
		part.flags |= DW_PART_MISSING;
	return part;
}

/* Walk the tree once, without recursion. Returns DW_PARSE_* or -ENOMEM. */
static int flatten(struct dw_tree *tree, const struct names *names, TSTreeCursor *cursor)
{
	uint32_t at = 0;
	bool wanted, down;

	for (;;) {
		struct dw_part part = part_of(names, cursor);

		part.parent = at;
		part.start = part.start < tree->len ? part.start : (uint32_t)tree->len;
		part.end = part.end < tree->len ? part.end : (uint32_t)tree->len;
		wanted = tree->n_parts == 0 ||
		         (part.flags && part.kind != DW_K_COMMENT) ||
		         (!part.flags && part.kind != DW_K_OTHER);
		if (part.flags & (DW_PART_ERROR | DW_PART_MISSING))
			tree->errors = true;
		if (tree->n_parts == DW_PARTS_MAX)
			return DW_PARSE_TOO_MANY;
		if (wanted && !DW_APPEND(tree->parts, tree->n_parts, part))
			return -ENOMEM;

		/* Do not descend into parts that are left out. */
		down = wanted && ts_tree_cursor_goto_first_child(cursor);
		if (down) {
			at = tree->n_parts - 1;
			continue;
		}
		if (wanted)
			tree->parts[tree->n_parts - 1].past = tree->n_parts;
		while (!ts_tree_cursor_goto_next_sibling(cursor)) {
			tree->parts[at].past = tree->n_parts;
			if (!ts_tree_cursor_goto_parent(cursor))
				return DW_PARSE_WHOLE;
			at = tree->parts[at].parent;
		}
	}
}

int dw_tree_parse(struct dw_tree *tree, const char *grammar, const char *code, size_t len,
                  uint64_t timeout_ms, struct dw_error *err)
{
	const TSLanguage *lang = find(grammar);
	struct names names = {0};
	TSParser *parser;
	TSTreeCursor cursor;
	TSTree *parsed;
	int r;

	*tree = (struct dw_tree){.code = code, .len = len};
	if (!lang)
		return dw_fail(err, DW_E_UNSUPPORTED, 0, "cannot analyse %s: no grammar",
		               grammar);
	if (len >= UINT32_MAX)
		return dw_fail(err, DW_E_INVALID, 0, "cannot analyse %zu bytes", len);

	/* tree-sitter aborts if out of memory; DW_ANALYSE_CODE_MAX bounds its input. */
	parser = ts_parser_new();
	if (!parser || !ts_parser_set_language(parser, lang)) {
		ts_parser_delete(parser);
		return dw_fail(err, DW_E_UNSUPPORTED, 0,
		               "cannot analyse %s: libtree-sitter does not support the "
		               "version of its grammar",
		               grammar);
	}
	ts_parser_set_timeout_micros(parser, timeout_ms * 1000);
	parsed = ts_parser_parse_string(parser, NULL, code, (uint32_t)len);
	ts_parser_delete(parser);
	if (!parsed)
		return DW_PARSE_TIMEOUT;

	r = names_init(&names, lang);
	if (r == 0) {
		cursor = ts_tree_cursor_new(ts_tree_root_node(parsed));
		r = flatten(tree, &names, &cursor);
		ts_tree_cursor_delete(&cursor);
	}
	free(names.kinds);
	ts_tree_delete(parsed);
	if (r != DW_PARSE_WHOLE) {
		dw_tree_finish(tree);
		*tree = (struct dw_tree){.code = code, .len = len};
	}
	return r < 0 ? dw_fail(err, DW_E_INTERNAL, -r, "analyse %s", grammar) : r;
}
