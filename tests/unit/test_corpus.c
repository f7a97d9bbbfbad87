/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the findings in tests/policy/corpus with its labels; see README.md there. */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/analyse.h"
#include "base/cleanup.h"

#define LABELS_MAX 32
#define CODE_MAX 8192

struct label {
	unsigned line;
	char rule[DW_RULE_MAX];
	char kind; /* '=', '-' or '+' */
};

struct snippet {
	char name[128];
	struct label labels[LABELS_MAX];
	size_t n_labels;
	char code[CODE_MAX];
	size_t len;
};

static void add_labels(struct snippet *s, char kind, char *text)
{
	char *save = NULL;

	for (char *word = strtok_r(text, ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		struct label *label = &s->labels[s->n_labels];
		char *end;

		assert_true(s->n_labels < LABELS_MAX);
		label->kind = kind;
		label->line = (unsigned)strtoul(word, &end, 10);
		assert_true(label->line > 0 && *end == ' ');
		(void)snprintf(label->rule, sizeof(label->rule), "%s", end + 1);
		label->rule[strcspn(label->rule, " \n")] = '\0';
		s->n_labels++;
	}
}

static bool is_label(const struct snippet *s, char kind, unsigned line, const char *rule)
{
	for (size_t i = 0; i < s->n_labels; i++)
		if (s->labels[i].kind == kind && s->labels[i].line == line &&
		    strcmp(s->labels[i].rule, rule) == 0)
			return true;
	return false;
}

static bool is_wanted(const struct snippet *s, unsigned line, const char *rule)
{
	return (is_label(s, '=', line, rule) && !is_label(s, '-', line, rule)) ||
	       is_label(s, '+', line, rule);
}

static bool is_found(const struct dw_findings *found, unsigned line, const char *rule)
{
	for (size_t i = 0; i < found->n; i++)
		if (found->list[i].line == line && strcmp(found->list[i].rule, rule) == 0)
			return true;
	return false;
}

/* Returns how many findings differ from the labels. */
static unsigned judge(const char *language, const struct snippet *s)
{
	struct dw_findings found = {0};
	struct dw_error err = {0};
	unsigned wrong = 0;

	if (dw_analyse(language, s->code, s->len, NULL, &found, &err) < 0)
		fail_msg("%s: %s", s->name, err.text);
	for (size_t i = 0; i < found.n; i++) {
		const struct dw_finding *f = &found.list[i];

		if (is_wanted(s, f->line, f->rule))
			continue;
		print_error("%s: \"%s\": %u %s is found, but not labelled\n", language,
		            s->name, f->line, f->rule);
		wrong++;
	}
	for (size_t i = 0; i < s->n_labels; i++) {
		const struct label *label = &s->labels[i];

		if (!is_wanted(s, label->line, label->rule) ||
		    is_found(&found, label->line, label->rule))
			continue;
		print_error("%s: \"%s\": %u %s is labelled, but not found\n", language,
		            s->name, label->line, label->rule);
		wrong++;
	}
	dw_findings_finish(&found);
	return wrong;
}

static void read_corpus(const char *language)
{
	char path[128], line[1024];
	struct snippet *s = calloc(1, sizeof(*s));
	unsigned wrong = 0, seen = 0;
	FILE *file;

	assert_non_null(s);
	(void)snprintf(path, sizeof(path), "tests/policy/corpus/%s.txt", language);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		size_t len = strlen(line);

		if (strncmp(line, "%% ", 3) == 0) {
			if (seen++ > 0)
				wrong += judge(language, s);
			*s = (struct snippet){0};
			(void)snprintf(s->name, sizeof(s->name), "%.*s", (int)len - 4,
			               line + 3);
		} else if (line[0] == '%' && strchr("=-+", line[1]) && line[2] == ' ') {
			add_labels(s, line[1], line + 3);
		} else {
			assert_true(s->len + len < sizeof(s->code));
			memcpy(s->code + s->len, line, len);
			s->len += len;
		}
	}
	wrong += judge(language, s);
	(void)fclose(file);
	free(s);
	assert_true(seen > 20);
	assert_int_equal(wrong, 0);
}

static void python_findings_match_the_labels(void **state)
{
	(void)state;
	read_corpus("python");
}

static void javascript_findings_match_the_labels(void **state)
{
	(void)state;
	read_corpus("javascript");
}

static void typescript_findings_match_the_labels(void **state)
{
	(void)state;
	read_corpus("typescript");
}

static void bash_findings_match_the_labels(void **state)
{
	(void)state;
	read_corpus("bash");
}

static void ruby_findings_match_the_labels(void **state)
{
	(void)state;
	read_corpus("ruby");
}

static void php_findings_match_the_labels(void **state)
{
	(void)state;
	read_corpus("php");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(python_findings_match_the_labels),
		cmocka_unit_test(javascript_findings_match_the_labels),
		cmocka_unit_test(typescript_findings_match_the_labels),
		cmocka_unit_test(bash_findings_match_the_labels),
		cmocka_unit_test(ruby_findings_match_the_labels),
		cmocka_unit_test(php_findings_match_the_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
