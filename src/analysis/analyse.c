/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analyse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/reader.h"
#include "base/cleanup.h"

/* Bounds of one reading, in steps, besides the documented ones. */
#define FUEL (4U << 20)
#define PARSE_COST 4096U

static const struct dw_syntax *const languages[] = {
	&dw_syntax_python, &dw_syntax_javascript, &dw_syntax_typescript,
	&dw_syntax_bash,   &dw_syntax_ruby,       &dw_syntax_php,
};

static bool is_called(const struct dw_syntax *known, const char *name)
{
	if (strcasecmp(known->name, name) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(known->aliases) && known->aliases[i]; i++)
		if (strcasecmp(known->aliases[i], name) == 0)
			return true;
	return false;
}

static const struct dw_syntax *find(const char *language)
{
	for (size_t i = 0; i < ARRAY_SIZE(languages); i++)
		if (is_called(languages[i], language))
			return languages[i];
	return NULL;
}

const char *dw_analyse_language(size_t index)
{
	return index < ARRAY_SIZE(languages) ? languages[index]->name : NULL;
}

const char *dw_analyse_find(const char *language)
{
	const struct dw_syntax *known = find(language);

	return known ? known->name : NULL;
}

/* Returns true if the last name of one of the paths is name. */
static bool has_last_name(const char *paths, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = paths; (p = strstr(p, name)); p++)
		if (p > paths && strchr(" .", p[-1]) && p[len] == ' ')
			return true;
	return false;
}

bool dw_analyse_has_builtin(const char *language, const char *name)
{
	const struct dw_syntax *known = find(language);
	static const char family[] = "builtin:";
	const size_t len = sizeof(family) - 1;

	if (known && known->builtins && dw_is_any(name, known->builtins))
		return true;
	for (const struct dw_danger *d = known ? known->dangers : NULL; d && d->rule;
	     d++) {
		if (strncmp(d->rule, family, len) != 0)
			continue;
		if (d->rule[len] != '\0' ? strcmp(d->rule + len, name) == 0
		                         : has_last_name(d->paths, name))
			return true;
	}
	return false;
}

static bool is_scope(const struct dw_reading *r, uint32_t part)
{
	return part > 0 && dw_node(r, part)->scope &&
	       (dw_part(&r->tree, part)->flags & DW_PART_NAMED);
}

static void set_scopes(struct dw_reading *r)
{
	struct dw_tree *tree = &r->tree;

	for (uint32_t i = 1; i < tree->n_parts; i++) {
		uint32_t parent = tree->parts[i].parent;

		tree->parts[i].scope = is_scope(r, parent) ? parent
		                                           : tree->parts[parent].scope;
	}
}

/* Report each syntax error once, without the parts inside it. */
static void check_syntax(struct dw_reading *r)
{
	const struct dw_tree *tree = &r->tree;

	for (uint32_t i = 0; tree->errors && i < tree->n_parts; i++) {
		if (!(tree->parts[i].flags & (DW_PART_ERROR | DW_PART_MISSING)))
			continue;
		dw_found(r, i, W, "syntax:error",
		         "this is not valid %s: not all of it was analysed",
		         r->language->name);
		if (i > 0)
			i = tree->parts[i].past - 1;
	}
}

static void look(struct dw_reading *r)
{
	if (r->language->read) {
		r->language->read(r);
		return;
	}
	check_syntax(r);
	set_scopes(r);
	for (uint32_t i = 0; i < r->tree.n_parts; i++)
		dw_bind_part(r, i);
	if (dw_names_seal(r->names) < 0) {
		r->no_memory = true;
		return;
	}
	for (uint32_t i = 0; i < r->tree.n_parts && !r->cut; i++)
		dw_check_part(r, i);
}

static void say_bounds(struct dw_reading *r)
{
	if (r->fuel == 0)
		dw_found_line(r, 1, 1, E, "analysis:too-complex",
		              "this takes too many steps to evaluate: not all of it was "
		              "analysed");
	if (!r->cut)
		return;
	/* This finding replaces the last one. */
	r->cut = false;
	r->found.n--;
	dw_found_line(r, 1, 1, E, "analysis:too-many", "there are more than %d findings",
	              DW_ANALYSE_FINDINGS_MAX);
}

int dw_read_program(const struct dw_syntax *language, const char *code, size_t len,
                    const struct dw_analyse_options *options, struct dw_reading *outer,
                    struct dw_findings *ret, struct dw_error *err)
{
	struct dw_reading r = {.language = language, .options = options, .fuel = FUEL};
	int parsed = 0;

	if (outer) {
		/* Charge for the parser and the tree. */
		outer->fuel = outer->fuel > PARSE_COST ? outer->fuel - PARSE_COST : 0;
		r.inner = outer->inner + 1;
		r.fuel = outer->fuel;
	}
	r.names = dw_names_create();
	if (!r.names)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "analyse %s", language->name);
	if (len > DW_ANALYSE_CODE_MAX) {
		r.tree = (struct dw_tree){.code = code};
		dw_found_line(&r, 1, 1, E, "analysis:too-large",
		              "%zu bytes of code were not analysed: the maximum is %zu",
		              len, DW_ANALYSE_CODE_MAX);
		/* A missing grammar is an error for code of any length. */
		if (!dw_tree_has(language->grammar))
			parsed = dw_tree_parse(&r.tree, language->grammar, "", 0, 1, err);
	} else {
		parsed = dw_tree_parse(&r.tree, language->grammar, code, len,
		                       DW_ANALYSE_TIMEOUT_MS, err);
		if (parsed == DW_PARSE_WHOLE)
			look(&r);
		else if (parsed > 0)
			dw_found_line(&r, 1, 1, E,
			              parsed == DW_PARSE_TIMEOUT ? "analysis:timeout"
			                                         : "analysis:too-complex",
			              "this takes too long to parse: it was not analysed");
		say_bounds(&r);
	}

	if (outer)
		outer->fuel = r.fuel;
	dw_names_free(r.names);
	dw_arena_free(r.arena);
	free(r.lines);
	dw_tree_finish(&r.tree);
	if (parsed >= 0 && r.no_memory)
		parsed = dw_fail(err, DW_E_INTERNAL, ENOMEM, "analyse %s",
		                 language->name);
	if (parsed < 0) {
		dw_findings_finish(&r.found);
		return -1;
	}
	dw_findings_sort(&r.found);
	*ret = r.found;
	return 0;
}

int dw_analyse(const char *language, const char *code, size_t len,
               const struct dw_analyse_options *options, struct dw_findings *ret,
               struct dw_error *err)
{
	const struct dw_syntax *known = find(language);

	if (!known)
		return dw_fail(err, DW_E_INVALID, 0,
		               "language must be python, javascript, typescript, bash, ruby "
		               "or php, not \"%.64s\"",
		               language);
	return dw_read_program(known, code, len, options, NULL, ret, err);
}
