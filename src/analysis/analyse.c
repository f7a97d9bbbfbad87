/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analyse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/read.h"
#include "base/cleanup.h"

static const struct dw_reader *const readers[] = {
	&dw_reader_python, &dw_reader_javascript, &dw_reader_typescript,
	&dw_reader_bash,   &dw_reader_ruby,       &dw_reader_php,
};

void dw_findings_finish(struct dw_findings *findings)
{
	free(findings->list);
	*findings = (struct dw_findings){0};
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

int dw_findings_add(struct dw_findings *all, const struct dw_findings *more)
{
	struct dw_finding *list;

	if (more->n == 0)
		return 0;
	list = realloc(all->list, (all->n + more->n) * sizeof(*list));
	if (!list)
		return -ENOMEM;
	memcpy(list + all->n, more->list, more->n * sizeof(*list));
	all->list = list;
	all->n += more->n;
	qsort(all->list, all->n, sizeof(*all->list), by_place);
	return 0;
}

static bool is_called(const struct dw_reader *reader, const char *name)
{
	if (strcasecmp(reader->name, name) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(reader->aliases) && reader->aliases[i]; i++)
		if (strcasecmp(reader->aliases[i], name) == 0)
			return true;
	return false;
}

static const struct dw_reader *find(const char *language)
{
	for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
		if (is_called(readers[i], language))
			return readers[i];
	return NULL;
}

const char *dw_analyse_language(size_t index)
{
	return index < ARRAY_SIZE(readers) ? readers[index]->name : NULL;
}

const char *dw_analyse_find(const char *language)
{
	const struct dw_reader *reader = find(language);

	return reader ? reader->name : NULL;
}

const char *const *dw_analyse_modules(const char *language)
{
	static const char *const none[] = {NULL};
	const struct dw_reader *reader = find(language);

	return reader && reader->modules ? reader->modules : none;
}

/* What is found where no table says so. */
static const struct {
	const char *language;
	const char *name;
} more_builtins[] = {{"bash", "eval"}, {"php", "assert"}};

bool dw_analyse_has_builtin(const char *language, const char *name)
{
	const struct dw_reader *reader = find(language);
	static const char family[] = "builtin:";
	const size_t len = sizeof(family) - 1;

	for (size_t i = 0; reader && i < ARRAY_SIZE(more_builtins); i++)
		if (strcmp(more_builtins[i].language, reader->name) == 0 &&
		    strcmp(more_builtins[i].name, name) == 0)
			return true;
	for (const struct dw_danger *d = reader ? reader->dangers : NULL; d && d->path;
	     d++) {
		const char *last = strrchr(d->path, '.');

		if (strncmp(d->rule, family, len) != 0)
			continue;
		last = d->rule[len] != '\0' ? d->rule + len : last ? last + 1 : d->path;
		if (strcmp(last, name) == 0)
			return true;
	}
	return false;
}

int dw_analyse(const char *language, const char *code, size_t len,
               const struct dw_analyse_options *options, struct dw_findings *ret,
               struct dw_error *err)
{
	const struct dw_reader *reader = find(language);

	if (!reader)
		return dw_fail(err, DW_E_INVALID, 0,
		               "cannot analyse \"%.64s\": what we can are python, "
		               "javascript, typescript, bash, ruby and php",
		               language);
	return dw_read_program(reader, code, len, options, NULL, ret, err);
}
