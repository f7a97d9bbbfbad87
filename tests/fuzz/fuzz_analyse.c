/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The analysis of any code ends with printable findings, in order, and the same ones the
 * second time. This also fuzzes the grammars' own scanners.
 */
#undef NDEBUG
#include "analysis/analyse.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "fuzz/fuzz.h"

static void check(const struct dw_findings *found, const char *code, size_t len)
{
	uint32_t lines = 1;

	for (size_t i = 0; i < len; i++)
		lines += code[i] == '\n';
	assert(found->n <= DW_ANALYSE_FINDINGS_MAX);
	for (size_t i = 0; i < found->n; i++) {
		const struct dw_finding *f = &found->list[i];

		assert(f->line >= 1 && f->line <= lines && f->column >= 1);
		assert(f->severity < DW_SEVERITY_COUNT);
		assert(strchr(f->rule, ':') && f->message[0] != '\0');
		assert(dw_utf8_valid(f->message, strlen(f->message)));
		for (const char *p = f->message; *p; p++)
			assert((uint8_t)*p >= ' ' && *p != 0x7f);
		for (const char *p = f->rule; *p; p++)
			assert((uint8_t)*p > ' ' && *p != 0x7f);
		if (i > 0)
			assert(f[-1].line < f->line ||
			       (f[-1].line == f->line && f[-1].column <= f->column));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"math", NULL};
	const struct dw_analyse_options options = {.allowed_modules = names};
	struct fuzz_input in = {data, size};
	struct dw_findings found = {0}, again = {0};
	struct dw_error err = {0};
	uint8_t which = fuzz_byte(&in);
	const char *language = dw_analyse_language(which % 6);
	const bool allow = which & 0x80;
	size_t len;
	autofree char *code = fuzz_copy(&in, in.size, &len);

	if (dw_analyse(language, code, len, allow ? &options : NULL, &found, &err) < 0) {
		/* Fails only in a build without grammars. */
		assert(err.code == DW_E_UNSUPPORTED);
		fuzz_check_refusal(&err);
		return 0;
	}
	check(&found, code, len);
	assert(dw_analyse(language, code, len, allow ? &options : NULL, &again, &err) ==
	       0);
	assert(found.n == again.n);
	for (size_t i = 0; i < found.n; i++)
		assert(strcmp(found.list[i].rule, again.list[i].rule) == 0);
	dw_findings_finish(&found);
	dw_findings_finish(&again);
	return 0;
}
