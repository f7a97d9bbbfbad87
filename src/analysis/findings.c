/* SPDX-License-Identifier: Apache-2.0 */
/* Findings: their rules, messages and places. */
#include "analysis/reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

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

void dw_findings_sort(struct dw_findings *findings)
{
	if (findings->n > 0)
		qsort(findings->list, findings->n, sizeof(*findings->list), by_place);
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
	dw_findings_sort(all);
	return 0;
}

static int find_lines(struct dw_reading *r)
{
	const char *code = r->tree.code;
	size_t n = 1, len = r->tree.len;

	for (size_t i = 0; i < len; i++)
		n += code[i] == '\n';
	r->lines = malloc(n * sizeof(*r->lines));
	if (!r->lines)
		return -ENOMEM;
	r->lines[0] = 0;
	r->n_lines = 1;
	for (size_t i = 0; i < len; i++)
		if (code[i] == '\n')
			r->lines[r->n_lines++] = (uint32_t)(i + 1);
	return 0;
}

/* Fill in line and column of the part's start; returns false if out of memory. */
static bool locate(struct dw_reading *r, uint32_t part, struct dw_finding *f)
{
	uint32_t byte = dw_part(&r->tree, part)->start;
	size_t low = 0, high;

	if (!r->lines && find_lines(r) < 0) {
		r->no_memory = true;
		return false;
	}
	high = r->n_lines;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (r->lines[middle] <= byte)
			low = middle;
		else
			high = middle;
	}
	f->line = (uint32_t)(low + 1);
	f->column = 1;
	for (uint32_t i = r->lines[low]; i < byte && i < r->tree.len; i++)
		f->column += ((uint8_t)r->tree.code[i] & 0xc0) != 0x80;
	return true;
}

/* The text contains names from the program: make it one line of printable UTF-8. */
static void make_plain(char *text, bool blanks)
{
	bool valid = dw_utf8_valid(text, strlen(text));

	for (char *p = text; *p != '\0'; p++)
		if ((uint8_t)*p < ' ' || *p == 0x7f || (!blanks && *p == ' ') ||
		    ((uint8_t)*p >= 0x80 && !valid))
			*p = '?';
}

static bool is_known(const struct dw_findings *found, const struct dw_finding *f)
{
	for (size_t i = found->n; i > 0; i--) {
		const struct dw_finding *old = &found->list[i - 1];

		if (old->line == f->line && old->column == f->column &&
		    strcmp(old->rule, f->rule) == 0)
			return true;
	}
	return false;
}

/* The caller's lists for this language; NULL: the language's own. */
static const struct dw_analyse_list *list_of(const struct dw_reading *r)
{
	const struct dw_analyse_list *list = r->options ? r->options->lists : NULL;

	for (; list && list->language; list++)
		if (strcmp(list->language, r->language->name) == 0)
			return list;
	return NULL;
}

static bool is_wanted(const struct dw_reading *r, const char *rule)
{
	static const char family[] = "builtin:";
	const struct dw_analyse_list *list = list_of(r);

	if (!list || !list->builtins || strncmp(rule, family, sizeof(family) - 1) != 0)
		return true;
	for (const char *const *name = list->builtins; *name; name++)
		if (strcmp(*name, rule + sizeof(family) - 1) == 0)
			return true;
	return false;
}

static void add_finding(struct dw_reading *r, const struct dw_finding *f)
{
	if (r->cut || is_known(&r->found, f))
		return;
	if (r->found.n == DW_ANALYSE_FINDINGS_MAX) {
		r->cut = true;
		return;
	}
	r->no_memory |= !DW_APPEND(r->found.list, r->found.n, *f);
}

void dw_finding_fill(struct dw_finding *f, const char *rule, const char *fmt,
                     va_list args)
{
	(void)snprintf(f->rule, sizeof(f->rule), "%s", rule);
	(void)vsnprintf(f->message, sizeof(f->message), fmt, args);
	make_plain(f->rule, false);
	make_plain(f->message, true);
}

void dw_found_line(struct dw_reading *r, uint32_t line, uint32_t column,
                   enum dw_severity severity, const char *rule, const char *fmt, ...)
{
	struct dw_finding f = {.severity = severity, .line = line, .column = column};
	va_list args;

	if (!is_wanted(r, rule))
		return;
	va_start(args, fmt);
	dw_finding_fill(&f, rule, fmt, args);
	va_end(args);
	add_finding(r, &f);
}

void dw_found(struct dw_reading *r, uint32_t part, enum dw_severity severity,
              const char *rule, const char *fmt, ...)
{
	struct dw_finding f = {.severity = severity};
	va_list args;

	if (r->cut || !is_wanted(r, rule) || !locate(r, part, &f))
		return;
	va_start(args, fmt);
	dw_finding_fill(&f, rule, fmt, args);
	va_end(args);
	add_finding(r, &f);
}

const char *dw_rule(char *room, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(room, DW_RULE_MAX, fmt, args);
	va_end(args);
	return room;
}

/* The message of each family of rules. */
static const struct {
	const char *family;
	const char *text;
} families[] = {
	{"builtin:open", "%s opens files"},
	{"builtin:fopen", "%s opens files"},
	{"builtin:file_", "%s opens files"},
	{"builtin:readfile", "%s opens files"},
	{"builtin:input", "%s waits for input"},
	{"builtin:gets", "%s waits for input"},
	{"builtin:", "%s runs text as code"},
	{"delete:", "%s removes files"},
	{"dynamic:", "%s runs code that is created at run time"},
	{"native:", "%s reaches native code"},
	{"network:", "%s talks to the network"},
	{"reflection:", "%s uses reflection"},
	{"shell:", "%s runs another program"},
	{"loop:", "%s never ends"},
	{"privilege:", "%s changes privileges"},
};

/*
 * At the end of a pattern, ".*" matches one more name, and "**" matches the rest of the
 * last name. "()" stands for the result of a call and matches only itself.
 */
static bool path_fits(const char *pattern, size_t len, const char *path)
{
	bool rest = len > 2 && memcmp(pattern + len - 2, "**", 2) == 0;
	bool member = len > 2 && memcmp(pattern + len - 2, ".*", 2) == 0;

	len -= rest ? 2 : member ? 1 : 0;
	if (strncmp(pattern, path, len) != 0)
		return false;
	return rest || member ? !strpbrk(path + len, ".(") : path[len] == '\0';
}

const struct dw_danger *dw_danger_find(const struct dw_syntax *language, const char *path)
{
	for (const struct dw_danger *d = language->dangers; d && d->rule; d++) {
		const char *end;

		for (const char *p = d->paths + 1; *p != '\0'; p = end + 1) {
			end = strchr(p, ' ');
			if (*p == path[0] && path_fits(p, (size_t)(end - p), path))
				return d;
		}
	}
	return NULL;
}

const char *dw_danger_rule(char *room, const struct dw_danger *d, const char *name)
{
	int family = (int)(strchr(d->rule, ':') + 1 - d->rule);
	int first = (int)strcspn(name, ".");

	if (d->rule[family] == '*')
		return dw_rule(room, "%.*s%.*s", family, d->rule, first, name);
	return dw_rule(room, "%s%s", d->rule, d->rule[family] == '\0' ? name : "");
}

/* The path to show in messages: without "builtins." in front. */
static const char *shown(const char *path)
{
	static const char builtins[] = "builtins.";

	return strncmp(path, builtins, sizeof(builtins) - 1) == 0
	               ? path + sizeof(builtins) - 1
	               : path;
}

const struct dw_danger *dw_check_danger(struct dw_reading *r, uint32_t part,
                                        struct dw_value v)
{
	const struct dw_danger *d;
	const char *text = "%s is on the list of risky names", *rule;

	if (v.type != DW_V_NAME)
		return NULL;
	d = dw_danger_find(r->language, v.text);
	if (!d)
		return NULL;
	rule = DW_DANGER_RULE(d, shown(v.text));
	for (size_t i = ARRAY_SIZE(families); i > 0; i--)
		if (strncmp(families[i - 1].family, rule,
		            strlen(families[i - 1].family)) == 0)
			text = families[i - 1].text;
			/* The format strings are the constants above. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	dw_found(r, part, d->severity, rule, text, shown(v.text));
#pragma GCC diagnostic pop
	return d;
}

/* Returns true if name is the known module or lies inside it: "os.path" in "os". */
static bool module_fits(const char *known, const char *name, size_t len)
{
	size_t n = strlen(known);

	return len >= n && memcmp(name, known, n) == 0 &&
	       (len == n || name[n] == '.' || name[n] == '/');
}

/* The same for a list of words; returns the length of the word that fits, or 0. */
static size_t module_among(const char *words, const char *name, size_t len)
{
	for (size_t n = 1; words && n <= len; n++)
		if ((n == len || name[n] == '.' || name[n] == '/') &&
		    dw_word_in(words, name, n))
			return n;
	return 0;
}

void dw_check_module(struct dw_reading *r, uint32_t part, const char *name, size_t len)
{
	const struct dw_analyse_list *list = list_of(r);
	const char *const *known = r->options ? r->options->allowed_modules : NULL;
	bool node = len > 5 && strncmp(name, "node:", 5) == 0;
	const char *plain = node ? name + 5 : name;
	size_t n, plain_len = node ? len - 5 : len;
	bool allowed;

	if (!known && list)
		known = list->allowed;
	allowed = known;
	if (!known && list)
		known = list->forbidden;
	if (len == 0)
		return;
	while (known && *known && !module_fits(*known, plain, plain_len))
		known++;
	if (allowed && !*known)
		dw_found(r, part, E, DW_RULE("import:%.*s", (int)len, name),
		         "module %.*s is not on the list of allowed modules",
		         (int)(len < 100 ? len : 100), name);
	if (allowed || (known && !*known))
		return;
	n = known ? strlen(*known) : module_among(r->language->modules, plain, plain_len);
	if (n > 0)
		dw_found(r, part, W, DW_RULE("import:%.*s", (int)n, plain),
		         "module %.*s is on the list of risky modules",
		         (int)(len < 100 ? len : 100), name);
}

void dw_read_inside(struct dw_reading *r, const struct dw_syntax *language,
                    const char *code, size_t len,
                    const struct dw_analyse_options *options,
                    const struct dw_finding *here)
{
	struct dw_findings found = {0};
	struct dw_error err = {0};

	if (dw_read_program(language, code, len, options, r, &found, &err) < 0) {
		r->no_memory = true;
		return;
	}
	for (size_t i = 0; i < found.n; i++) {
		struct dw_finding *f = &found.list[i];

		/* Code that does not parse is not a finding: eval() will fail. */
		if (language == r->language && strncmp(f->rule, "syntax:", 7) == 0)
			continue;
		f->line = here->line;
		f->column = here->column;
		add_finding(r, f);
	}
	dw_findings_finish(&found);
}

void dw_check_inner(struct dw_reading *r, uint32_t part, enum dw_code_kind kind,
                    struct dw_value code)
{
	struct dw_finding here = {0};

	if (kind == DW_CODE_NONE || code.type != DW_V_TEXT || code.len == 0)
		return;
	if (r->inner >= DW_INNER_MAX) {
		dw_found(r, part, W, "analysis:nested",
		         "programs nested more than %u deep are not analysed",
		         DW_INNER_MAX);
		return;
	}
	if (locate(r, part, &here))
		dw_read_inside(r, kind == DW_CODE_SHELL ? &dw_syntax_bash : r->language,
		               code.text, code.len, r->options, &here);
}
