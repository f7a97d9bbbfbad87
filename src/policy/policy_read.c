/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a policy file by tables, then checks what tables cannot express. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/yaml.h"
#include "policy/policy_own.h"
#include "request/request.h"

#define EXPIRE_MAX_S (7U * 24 * 3600)

#define KEY(key, kind, where, ...)                                                \
	{                                                                         \
		.name = (key), .type = DW_YAML_##kind, .at = (where), __VA_ARGS__ \
	}
#define ONE .min = 1, .max = 1

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
#define SOME(key, ...) \
	KEY(#key, SOME, WHEN(key), .min = 1, .max = DW_POLICY_LIST_MAX, __VA_ARGS__)

static const struct dw_yaml_key when_keys[] = {
	SOME(caller, .check = dw_policy_check_line),
	SOME(door, .words = dw_policy_door_words),
	SOME(language, .check = dw_policy_check_language),
	SOME(level, .check = dw_policy_check_level),
	SOME(network, .words = dw_network_words),
	SOME(image, .check = dw_policy_check_line),
	SOME(findings, .check = dw_policy_check_finding),
	SOME(commands, .check = dw_policy_check_line),
	KEY("severity", TEXT, WHEN(severity), .words = dw_severity_words),
	KEY("workspace", WORDS, 0, ONE, .take = dw_policy_take_workspace),
	KEY("writable", WORDS, 0, ONE, .take = dw_policy_take_writable),
	KEY("limits", MAP, WHEN(limits), .keys = limits_keys),
	{0},
};

#define RULE(member) offsetof(struct dw_policy_rule, member)

static const struct dw_yaml_key rule_keys[] = {
	KEY("", LINE, RULE(line)),
	KEY("name", TEXT, RULE(name), .check = dw_policy_check_name),
	KEY("when", MAP, RULE(when), .keys = when_keys),
	KEY("decision", WORDS, 0, ONE, .take = dw_policy_take_decision),
	KEY("to", TEXT, RULE(to), .check = dw_policy_check_level),
	KEY("reason", TEXT, RULE(reason), .check = dw_policy_check_line),
	{0},
};

/* Check a rule as a whole. */
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
		               rule->to ? "rule %s has `to`, which needs decision raise"
		                        : "rule %s needs `to`, the level to raise to",
		               rule->name);
	if (rule->says == DW_SAYS_ALLOW && rule->when.severity)
		return dw_fail(
			err, DW_E_INVALID, 0,
			"rule %s cannot allow by severity, which matches that severity "
			"and higher ones; deny or ask for higher ones, and allow the rest",
			rule->name);
	return 0;
}

#define OWN(member) offsetof(struct dw_policy_settings, member)

/* In the order of dw_analyse_language(); a test checks this. */
#define LANGUAGES(row)                                                                \
	row("python", 0), row("javascript", 1), row("typescript", 2), row("bash", 3), \
		row("ruby", 4), row("php", 5)

static const struct dw_yaml_key module_keys[] = {
	KEY("forbid", LIST, 0, .max = DW_POLICY_LIST_MAX,
            .check = dw_policy_check_module),
	KEY("allow", LIST, sizeof(char **), .max = DW_POLICY_LIST_MAX,
            .check = dw_policy_check_module),
	{0},
};

#define MODULES(lang, index) \
	KEY(lang, MAP, (index)*2 * sizeof(char **), .keys = module_keys)
#define BUILTINS(lang, index)                                                 \
	KEY(lang, LIST, (index) * sizeof(char **), .max = DW_POLICY_LIST_MAX, \
	    .check = dw_policy_check_line)

static const struct dw_yaml_key modules_keys[] = {LANGUAGES(MODULES), {0}};
static const struct dw_yaml_key builtins_keys[] = {LANGUAGES(BUILTINS), {0}};

#define COMMAND(member) offsetof(struct dw_policy_command, member)
#define WORDS_OF(key)                                                   \
	KEY(#key, SOME, COMMAND(key), .min = 1,                         \
	    .max = ARRAY_SIZE(((struct dw_shell_rule *)NULL)->key) - 1, \
	    .check = dw_policy_check_line)

static const struct dw_yaml_key command_keys[] = {
	WORDS_OF(first),
	WORDS_OF(never),
	WORDS_OF(without),
	{0},
};

static const struct dw_yaml_key commands_keys[] = {
	KEY("", LINE, OWN(commands.line)),
	KEY("allow", LIST, OWN(commands.allow), .max = DW_POLICY_COMMANDS_MAX,
            .check = dw_policy_check_command),
	KEY("write_below", LIST, OWN(commands.write_below), .max = DW_POLICY_LIST_MAX,
            .check = dw_policy_check_folder),
	KEY("rules", NAMED, OWN(commands.rules), .count = OWN(commands.n_rules),
            .size = sizeof(struct dw_policy_command), .max = DW_POLICY_COMMANDS_MAX,
            .keys = command_keys, .check = dw_policy_check_command),
	{0},
};

static const struct dw_yaml_key approvals_keys[] = {
	KEY("", LINE, OWN(approvals.line)),
	KEY("expire_s", SECONDS, OWN(approvals.expire_s), .min = 1, .max = EXPIRE_MAX_S),
	KEY("self", FLAG, OWN(approvals.self)),
	KEY("webhook", TEXT, OWN(approvals.webhook), .check = dw_policy_check_url),
	{0},
};

static const struct dw_yaml_key check_keys[] = {
	KEY("", LINE, OWN(check.line)),
	KEY("program", SOME, OWN(check.program), .min = 1, .max = 64),
	KEY("url", TEXT, OWN(check.url), .check = dw_policy_check_url),
	KEY("timeout_s", SECONDS, OWN(check.timeout_s), .min = 1,
            .max = DW_POLICY_HOOK_TIMEOUT_MAX_S),
	KEY("languages", LIST, OWN(check.languages), .min = 1, .max = DW_POLICY_LIST_MAX,
            .check = dw_policy_check_language),
	{0},
};

static const struct dw_yaml_key policy_keys[] = {
	KEY("version", NUMBER, OWN(version), ONE),
	KEY("profile", TEXT, OWN(profile), .check = dw_policy_check_profile),
	KEY("default", WORDS, 0, ONE, .take = dw_policy_take_default),
	KEY("rules", MAPS, OWN(rules), .count = OWN(n_rules),
            .size = sizeof(struct dw_policy_rule), .max = DW_POLICY_RULES_MAX,
            .keys = rule_keys, .check = check_rule),
	KEY("modules", MAP, OWN(modules), .keys = modules_keys),
	KEY("builtins", MAP, OWN(builtins), .keys = builtins_keys),
	/* These sections store their line, so their offsets are in the whole struct. */
	KEY("commands", MAP, 0, .keys = commands_keys),
	KEY("approvals", MAP, 0, .keys = approvals_keys),
	KEY("check", MAP, 0, .keys = check_keys),
	{0},
};

/* ---- the policy as a whole ---- */

static int check_names(const struct dw_policy *policy, struct dw_error *err)
{
	const struct dw_policy_settings *own = &policy->own;

	for (size_t i = 0; i < own->n_rules; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(own->rules[i].name, own->rules[k].name) == 0)
				return dw_fail(err, DW_E_INVALID, 0,
				               "%s:%u: rules: the rule in line %u has "
				               "the same name, %s",
				               policy->file, own->rules[i].line,
				               own->rules[k].line, own->rules[i].name);
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
			              "must have allow or forbid, not both");
			return dw_yaml_blame(yaml, where, err);
		}
		for (char **name = own->builtins[i]; name && *name; name++) {
			if (dw_analyse_has_builtin(language, *name))
				continue;
			(void)snprintf(where, sizeof(where), "builtins.%s", language);
			(void)dw_fail(err, DW_E_INVALID, 0,
			              "static analysis does not recognise \"%.64s\"",
			              *name);
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
		(void)dw_fail(err, DW_E_INVALID, 0, "is required; add \"version: 1\"");
		return dw_yaml_blame(yaml, "version", err);
	}
	if (!own->profile && own->otherwise == DW_SAYS_NOTHING) {
		(void)dw_fail(err, DW_E_INVALID, 0,
		              "is required without a profile: allow, deny or ask, if no "
		              "rule matches");
		return dw_yaml_blame(yaml, "default", err);
	}
	if (own->check.line > 0 && !own->check.program == !own->check.url) {
		(void)dw_fail(err, DW_E_INVALID, 0,
		              "must have either a program or a url");
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
