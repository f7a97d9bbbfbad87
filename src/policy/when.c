/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches a rule against a question. All conditions of the rule must hold. If a question
 * has several levels, findings or commands, one match is enough to deny, ask or raise. To
 * allow, there must be at least one and all must match; otherwise a script with an
 * allowed `ls` could also run `rm`.
 */
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/values.h"
#include "policy/policy_own.h"
#include "request/limits.h"

/* In `commands`: matches commands that cannot be determined. */
#define DOUBT "undecided"

/* The longest explanation of one condition. */
#define WORDS_MAX 120

struct fit {
	const struct dw_policy_rule *rule;
	const struct dw_when *when;
	struct dw_facts *facts;
	struct dw_error *err;
	char words[WORDS_MAX];
};

__attribute__((format(printf, 2, 3))) static void say(struct fit *fit, const char *fmt,
                                                      ...)
{
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(fit->words, sizeof(fit->words), fmt, args);
	va_end(args);
}

static const char *list_of(char *const *words, char ret[DW_WORDS_TEXT_MAX])
{
	return dw_words_text((const char *const *)words, ret);
}

static const char *fitting(char *const *patterns, const char *text)
{
	for (; *patterns; patterns++)
		if (fnmatch(*patterns, text, 0) == 0)
			return *patterns;
	return NULL;
}

/* A condition on a single value. */
static int fit_word(struct fit *fit, const char *what, char *const *patterns,
                    const char *text)
{
	char wanted[DW_WORDS_TEXT_MAX];

	if (text && fitting(patterns, text)) {
		say(fit, "%s is %.80s", what, text);
		return 1;
	}
	if (text)
		say(fit, "%s is %.40s, not %s", what, text, list_of(patterns, wanted));
	else
		say(fit, "there is no %s", what);
	return 0;
}

static int fit_caller(struct fit *fit)
{
	return fit_word(fit, "caller", fit->when->caller, fit->facts->question->who);
}

static int fit_door(struct fit *fit)
{
	return fit_word(fit, "door", fit->when->door, fit->facts->question->door);
}

static int fit_language(struct fit *fit)
{
	return fit_word(fit, "language", fit->when->language, fit->facts->language);
}

static int fit_image(struct fit *fit)
{
	return fit_word(fit, "image", fit->when->image, fit->facts->question->req->image);
}

static int fit_network(struct fit *fit)
{
	return fit_word(fit, "network", fit->when->network,
	                fit->facts->question->req->network == DW_NETWORK_FULL ? "full"
	                                                                      : "none");
}

static int fit_level(struct fit *fit)
{
	bool all = fit->rule->says == DW_SAYS_ALLOW;
	size_t n = 0, fits = 0;
	char level[32], wanted[DW_WORDS_TEXT_MAX];

	for (const char *p = fit->facts->levels; *p != '\0'; p += *p == ',') {
		size_t len = strcspn(p, ",");

		(void)snprintf(level, sizeof(level), "%.*s", (int)len, p);
		fits += fitting(fit->when->level, level) != NULL;
		n++;
		p += len;
	}
	if (fits > 0 && (!all || fits == n)) {
		say(fit, "level is %.80s", fit->facts->levels);
		return 1;
	}
	say(fit, "level is %.40s, not %s%s", fit->facts->levels,
	    all && n > 1 ? "only " : "", list_of(fit->when->level, wanted));
	return 0;
}

static int fit_flag(struct fit *fit, enum dw_maybe wanted, bool is, const char *what)
{
	say(fit, "there is %s%s", is ? "a " : "no ", what);
	return is == (wanted == DW_MAYBE_YES);
}

static int fit_workspace(struct fit *fit)
{
	return fit_flag(fit, fit->when->workspace,
	                fit->facts->question->req->workspace != NULL, "workspace");
}

static int fit_writable(struct fit *fit)
{
	return fit_flag(fit, fit->when->writable,
	                fit->facts->question->req->n_writable > 0, "writable path");
}

static bool compares(uint64_t is, const char *op, uint64_t than)
{
	bool equal = op[1] == '=' && is == than;

	return equal || (op[0] == '>' ? is > than : is < than);
}

static int fit_limit(struct fit *fit, size_t index)
{
	const struct dw_limit_row *limit = &dw_limit_rows[index];
	const struct dw_policy_question *q = fit->facts->question;
	const struct dw_limits *limits = q->limits ? q->limits : &q->req->limits;
	uint64_t is = dw_limit_get(limits, index), than;
	char op[3], value[32];

	if (dw_compare_parse(fit->when->limits[index], op, &than, NULL) < 0)
		return 0; /* cannot happen: checked when read */
	(void)snprintf(value, sizeof(value), "%.10g", (double)is / (double)limit->scale);
	/* A limit that is not set and has no default compares as more than any number. */
	if (is == 0 && limit->normal == 0) {
		(void)snprintf(value, sizeof(value), "unlimited");
		is = UINT64_MAX;
	}
	say(fit, "%s is %s", limit->key, value);
	if (compares(is, op, than * limit->scale))
		return 1;
	say(fit, "%s is %s, not %s", limit->key, value, fit->when->limits[index]);
	return 0;
}

static int fit_limits(struct fit *fit)
{
	for (size_t i = 0; i < DW_LIMIT_COUNT; i++)
		if (fit->when->limits[i] && !fit_limit(fit, i))
			return 0;
	return 1;
}

static bool is_severe(const char *least, enum dw_severity severity)
{
	for (int s = 0; s <= (int)severity; s++)
		if (strcmp(dw_severity_name((enum dw_severity)s), least) == 0)
			return true;
	return false;
}

/* The conditions `findings` and `severity` must match the same finding. */
static int fit_findings(struct fit *fit)
{
	const struct dw_when *when = fit->when;
	bool all = fit->rule->says == DW_SAYS_ALLOW;
	const struct dw_findings *found = &fit->facts->findings;
	const struct dw_finding *first = NULL, *other = NULL;
	size_t n = 0;
	char wanted[DW_WORDS_TEXT_MAX];

	if (dw_facts_analyse(fit->facts, fit->err) < 0)
		return -1;
	if (!all && fit->facts->blind) {
		say(fit, "this build of dewar cannot analyse code");
		return 1;
	}
	for (size_t i = 0; found->list && i < found->n; i++) {
		const struct dw_finding *f = &found->list[i];
		bool fits = (!when->findings || fitting(when->findings, f->rule)) &&
		            (!when->severity || is_severe(when->severity, f->severity));

		if (fits && n++ == 0)
			first = f;
		if (!fits && !other)
			other = f;
	}
	if (first && (!all || !other)) {
		say(fit, "finding %s in line %u", first->rule, first->line);
		if (n > 1)
			say(fit, "finding %s in line %u and %zu more", first->rule,
			    first->line, n - 1);
		return 1;
	}
	if (first && other)
		say(fit, "also finding %s in line %u", other->rule, other->line);
	else
		say(fit, "no finding %s%s%s",
		    when->findings ? list_of(when->findings, wanted) : "",
		    when->severity ? " of severity " : "",
		    when->severity ? when->severity : "");
	return 0;
}

static const char *name_of(const struct dw_shell_command *command)
{
	const char *name = command->name.text;
	const char *slash;

	if (!name)
		return NULL;
	name = dw_shell_plain_name(name);
	slash = strrchr(name, '/');
	return slash ? slash + 1 : name;
}

/* Returns true if commands may be missing in the list: then no rule may allow it. */
static bool is_doubtful(const struct dw_shell *script)
{
	for (size_t i = 0; i < script->n_notes; i++)
		if (script->notes[i].remark != DW_SHELL_LOOP)
			return true;
	for (size_t i = 0; i < script->n_commands; i++)
		if (!script->commands[i].name.text || script->commands[i].name.guessed)
			return true;
	return false;
}

static bool is_word_in(char *const *words, const char *word)
{
	for (; *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

static int fit_commands(struct fit *fit)
{
	bool all = fit->rule->says == DW_SAYS_ALLOW;
	const struct dw_shell *script = &fit->facts->script;
	const char *first = NULL, *other = NULL;
	char wanted[DW_WORDS_TEXT_MAX];

	if (dw_facts_script(fit->facts, fit->err) < 0)
		return -1;
	if (!all && (fit->facts->unreadable ||
	             (is_word_in(fit->when->commands, DOUBT) && is_doubtful(script)))) {
		say(fit, "not all its commands are known");
		return 1;
	}
	for (size_t i = 0; i < script->n_commands; i++) {
		const char *name = name_of(&script->commands[i]);

		/* To allow: /tmp/ls is not the allowed program ls, so match its path. */
		if (all && name && script->commands[i].name.text &&
		    strchr(dw_shell_plain_name(script->commands[i].name.text), '/'))
			name = script->commands[i].name.text;
		if (name && fitting(fit->when->commands, name))
			first = first ? first : name;
		else if (!other)
			other = name ? name : "?";
	}
	if (all && first && !other && is_doubtful(script)) {
		say(fit, "not all its commands are known");
		return 0;
	}
	if (first && (!all || !other)) {
		say(fit, "command %.64s", first);
		return 1;
	}
	if (first)
		say(fit, "also command %.64s", other);
	else
		say(fit, "no command %s", list_of(fit->when->commands, wanted));
	return 0;
}

static bool has_limits(const struct dw_when *when)
{
	for (size_t i = 0; i < DW_LIMIT_COUNT; i++)
		if (when->limits[i])
			return true;
	return false;
}

/* The cheapest first: the analysis runs only if all others hold. */
static const struct {
	int (*fits)(struct fit *fit);
	size_t at; /* offset of its list; a NULL list is no condition */
} conditions[] = {
	{fit_caller, offsetof(struct dw_when, caller)},
	{fit_door, offsetof(struct dw_when, door)},
	{fit_language, offsetof(struct dw_when, language)},
	{fit_level, offsetof(struct dw_when, level)},
	{fit_network, offsetof(struct dw_when, network)},
	{fit_image, offsetof(struct dw_when, image)},
	{fit_commands, offsetof(struct dw_when, commands)},
};

/* Add the explanation of a condition, and return its answer. */
static int also(struct fit *fit, int r, char text[DW_DECISION_TEXT_MAX])
{
	size_t used = strlen(text);

	if (r == 0)
		(void)snprintf(text, DW_DECISION_TEXT_MAX, "%s", fit->words);
	else if (r > 0)
		(void)snprintf(text + used, DW_DECISION_TEXT_MAX - used, "%s%s",
		               used > 0 ? ", " : "", fit->words);
	return r;
}

static int fit_rest(struct fit *fit, char text[DW_DECISION_TEXT_MAX])
{
	const struct dw_when *when = fit->when;
	int r = 1;

	if (when->workspace != DW_MAYBE_UNSAID)
		r = also(fit, fit_workspace(fit), text);
	if (r > 0 && when->writable != DW_MAYBE_UNSAID)
		r = also(fit, fit_writable(fit), text);
	if (r > 0 && has_limits(when))
		r = also(fit, fit_limits(fit), text);
	if (r > 0 && (when->findings || when->severity))
		r = also(fit, fit_findings(fit), text);
	return r;
}

int dw_rule_fits(const struct dw_policy_rule *rule, struct dw_facts *facts,
                 char text[DW_DECISION_TEXT_MAX], struct dw_error *err)
{
	struct fit fit = {.rule = rule, .when = &rule->when, .facts = facts, .err = err};
	int r = 1;

	text[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(conditions) && r > 0; i++) {
		const char *field = (const char *)&rule->when + conditions[i].at;

		if (*(char *const *const *)field)
			r = also(&fit, conditions[i].fits(&fit), text);
	}
	if (r > 0)
		r = fit_rest(&fit, text);
	if (r > 0 && text[0] == '\0')
		(void)snprintf(text, DW_DECISION_TEXT_MAX, "it has no conditions");
	return r;
}
