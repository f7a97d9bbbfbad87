/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "analysis/analyse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/reader.h"
#include "base/cleanup.h"
#include "base/utf8.h"

static struct dw_findings found;

static void analyse(const char *language, const char *code, size_t len,
                    const struct dw_analyse_options *options)
{
	struct dw_error err = {0};

	dw_findings_finish(&found);
	if (dw_analyse(language, code, len, options, &found, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < found.n; i++) {
		const struct dw_finding *f = &found.list[i];

		assert_true(f->line > 0 && f->column > 0);
		assert_true(f->rule[0] && f->message[0] && strchr(f->rule, ':'));
		assert_true(dw_utf8_valid(f->message, strlen(f->message)));
		if (i > 0)
			assert_true(f[-1].line < f->line ||
			            (f[-1].line == f->line && f[-1].column <= f->column));
	}
}

#define ANALYSE(language, code) analyse(language, code, sizeof(code) - 1, NULL)

static bool has(const char *rule)
{
	for (size_t i = 0; i < found.n; i++)
		if (strcmp(found.list[i].rule, rule) == 0)
			return true;
	return false;
}

static int forget(void **state)
{
	(void)state;
	dw_findings_finish(&found);
	return 0;
}

/* Returns true in a build without grammars, where only the error can be tested. */
static bool no_grammars(void)
{
	struct dw_findings none = {0};
	struct dw_error err = {0};

	if (dw_tree_has("python"))
		return false;
	assert_int_equal(dw_analyse("python", "x", 1, NULL, &none, &err), -1);
	assert_int_equal(err.code, DW_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "cannot analyse python"));
	return true;
}

static void the_error_names_an_unknown_language(void **state)
{
	struct dw_findings none = {0};
	struct dw_error err = {0};

	(void)state;
	assert_int_equal(dw_analyse("cobol", "x", 1, NULL, &none, &err), -1);
	assert_int_equal(err.code, DW_E_INVALID);
	assert_non_null(strstr(err.text, "cobol"));
	assert_null(none.list);
}

static void languages_are_found_by_alias(void **state)
{
	(void)state;
	assert_string_equal(dw_analyse_find("PY"), "python");
	assert_string_equal(dw_analyse_find("sh"), "bash");
	assert_string_equal(dw_analyse_find("ts"), "typescript");
	assert_null(dw_analyse_find(""));
	assert_null(dw_analyse_language(6));
}

static void a_finding_has_its_line_and_column(void **state)
{
	(void)state;
	if (no_grammars())
		return;
	ANALYSE("python", "x = 1\ny = 'äöü'; eval('1')\n");
	assert_int_equal(found.n, 1);
	assert_string_equal(found.list[0].rule, "builtin:eval");
	assert_int_equal(found.list[0].line, 2);
	assert_int_equal(found.list[0].column, 12); /* in characters */
	assert_int_equal(found.list[0].severity, DW_SEVERITY_ERROR);
}

static void empty_code_has_no_findings(void **state)
{
	static const char blank[] = " \n\t\n";

	(void)state;
	if (no_grammars())
		return;
	for (size_t i = 0; dw_analyse_language(i); i++) {
		analyse(dw_analyse_language(i), "", 0, NULL);
		assert_int_equal(found.n, 0);
		analyse(dw_analyse_language(i), blank, sizeof(blank) - 1, NULL);
		assert_int_equal(found.n, 0);
	}
}

static void modules_outside_the_allow_list_are_found(void **state)
{
	static const char *const names[] = {"math", "numpy", NULL};
	static const char *const none[] = {NULL};
	const struct dw_analyse_options options = {.allowed_modules = names};
	const struct dw_analyse_options nothing = {.allowed_modules = none};
	static const char code[] =
		"import math, numpy.linalg, json\nfrom os import path\n";

	(void)state;
	if (no_grammars())
		return;
	analyse("python", code, sizeof(code) - 1, &options);
	assert_int_equal(found.n, 2);
	assert_true(has("import:json") && has("import:os"));
	analyse("python", code, sizeof(code) - 1, &nothing);
	assert_int_equal(found.n, 4);
}

static void code_above_the_size_limit_is_one_finding(void **state)
{
	size_t len = (size_t)10 << 20;
	char *code = malloc(len);

	(void)state;
	assert_non_null(code);
	memset(code, 'x', len);
	if (!no_grammars()) {
		for (size_t i = 0; dw_analyse_language(i); i++) {
			analyse(dw_analyse_language(i), code, len, NULL);
			assert_int_equal(found.n, 1);
			assert_true(has("analysis:too-large"));
		}
	}
	free(code);
}

/* Deep, wide and unclosed nesting: the analysis must end. */
static void the_analysis_of_hostile_nesting_ends(void **state)
{
	static const struct {
		const char *language;
		const char *front;
	} hostile[] = {
		{"python", "("},      {"python", "f("},        {"python", "lambda: "},
		{"python", "'a' + "}, {"python", "x[["},       {"python", "not "},
		{"javascript", "("},  {"javascript", "[a,"},   {"javascript", "`${"},
		{"javascript", "!"},  {"typescript", "<A"},    {"bash", "$("},
		{"bash", "{ "},       {"bash", "sh -c '"},     {"bash", "if a; then "},
		{"ruby", "[{"},       {"ruby", "\"#{"},        {"ruby", "def a; "},
		{"php", "<?php ("},   {"php", "<?php \"{$a["},
	};
	size_t room = 40000;
	char *code = malloc(room);

	(void)state;
	assert_non_null(code);
	for (size_t i = 0; i < ARRAY_SIZE(hostile) && !no_grammars(); i++) {
		size_t len = 0, more = strlen(hostile[i].front);

		for (; len + more < room; len += more)
			memcpy(code + len, hostile[i].front, more);
		analyse(hostile[i].language, code, len, NULL);
	}
	free(code);
}

/* The scanners of the grammars save these delimiters in a buffer of 1024 bytes. */
static void here_documents_with_long_delimiters_are_analysed(void **state)
{
	static const struct {
		const char *language;
		const char *format;
	} documents[] = {
		{"bash", "cat <<%s\nx $(ls)\n%s\nrm y\n"},
		{"ruby", "x = <<%s\n#{1}\n%s\nsystem('ls')\n"},
		{"php", "<?php echo <<<%s\nx {$y}\n%s;\nsystem('ls');\n"},
	};
	static const size_t lengths[] = {100,  200,  254,  255,  256,  257,  511,  700,
	                                 900,  980,  990,  995,  1000, 1005, 1010, 1012,
	                                 1013, 1014, 1015, 1016, 1017, 1018, 1019, 1020,
	                                 1022, 1024, 1030, 2000, 5000};
	static char word[5001], code[11000];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(documents) && !no_grammars(); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(lengths); k++) {
			int len;

			memset(word, 'A', lengths[k]);
			word[lengths[k]] = '\0';
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
			len = snprintf(code, sizeof(code), documents[i].format, word,
			               word);
#pragma GCC diagnostic pop
			analyse(documents[i].language, code, (size_t)len, NULL);
		}
	}
}

/* Many at once, so that the last delimiters do not quite fit into the buffer. */
static void many_here_documents_at_once_are_analysed(void **state)
{
	static char code[40000];

	(void)state;
	for (unsigned word = 1; word < 30 && !no_grammars(); word++) {
		size_t n = 0;

		for (unsigned i = 0; i < 200; i++)
			n += (size_t)snprintf(code + n, sizeof(code) - n, "cat <<%0*u; ",
			                      (int)word, i);
		code[n++] = '\n';
		analyse("bash", code, n, NULL);
		n = 0;
		for (unsigned i = 0; i < 200; i++)
			n += (size_t)snprintf(code + n, sizeof(code) - n, "f(<<A%0*u); ",
			                      (int)word, i);
		code[n++] = '\n';
		analyse("ruby", code, n, NULL);
	}
}

static void a_hidden_call_below_deep_nesting_is_found(void **state)
{
	enum {
		DEPTH = 3000
	};
	char *code = malloc(2 * DEPTH + 16);

	(void)state;
	assert_non_null(code);
	if (!no_grammars()) {
		memset(code, '(', DEPTH);
		memcpy(code + DEPTH, "eval('1')", 9);
		memset(code + DEPTH + 9, ')', DEPTH);
		analyse("python", code, 2 * DEPTH + 9, NULL);
		assert_true(has("builtin:eval"));
	}
	free(code);
}

/* Each string is twice the one before: the last would have 2^99 characters. */
static void the_analysis_of_exponentially_growing_strings_ends(void **state)
{
	char code[8192];
	int len = snprintf(code, sizeof(code), "x0 = 'a'\n");

	(void)state;
	if (no_grammars())
		return;
	for (int i = 1; i < 100; i++)
		len += snprintf(code + len, sizeof(code) - (size_t)len,
		                "x%d = x%d + x%d\n", i, i - 1, i - 1);
	len += snprintf(code + len, sizeof(code) - (size_t)len, "getattr(o, x99)\n");
	analyse("python", code, (size_t)len, NULL);
}

static void the_analysis_of_cyclic_assignments_ends(void **state)
{
	(void)state;
	if (no_grammars())
		return;
	ANALYSE("python", "a = b\nb = a\na('x')\nc = c + 'x'\n__import__(c)\n");
	assert_true(has("dynamic:import"));
	ANALYSE("bash", "a=$b; b=$a; $a x\n");
	assert_true(has("dynamic:command"));
}

static void findings_beyond_the_maximum_are_dropped(void **state)
{
	size_t len = 0, lines = 3000;
	char *code = malloc(lines * 10);

	(void)state;
	assert_non_null(code);
	for (size_t i = 0; i < lines; i++, len += 10)
		memcpy(code + len, "eval('1')\n", 10);
	if (!no_grammars()) {
		analyse("python", code, len, NULL);
		assert_int_equal(found.n, DW_ANALYSE_FINDINGS_MAX);
		assert_true(has("analysis:too-many"));
	}
	free(code);
}

static void a_syntax_error_is_a_finding(void **state)
{
	(void)state;
	if (no_grammars())
		return;
	ANALYSE("python", "x = (1\ndef ]\n");
	assert_true(has("syntax:error"));
	ANALYSE("javascript", "let let = {;\n");
	assert_true(has("syntax:error"));
	ANALYSE("bash", "if then fi (\n");
	assert_true(has("syntax:error"));
}

static void rule_names_are_printable_ascii(void **state)
{
	static const char *const names[] = {NULL};
	const struct dw_analyse_options options = {.allowed_modules = names};
	static const char code[] = "require('a b\\n\\x1b[31m\xff')";

	(void)state;
	if (no_grammars())
		return;
	analyse("javascript", code, sizeof(code) - 1, &options);
	assert_true(found.n > 0);
	for (size_t i = 0; i < found.n; i++)
		for (const char *p = found.list[i].rule; *p; p++)
			assert_true(*p > ' ' && *p < 0x7f);
}

static void code_in_strings_of_code_is_analysed(void **state)
{
	(void)state;
	if (no_grammars())
		return;
	ANALYSE("python", "exec(\"exec(\\\"import os\\\")\")");
	assert_true(has("import:os"));
	ANALYSE("python", "exec(\"exec('exec(\\\"exec(x)\\\")')\")");
	assert_true(has("builtin:exec"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_error_names_an_unknown_language),
		cmocka_unit_test(languages_are_found_by_alias),
		cmocka_unit_test(a_finding_has_its_line_and_column),
		cmocka_unit_test(empty_code_has_no_findings),
		cmocka_unit_test(modules_outside_the_allow_list_are_found),
		cmocka_unit_test(code_above_the_size_limit_is_one_finding),
		cmocka_unit_test(the_analysis_of_hostile_nesting_ends),
		cmocka_unit_test(here_documents_with_long_delimiters_are_analysed),
		cmocka_unit_test(many_here_documents_at_once_are_analysed),
		cmocka_unit_test(a_hidden_call_below_deep_nesting_is_found),
		cmocka_unit_test(the_analysis_of_exponentially_growing_strings_ends),
		cmocka_unit_test(the_analysis_of_cyclic_assignments_ends),
		cmocka_unit_test(findings_beyond_the_maximum_are_dropped),
		cmocka_unit_test(a_syntax_error_is_a_finding),
		cmocka_unit_test(rule_names_are_printable_ascii),
		cmocka_unit_test(code_in_strings_of_code_is_analysed),
	};

	return cmocka_run_group_tests(tests, NULL, forget);
}
