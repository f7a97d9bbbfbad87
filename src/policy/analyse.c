/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/analyse.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "policy/read.h"

static const struct dw_reader *const readers[] = {
	&dw_reader_python, &dw_reader_javascript, &dw_reader_typescript,
	&dw_reader_bash,   &dw_reader_ruby,       &dw_reader_php,
};

static const char *const severities[] = {"note", "warning", "error"};

_Static_assert(ARRAY_SIZE(severities) == DW_SEVERITY_COUNT, "a name for each");

const char *dw_severity_name(enum dw_severity severity)
{
	return severity < DW_SEVERITY_COUNT ? severities[severity] : "?";
}

void dw_findings_finish(struct dw_findings *findings)
{
	free(findings->list);
	*findings = (struct dw_findings){0};
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
