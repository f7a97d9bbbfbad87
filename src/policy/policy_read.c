/* SPDX-License-Identifier: Apache-2.0 */
/* A policy's file, by tables; and what must hold of it beyond them. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/guess.h"
#include "base/num.h"
#include "base/yaml.h"
#include "dewar/dewar.h"
#include "policy/policy_own.h"

#define NAME_MAX_LEN 64U
#define TEXT_MAX_LEN 200U
#define EXPIRE_MAX_S (7U * 24 * 3600)
#define TIMEOUT_MAX_S 300U

const char *const dw_says_names[] = {
	[DW_SAYS_NOTHING] = "", [DW_SAYS_ALLOW] = "allow", [DW_SAYS_DENY] = "deny",
	[DW_SAYS_ASK] = "ask",  [DW_SAYS_RAISE] = "raise",
};
_Static_assert(ARRAY_SIZE(dw_says_names) == DW_SAYS_COUNT, "a name for each");

#define LIMIT(member) offsetof(struct dw_limits, member)

const struct dw_limit_name dw_policy_limits[DW_POLICY_LIMITS] = {
	{"timeout_s", 1000, LIMIT(timeout_ms)},
	{"memory_mb", 1 << 20, LIMIT(memory_bytes)},
	{"cpu_percent", 1, LIMIT(cpu_percent)},
	{"output_bytes", 1, LIMIT(output_bytes)},
	{"tmp_mb", 1 << 20, LIMIT(tmp_bytes)},
	{"pids", 1, LIMIT(pids)},
	{"files", 1, LIMIT(files)},
};

int dw_policy_level(const char *name, size_t len)
{
	const char *const *names = dw_level_names();

	for (int i = 0; names[i]; i++)
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return i;
	return -1;
}

/* ---- what single values may be ---- */

/* One of the words, which end in NULL; says what there is otherwise. */
static int one_of(const char *text, const char *const *words, const char *what,
                  struct dw_error *err)
{
	struct dw_guess guess = {.typed = text};
	char all[160] = "";
	size_t used = 0;

	for (size_t i = 0; words[i]; i++) {
		if (strcmp(words[i], text) == 0)
			return 0;
		dw_guess_offer(&guess, words[i]);
		if (used < sizeof(all))
			used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
			                         i == 0         ? ""
			                         : words[i + 1] ? ", "
			                                        : " and ",
			                         words[i]);
	}
	if (guess.best)
		return dw_fail(err, DW_E_INVALID, 0,
		               "there is no %s \"%.64s\", did you mean %s?", what, text,
		               guess.best);
	return dw_fail(err, DW_E_INVALID, 0, "there is no %s \"%.64s\": there are %s",
	               what, text, all);
}

static bool is_pattern(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

/* What makes it into records, logs and results: one line of it. */
static int check_line(const void *base, const char *text, struct dw_error *err)
{
	(void)base;
	if (strlen(text) > TEXT_MAX_LEN)
		return dw_fail(err, DW_E_INVALID, 0, "is longer than %u bytes",
		               TEXT_MAX_LEN);
	for (const char *p = text; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return dw_fail(err, DW_E_INVALID, 0, "must be one line");
	return 0;
}

static int check_name(const void *base, const char *text, struct dw_error *err)
{
	(void)base;
	if (strlen(text) > NAME_MAX_LEN || strcmp(text, "default") == 0)
		return dw_fail(err, DW_E_INVALID, 0,
		               "must be another word than default, of %u bytes at most",
		               NAME_MAX_LEN);
	for (const char *p = text; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && !strchr("-_.", *p))
			return dw_fail(err, DW_E_INVALID, 0,
			               "must be a word of letters, digits, -, _ and .");
	return 0;
}

static int check_door(const void *base, const char *text, struct dw_error *err)
{
	static const char *const doors[] = {"cli", "http", "mcp", NULL};

	(void)base;
	return one_of(text, doors, "door", err);
}

static int check_network(const void *base, const char *text, struct dw_error *err)
{
	static const char *const networks[] = {"none", "full", NULL};

	(void)base;
	return one_of(text, networks, "network", err);
}

static int check_level(const void *base, const char *text, struct dw_error *err)
{
	(void)base;
	return one_of(text, dw_level_names(), "level", err);
}

static int check_severity(const void *base, const char *text, struct dw_error *err)
{
	static const char *const severities[] = {"note", "warning", "error", NULL};

	(void)base;
	return one_of(text, severities, "severity", err);
}

static int check_language(const void *base, const char *text, struct dw_error *err)
{
	const char *name = dw_language_name(text);

	(void)base;
	if (is_pattern(text) || (name && strcmp(name, text) == 0))
		return 0;
	if (name)
		return dw_fail(err, DW_E_INVALID, 0, "\"%.64s\" is called %s here", text,
		               name);
	return dw_fail(err, DW_E_INVALID, 0,
	               "there is no language \"%.64s\": `dewar languages` lists them",
	               text);
}

/* A pattern over rules must be able to fit one: a family we do not have never would. */
static int check_finding(const void *base, const char *text, struct dw_error *err)
{
	static const char *const families[] = {
		"import",  "builtin",  "dynamic",  "reflection", "shell",  "delete",
		"network", "native",   "loop",     "privilege",  "syntax", "analysis",
		"command", "argument", "redirect", "undecided",  NULL,
	};
	size_t len = strcspn(text, ":");
	char family[NAME_MAX_LEN];

	(void)base;
	if (strcspn(text, "*?[") < len)
		return 0;
	if (text[len] != ':' || len >= sizeof(family))
		return dw_fail(err, DW_E_INVALID, 0,
		               "\"%.64s\" is no rule: they are FAMILY:NAME, as in import:os "
		               "or shell:*",
		               text);
	(void)snprintf(family, sizeof(family), "%.*s", (int)len, text);
	return one_of(family, families, "family of findings", err);
}

static int check_folder(const void *base, const char *text, struct dw_error *err)
{
	(void)base;
	if (text[0] != '/' || strstr(text, "/../"))
		return dw_fail(err, DW_E_INVALID, 0,
		               "\"%.64s\" is no folder of a cell: it begins with /",
		               text);
	return 0;
}

static int check_url(const void *base, const char *text, struct dw_error *err)
{
	(void)base;
	if (strncmp(text, "http://", 7) != 0 && strncmp(text, "https://", 8) != 0)
		return dw_fail(err, DW_E_INVALID, 0,
		               "\"%.64s\" is no URL: it begins with https:// or http://",
		               text);
	return 0;
}

/* ---- values that are kept in another form ---- */

static int take_says(const char *const *words, size_t n, size_t last, enum dw_says *ret,
                     struct dw_error *err)
{
	const char *names[DW_SAYS_COUNT] = {0};

	for (size_t i = DW_SAYS_ALLOW; i <= last; i++)
		names[i - DW_SAYS_ALLOW] = dw_says_names[i];
	if (n != 1)
		return dw_fail(err, DW_E_INVALID, 0, "must be one of them");
	if (one_of(words[0], names, "decision", err) < 0)
		return -1;
	for (size_t i = DW_SAYS_ALLOW; i <= last; i++)
		if (strcmp(dw_says_names[i], words[0]) == 0)
			*ret = i;
	return 0;
}

static int take_decision(void *base, const char *const *words, size_t n,
                         struct dw_error *err)
{
	struct dw_policy_rule *rule = base;

	return take_says(words, n, DW_SAYS_RAISE, &rule->says, err);
}

static int take_default(void *base, const char *const *words, size_t n,
                        struct dw_error *err)
{
	struct dw_policy_settings *own = base;

	return take_says(words, n, DW_SAYS_ASK, &own->otherwise, err);
}

static int take_maybe(const char *const *words, size_t n, enum dw_maybe *ret,
                      struct dw_error *err)
{
	if (n != 1 || (strcmp(words[0], "true") != 0 && strcmp(words[0], "false") != 0))
		return dw_fail(err, DW_E_INVALID, 0, "must be true or false");
	*ret = strcmp(words[0], "true") == 0 ? DW_MAYBE_YES : DW_MAYBE_NO;
	return 0;
}

static int take_workspace(void *base, const char *const *words, size_t n,
                          struct dw_error *err)
{
	return take_maybe(words, n, &((struct dw_when *)base)->workspace, err);
}

static int take_writable(void *base, const char *const *words, size_t n,
                         struct dw_error *err)
{
	return take_maybe(words, n, &((struct dw_when *)base)->writable, err);
}

/* ---- the tables ---- */

int dw_compare_parse(const char *text, char ret_op[3], uint64_t *ret_value,
                     struct dw_error *err)
{
	size_t len = strspn(text, "<>=");

	if (len == 0 || len > 2 || text[0] == '=' || (len == 2 && text[1] != '='))
		return dw_fail(err, DW_E_INVALID, 0,
		               "must be \"> N\", \">= N\", \"< N\" or \"<= N\", with its "
		               "quotes");
	(void)snprintf(ret_op, 3, "%.*s", (int)len, text);
	return dw_parse_uint(text + len + strspn(text + len, " "), UINT32_MAX, ret_value,
	                     err);
}

static int check_compare(const void *base, const char *text, struct dw_error *err)
{
	uint64_t value;
	char op[3];

	(void)base;
	return dw_compare_parse(text, op, &value, err);
}

#define LIMIT_AT(index) ((index) * sizeof(char *))
#define COMPARE(key, index)                                               \
	{                                                                 \
		.name = key, .type = DW_YAML_TEXT, .at = LIMIT_AT(index), \
		.check = check_compare,                                   \
	}

static const struct dw_yaml_key limits_keys[] = {
	COMPARE("timeout_s", 0),   COMPARE("memory_mb", 1),
	COMPARE("cpu_percent", 2), COMPARE("output_bytes", 3),
	COMPARE("tmp_mb", 4),      COMPARE("pids", 5),
	COMPARE("files", 6),       {0},
};
_Static_assert(ARRAY_SIZE(limits_keys) == DW_POLICY_LIMITS + 1, "as dw_policy_limits");

#define WHEN(member) offsetof(struct dw_when, member)
#define SOME(key, check_fn)                                                    \
	{                                                                      \
		.name = #key, .type = DW_YAML_SOME, .at = WHEN(key), .min = 1, \
		.max = DW_POLICY_LIST_MAX, .check = check_fn,                  \
	}

static const struct dw_yaml_key when_keys[] = {
	SOME(caller, check_line),
	SOME(door, check_door),
	SOME(language, check_language),
	SOME(level, check_level),
	SOME(network, check_network),
	SOME(image, check_line),
	SOME(findings, check_finding),
	SOME(commands, check_line),
	{.name = "severity",
         .type = DW_YAML_TEXT,
         .at = WHEN(severity),
         .check = check_severity},
	{.name = "workspace",
         .type = DW_YAML_WORDS,
         .min = 1,
         .max = 1,
         .take = take_workspace},
	{.name = "writable",
         .type = DW_YAML_WORDS,
         .min = 1,
         .max = 1,
         .take = take_writable},
	{.name = "limits", .type = DW_YAML_MAP, .at = WHEN(limits), .keys = limits_keys},
	{0},
};

#define RULE(member) offsetof(struct dw_policy_rule, member)

static const struct dw_yaml_key rule_keys[] = {
	{.name = "", .type = DW_YAML_LINE, .at = RULE(line)},
	{.name = "name", .type = DW_YAML_TEXT, .at = RULE(name), .check = check_name},
	{.name = "when", .type = DW_YAML_MAP, .at = RULE(when), .keys = when_keys},
	{.name = "decision",
         .type = DW_YAML_WORDS,
         .min = 1,
         .max = 1,
         .take = take_decision},
	{.name = "to", .type = DW_YAML_TEXT, .at = RULE(to), .check = check_level},
	{.name = "reason", .type = DW_YAML_TEXT, .at = RULE(reason), .check = check_line},
	{0},
};

/* What must hold of a rule as a whole. */
static int check_rule(const void *base, const char *text, struct dw_error *err)
{
	const struct dw_policy_rule *rule = base;

	(void)text;
	if (!rule->name)
		return dw_fail(err, DW_E_INVALID, 0, "a rule needs a name");
	if (rule->says == DW_SAYS_NOTHING)
		return dw_fail(err, DW_E_INVALID, 0,
		               "rule %s needs a decision: allow, deny, ask or raise",
		               rule->name);
	if ((rule->says == DW_SAYS_RAISE) != (rule->to != NULL))
		return dw_fail(err, DW_E_INVALID, 0,
		               rule->to ? "rule %s has `to`, which goes with raise only"
		                        : "rule %s raises to which level? `to` says it",
		               rule->name);
	if (rule->says == DW_SAYS_ALLOW && rule->when.severity)
		return dw_fail(err, DW_E_INVALID, 0,
		               "rule %s allows by severity, which is `at least`: deny or "
		               "ask about what is worse, and allow the rest",
		               rule->name);
	return 0;
}

#define OWN(member) offsetof(struct dw_policy_settings, member)

/* In the order of dw_analyse_language(), which a test holds. */
#define LANGUAGES(row)                                                                \
	row("python", 0), row("javascript", 1), row("typescript", 2), row("bash", 3), \
		row("ruby", 4), row("php", 5)

static const struct dw_yaml_key module_keys[] = {
	{.name = "forbid",
         .type = DW_YAML_LIST,
         .at = 0,
         .max = DW_POLICY_LIST_MAX,
         .check = check_line},
	{.name = "allow",
         .type = DW_YAML_LIST,
         .at = sizeof(char **),
         .max = DW_POLICY_LIST_MAX,
         .check = check_line},
	{0},
};

#define MODULES(lang, index)                                            \
	{                                                               \
		.name = lang, .type = DW_YAML_MAP, .keys = module_keys, \
		.at = (index)*2 * sizeof(char **),                      \
	}
#define BUILTINS(lang, index)                                                  \
	{                                                                      \
		.name = lang, .type = DW_YAML_LIST, .max = DW_POLICY_LIST_MAX, \
		.at = (index) * sizeof(char **), .check = check_line,          \
	}

static const struct dw_yaml_key modules_keys[] = {LANGUAGES(MODULES), {0}};
static const struct dw_yaml_key builtins_keys[] = {LANGUAGES(BUILTINS), {0}};

#define COMMAND(member) offsetof(struct dw_policy_command, member)
#define WORDS_OF(key)                                                             \
	{                                                                         \
		.name = #key, .type = DW_YAML_SOME, .at = COMMAND(key), .min = 1, \
		.max = ARRAY_SIZE(((struct dw_shell_rule *)NULL)->key) - 1,       \
		.check = check_line,                                              \
	}

static const struct dw_yaml_key command_keys[] = {
	WORDS_OF(first),
	WORDS_OF(never),
	WORDS_OF(without),
	{0},
};

static int check_command(const void *base, const char *text, struct dw_error *err)
{
	(void)base;
	if (strlen(text) > NAME_MAX_LEN || strpbrk(text, "/ \t\n*?["))
		return dw_fail(err, DW_E_INVALID, 0,
		               "\"%.64s\" is not the plain name of a program", text);
	return 0;
}

static const struct dw_yaml_key commands_keys[] = {
	{.name = "", .type = DW_YAML_LINE, .at = OWN(commands.line)},
	{.name = "allow",
         .type = DW_YAML_LIST,
         .at = OWN(commands.allow),
         .max = DW_POLICY_COMMANDS_MAX,
         .check = check_command},
	{.name = "write_below",
         .type = DW_YAML_LIST,
         .at = OWN(commands.write_below),
         .max = DW_POLICY_LIST_MAX,
         .check = check_folder},
	{.name = "rules",
         .type = DW_YAML_NAMED,
         .at = OWN(commands.rules),
         .count = OWN(commands.n_rules),
         .size = sizeof(struct dw_policy_command),
         .max = DW_POLICY_COMMANDS_MAX,
         .keys = command_keys,
         .check = check_command},
	{0},
};

static const struct dw_yaml_key approvals_keys[] = {
	{.name = "", .type = DW_YAML_LINE, .at = OWN(approvals.line)},
	{.name = "expire_s",
         .type = DW_YAML_SECONDS,
         .at = OWN(approvals.expire_s),
         .min = 1,
         .max = EXPIRE_MAX_S},
	{.name = "self", .type = DW_YAML_FLAG, .at = OWN(approvals.self)},
	{.name = "webhook",
         .type = DW_YAML_TEXT,
         .at = OWN(approvals.webhook),
         .check = check_url},
	{0},
};

static const struct dw_yaml_key check_keys[] = {
	{.name = "", .type = DW_YAML_LINE, .at = OWN(check.line)},
	{.name = "program",
         .type = DW_YAML_SOME,
         .at = OWN(check.program),
         .min = 1,
         .max = 64},
	{.name = "url", .type = DW_YAML_TEXT, .at = OWN(check.url), .check = check_url},
	{.name = "timeout_s",
         .type = DW_YAML_SECONDS,
         .at = OWN(check.timeout_s),
         .min = 1,
         .max = TIMEOUT_MAX_S},
	{.name = "languages",
         .type = DW_YAML_LIST,
         .at = OWN(check.languages),
         .min = 1,
         .max = DW_POLICY_LIST_MAX,
         .check = check_language},
	{0},
};

static int check_profile(const void *base, const char *text, struct dw_error *err)
{
	const char *names[8] = {0};

	(void)base;
	for (size_t i = 0; i < ARRAY_SIZE(names) - 1; i++)
		names[i] = dw_policy_profile(i, NULL, NULL);
	return one_of(text, names, "profile", err);
}

static const struct dw_yaml_key policy_keys[] = {
	{.name = "version",
         .type = DW_YAML_NUMBER,
         .at = OWN(version),
         .min = 1,
         .max = 1},
	{.name = "profile",
         .type = DW_YAML_TEXT,
         .at = OWN(profile),
         .check = check_profile},
	{.name = "default",
         .type = DW_YAML_WORDS,
         .min = 1,
         .max = 1,
         .take = take_default},
	{.name = "rules",
         .type = DW_YAML_MAPS,
         .at = OWN(rules),
         .count = OWN(n_rules),
         .size = sizeof(struct dw_policy_rule),
         .max = DW_POLICY_RULES_MAX,
         .keys = rule_keys,
         .check = check_rule},
	{.name = "modules", .type = DW_YAML_MAP, .at = OWN(modules), .keys = modules_keys},
	{.name = "builtins",
         .type = DW_YAML_MAP,
         .at = OWN(builtins),
         .keys = builtins_keys},
	/* The line of a section is outside of what its other rows point into: these
	 * sections are read as part of the whole. */
	{.name = "commands", .type = DW_YAML_MAP, .keys = commands_keys},
	{.name = "approvals", .type = DW_YAML_MAP, .keys = approvals_keys},
	{.name = "check", .type = DW_YAML_MAP, .keys = check_keys},
	{0},
};

/* ---- what must hold of it all ---- */

static int check_names(const struct dw_policy *policy, struct dw_error *err)
{
	const struct dw_policy_settings *own = &policy->own;

	for (size_t i = 0; i < own->n_rules; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(own->rules[i].name, own->rules[k].name) == 0)
				return dw_fail(err, DW_E_INVALID, 0,
				               "%s:%u: rules: another rule is called %s, in "
				               "line %u",
				               policy->file, own->rules[i].line,
				               own->rules[i].name, own->rules[k].line);
	return 0;
}

static int check_lists(const struct dw_policy *policy, const struct dw_yaml *yaml,
                       struct dw_error *err)
{
	const struct dw_policy_settings *own = &policy->own;
	char where[64];

	for (size_t i = 0; i < DW_POLICY_LANGUAGES; i++) {
		const char *language = dw_analyse_language(i);

		if (own->modules[i].allow && own->modules[i].forbid) {
			(void)snprintf(where, sizeof(where), "modules.%s", language);
			(void)dw_fail(err, DW_E_INVALID, 0,
			              "allow and forbid: take one of them");
			return dw_yaml_blame(yaml, where, err);
		}
		for (char **name = own->builtins[i]; name && *name; name++) {
			if (dw_analyse_has_builtin(language, *name))
				continue;
			(void)snprintf(where, sizeof(where), "builtins.%s", language);
			(void)dw_fail(err, DW_E_INVALID, 0,
			              "\"%.64s\" is none that the analysis knows", *name);
			return dw_yaml_blame(yaml, where, err);
		}
	}
	return 0;
}

static int check_sections(const struct dw_policy *policy, const struct dw_yaml *yaml,
                          struct dw_error *err)
{
	const struct dw_policy_settings *own = &policy->own;

	if (own->version != 1) {
		(void)dw_fail(err, DW_E_INVALID, 0, "must be there: version: 1");
		return dw_yaml_blame(yaml, "version", err);
	}
	if (!own->profile && own->otherwise == DW_SAYS_NOTHING) {
		(void)dw_fail(err, DW_E_INVALID, 0,
		              "must be there, or a profile: what if no rule fits?");
		return dw_yaml_blame(yaml, "default", err);
	}
	if (own->check.line > 0 && !own->check.program == !own->check.url) {
		(void)dw_fail(err, DW_E_INVALID, 0,
		              "has a program or a url, one of them");
		return dw_yaml_blame(yaml, "check", err);
	}
	if (own->check.program && own->check.program[0][0] != '/') {
		(void)dw_fail(err, DW_E_INVALID, 0, "must begin with /");
		return dw_yaml_blame(yaml, "check.program", err);
	}
	return 0;
}

int dw_policy_read(struct dw_policy *policy, const char *text, size_t len,
                   struct dw_error *err)
{
	struct dw_yaml *yaml = NULL;
	int r;

	if (dw_yaml_parse(policy->file, text, len, &yaml, err) < 0)
		return -1;
	r = dw_yaml_read(yaml, policy_keys, &policy->own, err);
	if (r == 0)
		r = check_sections(policy, yaml, err);
	if (r == 0)
		r = check_lists(policy, yaml, err);
	if (r == 0)
		r = check_names(policy, err);
	if (r == 0)
		policy->own.otherwise_line = dw_yaml_line(yaml, "default");
	dw_yaml_free(yaml);
	return r;
}

void dw_policy_settings_finish(struct dw_policy_settings *own)
{
	dw_yaml_finish(policy_keys, own);
}
