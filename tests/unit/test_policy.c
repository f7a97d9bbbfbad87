/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a policy: its keys, and the errors with their line and key. */
#undef NDEBUG
#include "policy/policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "dewar/dewar.h"
#include "policy/policy_own.h"

#define PROFILES DW_SOURCE_ROOT "/packaging/policies/"

static struct dw_policy *good(const char *text)
{
	struct dw_policy *policy = NULL;
	struct dw_error err = {0};

	if (dw_policy_parse("x.yaml", text, strlen(text), &policy, &err) < 0)
		fail_msg("%s", err.text);
	return policy;
}

static void every_key_is_understood(void **state)
{
	struct dw_policy *policy = good(
		"version: 1\n"
		"profile: strict\n"
		"default: ask\n"
		"modules:\n"
		"  python: {forbid: [pandas]}\n"
		"  ruby: {allow: []}\n"
		"builtins: {python: [exec, open], php: [assert], bash: [eval]}\n"
		"commands:\n"
		"  allow: [ls, git, rm]\n"
		"  rules:\n"
		"    git: {first: [status, diff]}\n"
		"    rm: {never: -r}\n"
		"  write_below: [/tmp, /work/out]\n"
		"approvals: {expire_s: 5m, self: true, webhook: 'https://x/y'}\n"
		"check: {program: [/bin/check, -v], timeout_s: 3, languages: [python]}\n"
		"rules:\n"
		"- name: all.of-it_1\n"
		"  reason: Because.\n"
		"  decision: raise\n"
		"  to: microvm\n"
		"  when:\n"
		"    caller: 'uid:0 *'\n"
		"    door: [http, mcp]\n"
		"    language: [python, 'c*']\n"
		"    level: [none, process]\n"
		"    network: full\n"
		"    image: debian*\n"
		"    findings: ['import:os', 'shell:*', '*']\n"
		"    severity: error\n"
		"    commands: [git, 'docker*']\n"
		"    workspace: true\n"
		"    writable: false\n"
		"    limits: {timeout_s: '> 60', memory_mb: '>=1024', cpu_percent: '<5',\n"
		"      output_bytes: '<= 10', tmp_mb: '> 1', pids: '> 2', files: '> 3'}\n");
	const struct dw_policy_hook *hook = dw_policy_hook(policy);
	const struct dw_policy_rule *rule = policy->rules[0];

	(void)state;
	assert_string_equal(dw_policy_file(policy), "x.yaml");
	assert_int_equal(dw_policy_n_rules(policy), 1 + policy->base->n_rules);
	assert_string_equal(rule->name, "all.of-it_1");
	assert_string_equal(rule->reason, "Because.");
	assert_string_equal(rule->to, "microvm");
	assert_string_equal(rule->file, "x.yaml");
	assert_int_equal(rule->line, 17);
	assert_int_equal(rule->says, DW_SAYS_RAISE);
	assert_string_equal(rule->when.caller[0], "uid:0 *");
	assert_null(rule->when.caller[1]);
	assert_string_equal(rule->when.door[1], "mcp");
	assert_string_equal(rule->when.language[1], "c*");
	assert_string_equal(rule->when.level[1], "process");
	assert_string_equal(rule->when.network[0], "full");
	assert_string_equal(rule->when.image[0], "debian*");
	assert_string_equal(rule->when.findings[2], "*");
	assert_string_equal(rule->when.severity, "error");
	assert_string_equal(rule->when.commands[1], "docker*");
	assert_int_equal(rule->when.workspace, DW_MAYBE_YES);
	assert_int_equal(rule->when.writable, DW_MAYBE_NO);
	assert_string_equal(rule->when.limits[6], "> 3");
	assert_int_equal(policy->otherwise, DW_SAYS_ASK);
	assert_int_equal(policy->otherwise_line, 3);
	assert_string_equal(policy->rules[1]->file, "strict");

	assert_int_equal(dw_policy_approvals(policy)->expire_s, 300);
	assert_true(dw_policy_approvals(policy)->self);
	assert_string_equal(dw_policy_approvals(policy)->webhook, "https://x/y");
	assert_string_equal(hook->program[0], "/bin/check");
	assert_string_equal(hook->program[1], "-v");
	assert_null(hook->url);
	assert_int_equal(hook->timeout_s, 3);
	assert_string_equal(hook->languages[0], "python");

	/* The policy's own lists where it has some, otherwise the profile's. */
	assert_null(policy->lists[0].allowed);
	assert_string_equal(policy->lists[0].forbidden[0], "pandas");
	assert_string_equal(policy->lists[0].builtins[1], "open");
	assert_string_equal(policy->lists[1].allowed[0], "assert");
	assert_non_null(policy->lists[4].allowed);
	assert_null(policy->lists[4].allowed[0]);
	assert_string_equal(policy->allow.rules[1].name, "git");
	assert_string_equal(policy->allow.rules[1].first[1], "diff");
	assert_string_equal(policy->allow.rules[2].never[0], "-r");
	assert_string_equal(policy->allow.write_below[1], "/work/out");
	dw_policy_unref(policy);
}

static void a_missing_key_has_its_default(void **state)
{
	struct dw_policy *policy = good("version: 1\ndefault: deny\n");

	(void)state;
	assert_int_equal(dw_policy_n_rules(policy), 0);
	assert_null(dw_policy_hook(policy));
	assert_int_equal(dw_policy_approvals(policy)->expire_s, 600);
	assert_false(dw_policy_approvals(policy)->self);
	assert_null(dw_policy_approvals(policy)->webhook);
	assert_false(policy->has_commands);
	assert_null(policy->lists[0].allowed);
	dw_policy_unref(policy);

	policy = good("version: 1\ndefault: deny\ncommands: {}\n");
	assert_true(policy->has_commands);
	assert_string_equal(policy->allow.rules[0].name, "ls");
	assert_string_equal(policy->allow.rules[6].never[0], "-delete");
	dw_policy_unref(policy);
}

static void a_rule_for_a_command_keeps_its_other_default_rules(void **state)
{
	struct dw_policy *policy = good(
		"version: 1\ndefault: deny\n"
		"commands: {rules: {find: {without: [secret]}, sort: {never: [-o]}}}\n");
	const struct dw_shell_rule *rule = policy->allow.rules;

	(void)state;
	for (; strcmp(rule->name, "find") != 0; rule++)
		;
	assert_string_equal(rule->never[0], "-delete");
	assert_string_equal(rule->without[0], "secret");
	assert_string_equal(rule[1].name, "sort");
	assert_string_equal(rule[1].never[0], "-o");
	assert_null(rule[1].never[1]);
	dw_policy_unref(policy);
}

#define OPEN "version: 1\ndefault: deny\n"
#define RULE OPEN "rules:\n- name: a\n  decision: deny\n"

static void each_mistake_has_file_line_and_key(void **state)
{
	static const struct {
		const char *text;
		const char *why;
	} bad[] = {
		{"", "x.yaml:1: version is required; add \"version: 1\""},
		{"version: 2\n", "x.yaml:1: version must be 1, not \"2\""},
		{"version: 1\n",
	         "x.yaml:1: default is required without a profile: allow, deny or ask, if "
	         "no rule matches"},
		{"version: 1\ndefault: raise\n",
	         "x.yaml:2: default must be allow, deny or ask, not \"raise\""},
		{"version: 1\nprofile: standrad\n",
	         "x.yaml:2: profile must be open, standard or strict, not \"standrad\" "
	         "(did you mean standard?)"},
		{OPEN "rulez: []\n",
	         "x.yaml:3: rulez: unknown key (did you mean rules?)"},
		{OPEN "rules: {}\n", "x.yaml:3: rules must be a list of mappings"},
		{OPEN "rules:\n- decision: deny\n",
	         "x.yaml:4: rules: a rule needs a name"},
		{OPEN "rules:\n- name: a\n",
	         "x.yaml:4: rules: rule a needs a decision: allow, deny, ask or raise"},
		{OPEN "rules:\n- name: a\n  decision: dney\n",
	         "x.yaml:5: rules.decision must be allow, deny, ask or raise, not \"dney\" "
	         "(did you mean deny?)"},
		{OPEN "rules:\n- name: a\n  decision: raise\n",
	         "x.yaml:4: rules: rule a needs `to`, the level to raise to"},
		{OPEN "rules:\n- name: a\n  decision: raise\n  to: vm\n",
	         "x.yaml:6: rules.to must be none, process, container, docker or "
	         "microvm, not \"vm\""},
		{RULE "  to: container\n",
	         "x.yaml:4: rules: rule a has `to`, which needs decision raise"},
		{OPEN "rules:\n- {name: default, decision: deny}\n",
	         "x.yaml:4: rules.name must not be \"default\", and have at most 64 bytes"},
		{OPEN "rules:\n- {name: a b, decision: deny}\n",
	         "x.yaml:4: rules.name must be a word of letters, digits, -, _ and ."},
		{RULE "- name: a\n  decision: ask\n",
	         "x.yaml:6: rules: the rule in line 4 has the same name, a"},
		{RULE "  reason: \"two\\nlines\"\n",
	         "x.yaml:6: rules.reason must be one line"},
		{RULE "  when: {langauge: python}\n",
	         "x.yaml:6: rules.when.langauge: unknown key (did you mean language?)"},
		{RULE "  when: {language: pyhton}\n",
	         "x.yaml:6: rules.when.language: unknown language \"pyhton\" (did you mean "
	         "python?)"},
		{RULE "  when: {language: py}\n",
	         "x.yaml:6: rules.when.language must be python, not \"py\""},
		{RULE "  when:\n    level:\n    - none\n    - contaner\n",
	         "x.yaml:9: rules.when.level must be none, process, container, docker or "
	         "microvm, not \"contaner\" (did you mean container?)"},
		{RULE "  when: {network: all}\n",
	         "x.yaml:6: rules.when.network must be none or full, not \"all\""},
		{RULE "  when: {door: smtp}\n",
	         "x.yaml:6: rules.when.door must be cli, http or mcp, not \"smtp\""},
		{RULE "  when: {findings: import os}\n",
	         "x.yaml:6: rules.when.findings: \"import os\" is not FAMILY:NAME, as in "
	         "import:os or shell:*"},
		{RULE "  when: {findings: imports:os}\n",
	         "x.yaml:6: rules.when.findings: the family must be import, builtin, dynamic, "
	         "reflection, shell, delete, network, native, loop, privilege, syntax, "
	         "analysis, command, argument, redirect or undecided, not \"imports\" (did "
	         "you mean import?)"},
		{RULE "  when: {findings: []}\n",
	         "x.yaml:6: rules.when.findings must have 1 to 256 entries, not 0"},
		{RULE "  when: {severity: fatal}\n",
	         "x.yaml:6: rules.when.severity must be note, warning or error, not "
	         "\"fatal\""},
		{OPEN "rules:\n- {name: a, decision: allow, when: {severity: error}}\n",
	         "x.yaml:4: rules: rule a cannot allow by severity, which matches that "
	         "severity and higher ones; deny or ask for higher ones, and allow the "
	         "rest"},
		{RULE "  when: {workspace: yes}\n",
	         "x.yaml:6: rules.when.workspace must be true or false"},
		{RULE "  when: {limits: {memory_m: '> 1'}}\n",
	         "x.yaml:6: rules.when.limits.memory_m: unknown key (did you mean "
	         "memory_mb?)"},
		{RULE "  when: {limits: {pids: 5}}\n",
	         "x.yaml:6: rules.when.limits.pids must be \"> N\", \">= N\", \"< N\" or "
	         "\"<= N\", with its quotes"},
		{RULE "  when: {limits: {pids: '> x'}}\n",
	         "x.yaml:6: rules.when.limits.pids: \"x\" is not a whole number: use "
	         "digits only (42)"},
		{OPEN "modules: {cobol: {allow: [a]}}\n",
	         "x.yaml:3: modules.cobol: unknown key"},
		{OPEN "modules:\n  python: {allow: [a], forbid: [b]}\n",
	         "x.yaml:4: modules.python must have allow or forbid, not both"},
		{OPEN "modules:\n  python: {allow: [json, os*]}\n",
	         "x.yaml:4: modules.python.allow: \"os*\" is not the name of a module"},
		{OPEN "builtins:\n  python: [print]\n",
	         "x.yaml:4: builtins.python: static analysis does not recognise \"print\""},
		{OPEN "commands:\n  allow: [ls -l]\n",
	         "x.yaml:4: commands.allow: \"ls -l\" is not the plain name of a program"},
		{OPEN "commands:\n  allow: [ls]\n  rules: {git: {first: [log]}}\n",
	         "x.yaml:4: commands.rules.git must also be in commands.allow"},
		{OPEN "commands:\n  rules: {ls: {fist: [log]}}\n",
	         "x.yaml:4: commands.rules.ls.fist: unknown key (did you mean first?)"},
		{OPEN "commands:\n  rules: {ls: {}, ls: {}}\n",
	         "x.yaml:4: commands.rules.ls is set twice"},
		{OPEN "commands:\n  write_below: [tmp]\n",
	         "x.yaml:4: commands.write_below must be a path in the cell that begins with "
	         "/, not \"tmp\""},
		{OPEN "approvals: {expire_s: 0}\n",
	         "x.yaml:3: approvals.expire_s must be at least 1"},
		{OPEN "approvals: {webhook: 'ftp://x'}\n",
	         "x.yaml:3: approvals.webhook must be a URL that begins with https:// or "
	         "http://, not \"ftp://x\""},
		{OPEN "check: {timeout_s: 1}\n",
	         "x.yaml:3: check must have either a program or a url"},
		{OPEN "check: {program: [/bin/check], timeout_s: 61}\n",
	         "x.yaml:3: check.timeout_s must be 1s to 60s, not \"61\""},
		{OPEN "check:\n  program: [check]\n",
	         "x.yaml:4: check.program must begin with /"},
		{OPEN "default: allow\n", "x.yaml:3: default is set twice"},
		{"version: [1\n",
	         "x.yaml:2: not valid YAML: did not find expected ',' or "
	         "']'"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct dw_policy *policy = (struct dw_policy *)1;
		struct dw_error err = {0};

		if (dw_policy_parse("x.yaml", bad[i].text, strlen(bad[i].text), &policy,
		                    &err) == 0)
			fail_msg("accepted: %s", bad[i].text);
		assert_ptr_equal(policy, (struct dw_policy *)1);
		assert_int_equal(err.code, DW_E_INVALID);
		if (strcmp(err.text, bad[i].why) != 0)
			fail_msg("for \"%s\": \"%s\" instead of \"%s\"", bad[i].text,
			         err.text, bad[i].why);
	}
}

static void too_many_rules_are_refused(void **state)
{
	autofree char *text = malloc(1 << 20);
	size_t used = (size_t)sprintf(text, OPEN "rules:\n");
	struct dw_policy *policy = NULL;
	struct dw_error err = {0};

	(void)state;
	for (unsigned i = 0; i <= DW_POLICY_RULES_MAX; i++)
		used += (size_t)sprintf(text + used, "- {name: r%u, decision: deny}\n",
		                        i);
	assert_int_equal(dw_policy_parse("x", text, used, &policy, &err), -1);
	assert_string_equal(err.text,
	                    "x:4: rules has 257 entries; at most 256 are allowed");
}

static void built_in_profiles_equal_the_shipped_files(void **state)
{
	const char *text, *name;
	size_t len, n;

	(void)state;
	for (n = 0; (name = dw_policy_profile(n, &text, &len)); n++) {
		struct dw_policy *policy = NULL;
		struct dw_error err = {0};
		char path[512], *whole = calloc(1, 1 << 16);
		FILE *file;

		(void)snprintf(path, sizeof(path), PROFILES "%s.yaml", name);
		file = fopen(path, "re");
		assert_non_null(file);
		assert_int_equal(fread(whole, 1, 1 << 16, file), len);
		(void)fclose(file);
		assert_memory_equal(whole, text, len);
		free(whole);
		if (dw_policy_load(name, &policy, &err) < 0)
			fail_msg("%s", err.text);
		assert_string_equal(dw_policy_file(policy), name);
		dw_policy_unref(policy);
		if (dw_policy_load(path, &policy, &err) < 0)
			fail_msg("%s", err.text);
		assert_string_equal(dw_policy_file(policy), path);
		dw_policy_unref(policy);
	}
	assert_int_equal(n, 3);
}

static void a_name_is_a_profile_or_a_file(void **state)
{
	struct dw_policy *policy = NULL;
	struct dw_error err = {0};

	(void)state;
	assert_int_equal(dw_policy_load("strct", &policy, &err), -1);
	assert_int_equal(err.code, DW_E_NOT_FOUND);
	assert_string_equal(err.text, "unknown policy \"strct\" (did you mean strict?)");
	assert_int_equal(dw_policy_load("nothing.yaml", &policy, &err), -1);
	assert_int_equal(err.code, DW_E_NOT_FOUND);
	assert_string_equal(
		err.text,
		"cannot read the policy nothing.yaml: No such file or directory");
	assert_int_equal(dw_policy_load("/", &policy, &err), -1);
	assert_string_equal(err.text, "the policy / is not a regular file");
	assert_null(policy);
}

/* The tables of policy_read.c use the same index. */
static void languages_are_in_the_order_of_the_analysis(void **state)
{
	static const char *const names[] = {"python", "javascript", "typescript",
	                                    "bash",   "ruby",       "php"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_string_equal(dw_analyse_language(i), names[i]);
	assert_null(dw_analyse_language(DW_POLICY_LANGUAGES));
	assert_int_equal(ARRAY_SIZE(names), DW_POLICY_LANGUAGES);
}

/* Raising a level relies on this order. */
static void levels_are_weakest_first(void **state)
{
	static const char *const names[] = {"none", "process", "container", "docker",
	                                    "microvm"};

	(void)state;
	for (int i = 0; i < (int)ARRAY_SIZE(names); i++)
		assert_int_equal(dw_policy_level(names[i], strlen(names[i])), i);
	assert_int_equal(dw_policy_level("container,", 9), 2);
	assert_int_equal(dw_policy_level("contain", 7), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_understood),
		cmocka_unit_test(a_missing_key_has_its_default),
		cmocka_unit_test(a_rule_for_a_command_keeps_its_other_default_rules),
		cmocka_unit_test(each_mistake_has_file_line_and_key),
		cmocka_unit_test(too_many_rules_are_refused),
		cmocka_unit_test(built_in_profiles_equal_the_shipped_files),
		cmocka_unit_test(a_name_is_a_profile_or_a_file),
		cmocka_unit_test(languages_are_in_the_order_of_the_analysis),
		cmocka_unit_test(levels_are_weakest_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
