/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/values.h"
#include "base/yaml.h"
#include "policies_embedded.h"
#include "policy/policy_own.h"

#define EXPIRE_S 600U
#define CHECK_TIMEOUT_S 5U

static const struct {
	const char *name;
	const unsigned char *text;
	size_t len;
} profiles[] = {
	{"open", dw_policy_open, sizeof(dw_policy_open)},
	{"standard", dw_policy_standard, sizeof(dw_policy_standard)},
	{"strict", dw_policy_strict, sizeof(dw_policy_strict)},
};

const char *dw_policy_profile(size_t index, const char **ret_text, size_t *ret_len)
{
	if (index >= ARRAY_SIZE(profiles))
		return NULL;
	if (ret_text)
		*ret_text = (const char *)profiles[index].text;
	if (ret_len)
		*ret_len = profiles[index].len;
	return profiles[index].name;
}

/* ---- combine the file with its profile ---- */

static int make_rules(struct dw_policy *policy)
{
	const struct dw_policy *base = policy->base;
	struct dw_policy_settings *own = &policy->own;
	size_t n = own->n_rules + (base ? base->n_rules : 0);

	policy->rules = calloc(n + 1, sizeof(void *));
	if (!policy->rules)
		return -ENOMEM;
	for (size_t i = 0; i < own->n_rules; i++) {
		own->rules[i].file = policy->file;
		policy->rules[policy->n_rules++] = &own->rules[i];
	}
	for (size_t i = 0; base && i < base->n_rules; i++)
		policy->rules[policy->n_rules++] = base->rules[i];

	if (own->otherwise != DW_SAYS_NOTHING) {
		policy->otherwise = own->otherwise;
		policy->otherwise_file = policy->file;
		policy->otherwise_line = own->otherwise_line;
	} else if (base) {
		policy->otherwise = base->otherwise;
		policy->otherwise_file = base->otherwise_file;
		policy->otherwise_line = base->otherwise_line;
	}
	return 0;
}

static void make_lists(struct dw_policy *policy)
{
	const struct dw_policy_settings *own = &policy->own;

	for (size_t i = 0; i < DW_POLICY_LANGUAGES; i++) {
		struct dw_analyse_list *list = &policy->lists[i];

		if (policy->base)
			*list = policy->base->lists[i];
		list->language = dw_analyse_language(i);
		if (own->modules[i].allow || own->modules[i].forbid) {
			list->allowed = (const char *const *)own->modules[i].allow;
			list->forbidden = (const char *const *)own->modules[i].forbid;
		}
		if (own->builtins[i])
			list->builtins = (const char *const *)own->builtins[i];
	}
}

static void copy_words(const char **to, size_t room, char **from)
{
	if (!from)
		return;
	memset((void *)to, 0, room * sizeof(*to));
	for (size_t i = 0; i < room - 1 && from[i]; i++)
		to[i] = from[i];
}

/* A command of the default list keeps its default rules, unless the file sets others. */
static struct dw_shell_rule make_command(const struct dw_policy_settings *own,
                                         const char *name)
{
	const struct dw_shell_rule *known = dw_shell_rules;
	struct dw_shell_rule rule;

	while (known->name && strcmp(known->name, name) != 0)
		known++;
	rule = *known;
	rule.name = name;
	for (size_t i = 0; i < own->commands.n_rules; i++) {
		const struct dw_policy_command *said = &own->commands.rules[i];

		if (strcmp(said->name, name) != 0)
			continue;
		copy_words(rule.first, ARRAY_SIZE(rule.first), said->first);
		copy_words(rule.never, ARRAY_SIZE(rule.never), said->never);
		copy_words(rule.without, ARRAY_SIZE(rule.without), said->without);
	}
	return rule;
}

static const struct dw_shell_rule *find_command(const struct dw_shell_rule *rules,
                                                const char *name)
{
	for (; rules->name; rules++)
		if (strcmp(rules->name, name) == 0)
			return rules;
	return NULL;
}

/* Fill policy->shown with the commands and the carriers, each once. */
static int make_shown(struct dw_policy *policy, size_t n)
{
	size_t used = 0, carriers = 0;

	while (dw_shell_carriers[carriers])
		carriers++;
	policy->shown = calloc(n + carriers + 1, sizeof(*policy->shown));
	if (!policy->shown)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		policy->shown[used++] = policy->shell_rules[i].name;
	for (size_t i = 0; i < carriers; i++)
		if (!find_command(policy->shell_rules, dw_shell_carriers[i]))
			policy->shown[used++] = dw_shell_carriers[i];
	return 0;
}

static int make_commands(struct dw_policy *policy, struct dw_error *err)
{
	const struct dw_policy_settings *own = &policy->own;
	char **named = own->commands.allow;
	size_t n = 0;

	if (own->commands.line == 0) {
		policy->has_commands = policy->base && policy->base->has_commands;
		if (policy->has_commands)
			policy->allow = policy->base->allow;
		return 0;
	}
	while (named ? named[n] != NULL : dw_shell_rules[n].name != NULL)
		n++;
	policy->shell_rules = calloc(n + 1, sizeof(*policy->shell_rules));
	if (!policy->shell_rules)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot read %s",
		               policy->file);
	for (size_t i = 0; i < n; i++)
		policy->shell_rules[i] = make_command(own,
		                                      named ? named[i]
		                                            : dw_shell_rules[i].name);
	for (size_t i = 0; i < own->commands.n_rules; i++)
		if (!find_command(policy->shell_rules, own->commands.rules[i].name))
			return dw_fail(err, DW_E_INVALID, 0,
			               "%s:%u: commands.rules.%s must also be in "
			               "commands.allow",
			               policy->file, own->commands.line,
			               own->commands.rules[i].name);
	if (make_shown(policy, n) < 0)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot read %s",
		               policy->file);
	policy->has_commands = true;
	policy->allow.rules = policy->shell_rules;
	policy->allow.write_below = (const char *const *)own->commands.write_below;
	return 0;
}

static void make_rest(struct dw_policy *policy)
{
	const struct dw_policy_settings *own = &policy->own;

	if (policy->base && own->approvals.line == 0)
		policy->approvals = policy->base->approvals;
	else
		policy->approvals = (struct dw_policy_approvals){
			.expire_s = own->approvals.expire_s > 0 ? own->approvals.expire_s
		                                                : EXPIRE_S,
			.self = own->approvals.self,
			.webhook = own->approvals.webhook,
		};
	if (own->check.line > 0) {
		policy->has_hook = true;
		policy->hook = (struct dw_policy_hook){
			.program = (const char *const *)own->check.program,
			.url = own->check.url,
			.timeout_s = own->check.timeout_s > 0 ? own->check.timeout_s
		                                              : CHECK_TIMEOUT_S,
			.languages = (const char *const *)own->check.languages,
		};
	} else if (policy->base) {
		policy->has_hook = policy->base->has_hook;
		policy->hook = policy->base->hook;
	}
}

static int fill(struct dw_policy *policy, const char *text, size_t len,
                struct dw_error *err)
{
	if (dw_policy_read(policy, text, len, err) < 0)
		return -1;
	if (policy->own.profile &&
	    dw_policy_load(policy->own.profile, &policy->base, err) < 0)
		return -1;
	if (make_rules(policy) < 0)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot read %s",
		               policy->file);
	make_lists(policy);
	if (make_commands(policy, err) < 0)
		return -1;
	make_rest(policy);
	return 0;
}

int dw_policy_parse(const char *file, const char *text, size_t len,
                    struct dw_policy **ret, struct dw_error *err)
{
	struct dw_policy *policy = calloc(1, sizeof(*policy));

	if (!policy || !(policy->file = strdup(file))) {
		free(policy);
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot read %s", file);
	}
	atomic_init(&policy->refs, 1);
	if (fill(policy, text, len, err) < 0) {
		dw_policy_unref(policy);
		return -1;
	}
	*ret = policy;
	return 0;
}

/* ---- load a policy by name ---- */

static int no_profile(const char *name, struct dw_error *err)
{
	struct dw_guess guess = {.typed = name};

	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++)
		dw_guess_offer(&guess, profiles[i].name);
	(void)dw_fail(err, DW_E_NOT_FOUND, 0,
	              guess.best ? "unknown policy \"%.64s\""
	                         : "policy must be open, standard, strict or a file, not "
	                           "\"%.64s\"; a file name contains a / or ends in .yaml",
	              name);
	return dw_suggest(err, &guess, "");
}

bool dw_policy_is_file(const char *name)
{
	size_t len = strlen(name);

	return strchr(name, '/') || (len > 5 && strcmp(name + len - 5, ".yaml") == 0);
}

const char *dw_policy_default(void)
{
	return access(DW_POLICY_HOST, F_OK) == 0 || errno != ENOENT ? DW_POLICY_HOST
	                                                            : "open";
}

int dw_policy_load(const char *name, struct dw_policy **ret, struct dw_error *err)
{
	autofree char *text = NULL;
	struct stat st;
	size_t len;

	if (!name)
		name = dw_policy_default();
	for (size_t i = 0; i < ARRAY_SIZE(profiles); i++)
		if (strcmp(profiles[i].name, name) == 0)
			return dw_policy_parse(name, (const char *)profiles[i].text,
			                       profiles[i].len, ret, err);
	if (!dw_policy_is_file(name))
		return no_profile(name, err);
	if (dw_yaml_read_file("policy", name, &st, &text, &len, err) < 0)
		return -1;
	return dw_policy_parse(name, text, len, ret, err);
}

struct dw_policy *dw_policy_ref(struct dw_policy *policy)
{
	if (policy)
		(void)atomic_fetch_add_explicit(&policy->refs, 1, memory_order_relaxed);
	return policy;
}

void dw_policy_unref(struct dw_policy *policy)
{
	if (!policy ||
	    atomic_fetch_sub_explicit(&policy->refs, 1, memory_order_acq_rel) != 1)
		return;
	dw_policy_settings_finish(&policy->own);
	dw_policy_unref(policy->base);
	free((void *)policy->rules);
	free(policy->shell_rules);
	free((void *)policy->shown);
	free(policy->file);
	free(policy);
}

const char *dw_policy_file(const struct dw_policy *policy)
{
	return policy->file;
}

size_t dw_policy_n_rules(const struct dw_policy *policy)
{
	return policy->n_rules;
}

const struct dw_policy_approvals *dw_policy_approvals(const struct dw_policy *policy)
{
	return &policy->approvals;
}

const struct dw_policy_hook *dw_policy_hook(const struct dw_policy *policy)
{
	return policy->has_hook ? &policy->hook : NULL;
}
