/* SPDX-License-Identifier: Apache-2.0 */
/* A policy's file, by tables; and what must hold of it beyond them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/yaml.h"
#include "policy/policy_own.h"
#include "policy/policy_values.h"

#define EXPIRE_MAX_S (7U * 24 * 3600)
#define TIMEOUT_MAX_S 300U

static const struct dw_yaml_key limits_keys[] = {
#define DW_LIMIT(id, member, kind, option, variable, key, ...) \
	{                                                      \
		.name = key,                                   \
		.type = DW_YAML_TEXT,                          \
		.at = DW_LIMIT_##id * sizeof(char *),          \
		.check = dw_policy_check_compare,              \
	},
#include "dewar/limits.def"
	{0},
};

#define WHEN(member) offsetof(struct dw_when, member)
#define SOME(key, check_fn)                                                    \
	{                                                                      \
		.name = #key, .type = DW_YAML_SOME, .at = WHEN(key), .min = 1, \
		.max = DW_POLICY_LIST_MAX, .check = (check_fn),                \
	}

static const struct dw_yaml_key when_keys[] = {
	SOME(caller, dw_policy_check_line),
	SOME(door, dw_policy_check_door),
	SOME(language, dw_policy_check_language),
	SOME(level, dw_policy_check_level),
	SOME(network, dw_policy_check_network),
	SOME(image, dw_policy_check_line),
	SOME(findings, dw_policy_check_finding),
	SOME(commands, dw_policy_check_line),
	{.name = "severity",
         .type = DW_YAML_TEXT,
         .at = WHEN(severity),
         .check = dw_policy_check_severity},
	{.name = "workspace",
         .type = DW_YAML_WORDS,
         .min = 1,
         .max = 1,
         .take = dw_policy_take_workspace},
	{.name = "writable",
         .type = DW_YAML_WORDS,
         .min = 1,
         .max = 1,
         .take = dw_policy_take_writable},
	{.name = "limits", .type = DW_YAML_MAP, .at = WHEN(limits), .keys = limits_keys},
	{0},
};

#define RULE(member) offsetof(struct dw_policy_rule, member)

static const struct dw_yaml_key rule_keys[] = {
	{.name = "", .type = DW_YAML_LINE, .at = RULE(line)},
	{.name = "name",
         .type = DW_YAML_TEXT,
         .at = RULE(name),
         .check = dw_policy_check_name},
	{.name = "when", .type = DW_YAML_MAP, .at = RULE(when), .keys = when_keys},
	{.name = "decision",
         .type = DW_YAML_WORDS,
         .min = 1,
         .max = 1,
         .take = dw_policy_take_decision},
	{.name = "to",
         .type = DW_YAML_TEXT,
         .at = RULE(to),
         .check = dw_policy_check_level},
	{.name = "reason",
         .type = DW_YAML_TEXT,
         .at = RULE(reason),
         .check = dw_policy_check_line},
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
         .check = dw_policy_check_module},
	{.name = "allow",
         .type = DW_YAML_LIST,
         .at = sizeof(char **),
         .max = DW_POLICY_LIST_MAX,
         .check = dw_policy_check_module},
	{0},
};

#define MODULES(lang, index)                                              \
	{                                                                 \
		.name = (lang), .type = DW_YAML_MAP, .keys = module_keys, \
		.at = (index)*2 * sizeof(char **),                        \
	}
#define BUILTINS(lang, index)                                                    \
	{                                                                        \
		.name = (lang), .type = DW_YAML_LIST, .max = DW_POLICY_LIST_MAX, \
		.at = (index) * sizeof(char **), .check = dw_policy_check_line,  \
	}

static const struct dw_yaml_key modules_keys[] = {LANGUAGES(MODULES), {0}};
static const struct dw_yaml_key builtins_keys[] = {LANGUAGES(BUILTINS), {0}};

#define COMMAND(member) offsetof(struct dw_policy_command, member)
#define WORDS_OF(key)                                                             \
	{                                                                         \
		.name = #key, .type = DW_YAML_SOME, .at = COMMAND(key), .min = 1, \
		.max = ARRAY_SIZE(((struct dw_shell_rule *)NULL)->key) - 1,       \
		.check = dw_policy_check_line,                                    \
	}

static const struct dw_yaml_key command_keys[] = {
	WORDS_OF(first),
	WORDS_OF(never),
	WORDS_OF(without),
	{0},
};

static const struct dw_yaml_key commands_keys[] = {
	{.name = "", .type = DW_YAML_LINE, .at = OWN(commands.line)},
	{.name = "allow",
         .type = DW_YAML_LIST,
         .at = OWN(commands.allow),
         .max = DW_POLICY_COMMANDS_MAX,
         .check = dw_policy_check_command},
	{.name = "write_below",
         .type = DW_YAML_LIST,
         .at = OWN(commands.write_below),
         .max = DW_POLICY_LIST_MAX,
         .check = dw_policy_check_folder},
	{.name = "rules",
         .type = DW_YAML_NAMED,
         .at = OWN(commands.rules),
         .count = OWN(commands.n_rules),
         .size = sizeof(struct dw_policy_command),
         .max = DW_POLICY_COMMANDS_MAX,
         .keys = command_keys,
         .check = dw_policy_check_command},
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
         .check = dw_policy_check_url},
	{0},
};

static const struct dw_yaml_key check_keys[] = {
	{.name = "", .type = DW_YAML_LINE, .at = OWN(check.line)},
	{.name = "program",
         .type = DW_YAML_SOME,
         .at = OWN(check.program),
         .min = 1,
         .max = 64},
	{.name = "url",
         .type = DW_YAML_TEXT,
         .at = OWN(check.url),
         .check = dw_policy_check_url},
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
         .check = dw_policy_check_language},
	{0},
};

static const struct dw_yaml_key policy_keys[] = {
	{.name = "version",
         .type = DW_YAML_NUMBER,
         .at = OWN(version),
         .min = 1,
         .max = 1},
	{.name = "profile",
         .type = DW_YAML_TEXT,
         .at = OWN(profile),
         .check = dw_policy_check_profile},
	{.name = "default",
         .type = DW_YAML_WORDS,
         .min = 1,
         .max = 1,
         .take = dw_policy_take_default},
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
