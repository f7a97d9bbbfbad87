/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions of a policy, from tables of rules, requests and expected decisions. */
#undef NDEBUG
#include "policy/decide.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "policy/policy_own.h"

static struct dw_policy *load(const char *text)
{
	struct dw_policy *policy = NULL;
	struct dw_error err = {0};
	int r = strchr(text, ':')
	                ? dw_policy_parse("x.yaml", text, strlen(text), &policy, &err)
	                : dw_policy_load(text, &policy, &err);

	if (r < 0)
		fail_msg("%s", err.text);
	return policy;
}

/* The fields of a request that policies look at; a field that is not set has its default. */
struct asked {
	const char *language;
	const char *code;
	const char *command;
	const char *level;
	const char *image;
	const char *workspace;
	const char *writable;
	const char *who;
	const char *door;
	enum dw_network network;
	struct dw_limits limits;
	const char *program;
};

static void ask(struct dw_policy *policy, const struct asked *asked,
                struct dw_explanation *ret)
{
	struct dw_request req;
	struct dw_policy_question question = {.who = asked->who ? asked->who
	                                                        : "uid:1000 (alice)",
	                                      .door = asked->door ? asked->door : "cli",
	                                      .req = &req};
	struct dw_error err = {0};
	struct dw_decision plain = {0};

	dw_request_init(&req);
	req.language = asked->language;
	if (!req.language && !asked->command && !asked->program)
		req.language = "python";
	if (asked->code)
		req.code = (struct dw_bytes){asked->code, strlen(asked->code)};
	req.command = asked->command;
	req.program = asked->program;
	req.level = asked->level;
	req.image = asked->image;
	req.workspace = asked->workspace;
	req.writable = &asked->writable;
	req.n_writable = asked->writable != NULL;
	req.network = asked->network;
	req.limits = asked->limits;
	if (dw_policy_explain(policy, &question, ret, &err) < 0)
		fail_msg("%s", err.text);

	/* Without an explanation the decision is the same. */
	assert_int_equal(dw_policy_decide(policy, &question, &plain, &err), 0);
	assert_int_equal(plain.effect, ret->decision.effect);
	assert_string_equal(plain.rule, ret->decision.rule);
	assert_int_equal(plain.line, ret->decision.line);
	assert_string_equal(plain.matched, ret->decision.matched);
	assert_string_equal(plain.level, ret->decision.level);
	dw_decision_finish(&plain);
}

/* A policy whose one rule, `a` in line 4, denies (or allows), unlike the default. */
#define DENY(when)                                                                       \
	"version: 1\ndefault: allow\nrules:\n- name: a\n  decision: deny\n  when: " when \
	"\n"
#define ALLOW(when)                                                                      \
	"version: 1\ndefault: deny\nrules:\n- name: a\n  decision: allow\n  when: " when \
	"\n"

static const char os_code[] = "import os\nos.system('ls')\n";

static void each_condition_matches_and_explains(void **state)
{
	static const struct {
		const char *policy;
		struct asked asked;
		bool fits;
		const char *text;
	} table[] = {
		{DENY("{}"), {0}, true, "it has no conditions"},
		{DENY("{caller: 'uid:1000 *'}"), {0}, true, "caller is uid:1000 (alice)"},
		{DENY("{caller: ['uid:0 *', 'key:*']}"),
	         {0},
	         false,
	         "caller is uid:1000 (alice), not uid:0 * or key:*"},
		{DENY("{caller: 'key:*'}"),
	         {.who = "key:1f2e3d4c (ci)"},
	         true,
	         "caller is key:1f2e3d4c (ci)"},
		{DENY("{door: [http, mcp]}"), {.door = "mcp"}, true, "door is mcp"},
		{DENY("{door: [http, mcp]}"), {0}, false, "door is cli, not http or mcp"},
		{DENY("{language: python}"),
	         {.language = "py"},
	         true,
	         "language is python"},
		{DENY("{language: python}"),
	         {.language = "ruby"},
	         false,
	         "language is ruby, not python"},
		{DENY("{language: sh}"), {.command = "ls"}, true, "language is sh"},
		{DENY("{language: 'type*'}"),
	         {.language = "ts"},
	         true,
	         "language is typescript"},
		{DENY("{network: full}"),
	         {.network = DW_NETWORK_FULL},
	         true,
	         "network is full"},
		/* prose: allow the value none */
		{DENY("{network: full}"), {0}, false, "network is none, not full"},
		{DENY("{image: 'evil/*'}"),
	         {.image = "evil/miner"},
	         true,
	         "image is evil/miner"},
		{DENY("{image: '*'}"), {0}, false, "there is no image"},
		{DENY("{workspace: true}"),
	         {.workspace = "/src"},
	         true,
	         "there is a workspace"},
		{DENY("{workspace: true}"), {0}, false, "there is no workspace"},
		{DENY("{workspace: false}"), {0}, true, "there is no workspace"},
		{DENY("{writable: true}"),
	         {.writable = "/srv"},
	         true,
	         "there is a writable path"},
		{DENY("{writable: false}"),
	         {.writable = "/srv"},
	         false,
	         "there is a writable path"},
		{DENY("{limits: {memory_mb: '> 1024'}}"),
	         {.limits = {.memory_bytes = (1024ULL << 20) + 1}},
	         true,
	         "memory_mb is 1024.000001"},
		{DENY("{limits: {memory_mb: '> 1024'}}"),
	         {.limits = {.memory_bytes = 1024ULL << 20}},
	         false,
	         "memory_mb is 1024, not > 1024"},
		{DENY("{limits: {memory_mb: '>= 1024'}}"),
	         {.limits = {.memory_bytes = 1024ULL << 20}},
	         true,
	         "memory_mb is 1024"},
		{DENY("{limits: {timeout_s: '< 5'}}"),
	         {.limits = {.timeout_ms = 4999}},
	         true,
	         "timeout_s is 4.999"},
		{DENY("{limits: {pids: '<= 5', files: '> 7'}}"),
	         {.limits = {.pids = 5, .files = 7}},
	         false,
	         "files is 7, not > 7"},
		/* All each_condition_matches_and_explains must hold. */
		{DENY("{network: full, language: python}"),
	         {.network = DW_NETWORK_FULL},
	         true,
	         "language is python, network is full"},
		{DENY("{network: full, language: ruby}"),
	         {.network = DW_NETWORK_FULL},
	         false,
	         "language is python, not ruby"},
		/* Of several levels, one match is enough to deny; to allow, all must match. */
		{DENY("{level: container}"), {0}, true, "level is container"},
		{DENY("{level: none}"),
	         {.level = "microvm,none"},
	         true,
	         "level is microvm,none"},
		{DENY("{level: docker}"),
	         {.level = "microvm,none"},
	         false,
	         "level is microvm,none, not docker"},
		{ALLOW("{level: microvm}"),
	         {.level = "microvm,none"},
	         false,
	         "level is microvm,none, not only microvm"},
		{ALLOW("{level: [microvm, docker]}"),
	         {.level = "microvm,docker"},
	         true,
	         "level is microvm,docker"},
		/* The same holds for findings ... */
		{DENY("{findings: 'import:*'}"),
	         {.code = os_code},
	         true,
	         "finding import:os in line 1"},
		{DENY("{findings: 'shell:*'}"),
	         {.code = os_code},
	         true,
	         "finding shell:os.system in line 2"},
		{DENY("{findings: 'network:*'}"),
	         {.code = os_code},
	         false,
	         "no finding network:*"},
		{DENY("{findings: '*'}"),
	         {.code = os_code},
	         true,
	         "finding import:os in line 1 and 1 more"},
		{DENY("{findings: '*'}"),
	         {.code = "import osmnx\nsystem = 1"},
	         false,
	         "no finding *"},
		{DENY("{severity: error}"),
	         {.code = os_code},
	         true,
	         "finding shell:os.system in line 2"},
		{DENY("{severity: error, findings: 'import:*'}"),
	         {.code = os_code},
	         false,
	         "no finding import:* of severity error"},
		{ALLOW("{findings: 'import:*'}"),
	         {.code = os_code},
	         false,
	         "also finding shell:os.system in line 2"},
		{ALLOW("{findings: 'import:*'}"),
	         {.code = "import os"},
	         true,
	         "finding import:os in line 1"},
		{ALLOW("{findings: 'import:*'}"),
	         {.code = "1"},
	         false,
	         "no finding import:*"},
		/* ... and for commands; a command that is not known for sure is not allowed. */
		{DENY("{commands: [git, 'rm*']}"),
	         {.command = "ls | xargs rmdir"},
	         true,
	         "command rmdir"},
		{DENY("{commands: rm}"), {.command = "ls; /bin/rm x"}, true, "command rm"},
		{DENY("{commands: rm}"), {.command = "ls; /opt/rm x"}, true, "command rm"},
		{DENY("{commands: rm}"),
	         {.command = "echo rm # rm"},
	         false,
	         "no command rm"},
		{DENY("{commands: rm}"), {.code = "rm = 1"}, false, "no command rm"},
		{DENY("{commands: rm}"), {.command = "$X"}, false, "no command rm"},
		{DENY("{commands: [rm, undecided]}"),
	         {.command = "ls; $X"},
	         true,
	         "not all its commands are known"},
		{DENY("{commands: [rm, undecided]}"),
	         {.command = "ls; date"},
	         false,
	         "no command rm or undecided"},
		{ALLOW("{commands: [ls, undecided]}"),
	         {.command = "ls; $X"},
	         false,
	         "also command ?"},
		{ALLOW("{commands: ls}"), {.command = "ls -l"}, true, "command ls"},
		{ALLOW("{commands: ls}"),
	         {.command = "ls; rm -r /"},
	         false,
	         "also command rm"},
		{ALLOW("{commands: ls}"), {.command = "./ls"}, false, "no command ls"},
		{ALLOW("{commands: ls}"), {.command = "ls; $X"}, false, "also command ?"},
		{ALLOW("{commands: ls}"),
	         {.command = "PATH=/evil; ls"},
	         false,
	         "not all its commands are known"},
		{ALLOW("{commands: ls}"), {.code = "1"}, false, "no command ls"},
		/* A rule can match code that was not analysed. */
		{DENY("{findings: 'analysis:*'}"),
	         {.language = "perl", .code = "1"},
	         true,
	         "finding analysis:unsupported in line 1"},
		{DENY("{findings: 'analysis:*'}"),
	         {.program = "/bin/true"},
	         true,
	         "finding analysis:unsupported in line 1"},
		{DENY("{severity: warning}"),
	         {.language = "perl", .code = "1"},
	         false,
	         "no finding  of severity warning"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct dw_policy *policy = load(table[i].policy);
		bool allows = strstr(table[i].policy, "decision: allow") != NULL;
		struct dw_explanation e = {0};

		ask(policy, &table[i].asked, &e);
		assert_int_equal(e.n_tried, 1);
		if (e.tried[0].fits != table[i].fits ||
		    strcmp(e.tried[0].text, table[i].text) != 0)
			fail_msg("%zu: %s: %d \"%s\" and not \"%s\"", i, table[i].policy,
			         e.tried[0].fits, e.tried[0].text, table[i].text);
		assert_int_equal(e.decision.effect,
		                 table[i].fits == allows ? DW_ALLOW : DW_DENY);
		assert_string_equal(e.decision.rule, table[i].fits ? "a" : "default");
		assert_string_equal(e.decision.matched,
		                    table[i].fits ? table[i].text : "no rule matches");
		assert_int_equal(e.decision.line, table[i].fits ? 4 : 2);
		assert_string_equal(e.decision.file, "x.yaml");
		dw_explanation_finish(&e);
		dw_policy_unref(policy);
	}
}

static void the_first_matching_rule_decides(void **state)
{
	struct dw_policy *policy = load(
		"version: 1\n"
		"default: deny\n"
		"rules:\n"
		"- {name: never, decision: deny, when: {network: full}}\n"
		"- {name: ask, decision: ask, reason: Why?,\n"
		"   when: {language: ruby}}\n"
		"- {name: yes, decision: allow}\n"
		"- {name: no, decision: deny}\n");
	struct dw_explanation e = {0};

	(void)state;
	ask(policy, &(struct asked){.language = "ruby"}, &e);
	assert_int_equal(e.decision.effect, DW_ASK);
	assert_string_equal(e.decision.rule, "ask");
	assert_string_equal(e.decision.reason, "Why?");
	assert_int_equal(e.decision.line, 5);
	assert_int_equal(e.n_tried, 2);
	assert_false(e.tried[0].fits);
	assert_string_equal(e.tried[0].says, "deny");
	assert_true(e.tried[1].fits);
	dw_explanation_finish(&e);

	ask(policy, &(struct asked){0}, &e);
	assert_int_equal(e.decision.effect, DW_ALLOW);
	assert_string_equal(e.decision.rule, "yes");
	assert_null(e.decision.reason);
	assert_int_equal(e.n_tried, 3);
	dw_explanation_finish(&e);
	dw_policy_unref(policy);
}

static void raising_never_lowers_the_level_and_later_rules_apply(void **state)
{
	static const char two[] =
		"version: 1\n"
		"default: allow\n"
		"rules:\n"
		"- {name: up, decision: raise, to: container, reason: Walls.}\n"
		"- {name: weak, decision: deny, when: {level: [none, process]}}\n"
		"- {name: higher, decision: raise, to: docker, when: {network: full}}\n"
		"- {name: back, decision: raise, to: process}\n";
	static const struct {
		const char *asked;
		enum dw_network network;
		const char *level;
		const char *by;
	} table[] = {
		{NULL, DW_NETWORK_NONE, "", NULL},
		{"container", DW_NETWORK_NONE, "", NULL},
		{"microvm", DW_NETWORK_FULL, "", NULL},
		{"none", DW_NETWORK_NONE, "container", "up"},
		{"process,none", DW_NETWORK_NONE, "container", "up"},
		{"microvm,process,container", DW_NETWORK_NONE, "microvm,container", "up"},
		{"microvm,process", DW_NETWORK_NONE, "microvm", "up"},
		{"none", DW_NETWORK_FULL, "docker", "higher"},
		{"container,microvm,docker", DW_NETWORK_FULL, "microvm,docker", "higher"},
	};
	struct dw_policy *policy = load(two);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct dw_explanation e = {0};

		ask(policy,
		    &(struct asked){.level = table[i].asked, .network = table[i].network},
		    &e);
		assert_int_equal(e.decision.effect, DW_ALLOW);
		assert_string_equal(e.decision.level, table[i].level);
		if (table[i].by)
			assert_string_equal(e.decision.raised_by, table[i].by);
		else
			assert_null(e.decision.raised_by);
		dw_explanation_finish(&e);
	}
	dw_policy_unref(policy);
}

static void an_unknown_level_is_an_error(void **state)
{
	static const char *const bad[] = {"bunker", "", "container,", ",none",
	                                  "container,,none"};
	struct dw_policy *policy = load("open");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct dw_policy_question question = {.who = "x", .door = "cli"};
		struct dw_decision decision = {0};
		struct dw_error err = {0};
		struct dw_request req;

		dw_request_init(&req);
		req.language = "python";
		req.level = bad[i];
		question.req = &req;
		assert_int_equal(dw_policy_decide(policy, &question, &decision, &err),
		                 -1);
		assert_int_equal(err.code, DW_E_INVALID);
		assert_null(decision.policy);
	}
	dw_policy_unref(policy);
}

static void code_is_analysed_only_if_a_rule_needs_it(void **state)
{
	static const struct {
		const char *policy;
		bool analysed;
	} table[] = {
		{"open", false},
		{DENY("{network: full, findings: '*'}"), false},
		{DENY("{findings: 'shell:awk'}"), true},
		{DENY("{severity: note}"), true},
		{DENY("{commands: ls}"), false},
		{"standard", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct dw_policy *policy = load(table[i].policy);
		struct dw_request req;
		struct dw_policy_question question = {.who = "x",
		                                      .door = "cli",
		                                      .req = &req};
		struct dw_decision decision = {0};
		struct dw_error err = {0};

		dw_request_init(&req);
		req.language = "python";
		req.code = (struct dw_bytes){os_code, strlen(os_code)};
		assert_int_equal(dw_policy_decide(policy, &question, &decision, &err), 0);
		assert_int_equal(decision.analysed, table[i].analysed);
		assert_int_equal(decision.findings.n, table[i].analysed ? 2 : 0);
		dw_decision_finish(&decision);
		dw_policy_unref(policy);
	}
}

/* The same request has the same decision, which stays valid without the policy. */
static void a_decision_is_a_pure_function(void **state)
{
	struct dw_policy *policy = load("strict");
	struct dw_explanation one = {0}, two = {0};
	struct asked asked = {.command = "ls | xargs rm; curl x | sh", .level = "none"};

	(void)state;
	ask(policy, &asked, &one);
	ask(policy, &asked, &two);
	dw_policy_unref(policy);
	assert_int_equal(one.n_tried, two.n_tried);
	assert_true(one.n_tried > 3);
	assert_memory_equal(one.tried, two.tried, one.n_tried * sizeof(*one.tried));
	assert_int_equal(one.decision.findings.n, two.decision.findings.n);
	assert_memory_equal(one.decision.findings.list, two.decision.findings.list,
	                    one.decision.findings.n *
	                            sizeof(*one.decision.findings.list));
	assert_string_equal(one.decision.matched, two.decision.matched);
	assert_string_equal(one.decision.rule, "command");
	assert_string_equal(one.decision.level, "container");
	dw_explanation_finish(&one);
	assert_string_equal(two.decision.file, "strict");
	dw_explanation_finish(&two);
}

static const char *const their_modules[] = {"json", "os", NULL};
static const char *const their_commands[] = {"ls", "rm", "xargs", NULL};

static bool has(const char **list, const char *name)
{
	for (; *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

static void allow_lists_also_apply_in_the_cell(void **state)
{
	struct dw_policy *policy = load("strict");
	struct dw_policy_question question = {.who = "x", .door = "cli"};
	struct dw_decision decision = {0};
	struct dw_request req;

	(void)state;
	dw_request_init(&req);
	question.req = &req;
	req.language = "py";
	assert_int_equal(dw_policy_decide(policy, &question, &decision, NULL), 0);
	assert_true(has(decision.allowed_modules, "json"));
	assert_false(has(decision.allowed_modules, "os"));
	assert_null(decision.allowed_commands);
	dw_decision_finish(&decision);

	/* A caller may restrict the lists further, but not extend them. */
	req.allowed_modules = their_modules;
	assert_int_equal(dw_policy_decide(policy, &question, &decision, NULL), 0);
	assert_string_equal(decision.allowed_modules[0], "json");
	assert_null(decision.allowed_modules[1]);
	dw_decision_finish(&decision);

	req.allowed_modules = NULL;
	req.language = NULL;
	req.command = "ls";
	assert_int_equal(dw_policy_decide(policy, &question, &decision, NULL), 0);
	assert_null(decision.allowed_modules);
	assert_true(has(decision.allowed_commands, "ls"));
	assert_true(has(decision.allowed_commands, "xargs"));
	assert_false(has(decision.allowed_commands, "rm"));
	dw_decision_finish(&decision);

	req.allowed_commands = their_commands;
	assert_int_equal(dw_policy_decide(policy, &question, &decision, NULL), 0);
	assert_string_equal(decision.allowed_commands[0], "ls");
	assert_string_equal(decision.allowed_commands[1], "xargs");
	assert_null(decision.allowed_commands[2]);
	dw_decision_finish(&decision);
	dw_policy_unref(policy);
}

static void the_policys_lists_replace_those_of_the_analysis(void **state)
{
	static const char lists[] =
		"version: 1\ndefault: allow\n"
		"modules:\n"
		"  python: {forbid: [pandas]}\n"
		"  javascript: {allow: [fs]}\n"
		"builtins: {python: [exec], bash: []}\n"
		"rules: [{name: a, decision: deny, when: {findings: '*'}}]\n";
	static const struct {
		struct asked asked;
		const char *found; /* NULL: no finding */
	} table[] = {
		{{.code = "import os, sys"}, NULL},
		{{.code = "import pandas.io"}, "import:pandas"},
		{{.code = "open('x'); input()"}, NULL},
		{{.code = "exec('1')"}, "builtin:exec"},
		{{.language = "javascript", .code = "require('fs')"}, NULL},
		{{.language = "javascript", .code = "require('path')"}, "import:path"},
		{{.language = "javascript", .code = "eval('1')"}, "builtin:eval"},
		{{.language = "ruby", .code = "require 'socket'"}, "import:socket"},
		{{.command = "eval ls"}, NULL},
		/* Code inside a command is checked against the lists of its own language. */
		{{.command = "python3 -c 'import os; import pandas'"}, "import:pandas"},
		{{.command = "python3 -c 'open(1)'"}, NULL},
		{{.command = "node -e \"eval('1')\""}, "builtin:eval"},
	};
	struct dw_policy *policy = load(lists);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct dw_explanation e = {0};

		ask(policy, &table[i].asked, &e);
		if (e.decision.findings.n != (table[i].found ? 1 : 0))
			fail_msg("%zu: %zu findings, first %s", i, e.decision.findings.n,
			         e.decision.findings.list[0].rule);
		if (table[i].found)
			assert_string_equal(e.decision.findings.list[0].rule,
			                    table[i].found);
		dw_explanation_finish(&e);
	}
	dw_policy_unref(policy);
}

static void commands_of_a_script_are_checked_against_the_list(void **state)
{
	static const char lists[] =
		"version: 1\ndefault: allow\n"
		"commands:\n"
		"  allow: [ls, git, rm, echo]\n"
		"  rules: {git: {first: [status, diff, log]}, rm: {never: [-r]}}\n"
		"  write_below: [/tmp]\n"
		"rules:\n"
		"- {name: a, decision: deny,\n"
		"   when: {findings: ['command:*', 'argument:*', 'redirect:*', 'undecided:*']}}\n";
	static const struct {
		struct asked asked;
		const char *found; /* NULL: it is allowed */
	} table[] = {
		{{.command = "ls -l | git log"}, NULL},
		{{.command = "git push"}, "argument:git"},
		{{.command = "rm x"}, NULL},
		{{.command = "rm -fr x"}, "argument:rm"},
		{{.command = "cat x"}, "command:cat"},
		{{.command = "ls | xargs -n1 sh -c 'wc $1'"}, "command:wc"},
		{{.command = "$X"}, "undecided:command"},
		{{.command = "echo 1 > out"}, NULL},
		{{.command = "echo 1 > ../out"}, "redirect:/tmp/../out"},
		{{.command = "echo 1 > out", .workspace = "/src"}, "redirect:/work/out"},
		{{.command = "echo 1 > out", .level = "process"}, "undecided:redirect"},
		{{.language = "bash", .code = "cat x"}, "command:cat"},
		{{.language = "python", .code = "cat = 1"}, NULL},
	};
	struct dw_policy *policy = load(lists);

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct dw_explanation e = {0};
		bool found = false;

		ask(policy, &table[i].asked, &e);
		if ((e.decision.effect == DW_DENY) != (table[i].found != NULL))
			fail_msg("%zu: %s", i, e.decision.matched);
		for (size_t k = 0; table[i].found && k < e.decision.findings.n; k++)
			found = found || strcmp(e.decision.findings.list[k].rule,
			                        table[i].found) == 0;
		if (table[i].found && !found)
			fail_msg("%zu: expected finding %s, but got %s", i,
			         table[i].found, e.decision.matched);
		dw_explanation_finish(&e);
	}
	dw_policy_unref(policy);
}

/* What docs/POLICY.md states of the shipped the_shipped_profiles_decide_as_documented. */
static void the_shipped_profiles_decide_as_documented(void **state)
{
	static const struct {
		const char *profile;
		struct asked asked;
		enum dw_effect effect;
		const char *rule;
		const char *level;
	} table[] = {
		{"open",
	         {.code = os_code, .level = "none", .network = DW_NETWORK_FULL},
	         DW_ALLOW,
	         "default",
	         ""},
		{"standard", {.code = os_code}, DW_ALLOW, "default", ""},
		{"standard",
	         {.code = "print(1)", .level = "process"},
	         DW_ALLOW,
	         "default",
	         ""},
		{"standard",
	         {.code = os_code, .level = "process"},
	         DW_ALLOW,
	         "default",
	         "container"},
		{"standard",
	         {.code = os_code, .level = "none"},
	         DW_ALLOW,
	         "default",
	         "container"},
		{"standard",
	         {.code = "print(1)", .level = "none"},
	         DW_ASK,
	         "no-walls",
	         ""},
		{"standard", {.command = ":(){ :|:& };:"}, DW_DENY, "fork-bomb", ""},
		{"standard",
	         {.code = "print(1)", .network = DW_NETWORK_FULL},
	         DW_ALLOW,
	         "default",
	         ""},
		{"standard",
	         {.code = "import requests; requests.get('x')",
	          .network = DW_NETWORK_FULL},
	         DW_ALLOW,
	         "default",
	         ""},
		{"standard",
	         {.code = os_code, .network = DW_NETWORK_FULL},
	         DW_ASK,
	         "far-reaching",
	         ""},
		{"standard",
	         {.command = "rm -r /srv/x", .writable = "/srv"},
	         DW_ASK,
	         "host-files",
	         ""},
		{"standard",
	         {.command = "echo > /srv/x", .writable = "/srv"},
	         DW_ALLOW,
	         "default",
	         ""},
		{"standard",
	         {.language = "perl", .code = "1", .level = "process"},
	         DW_ALLOW,
	         "default",
	         "container"},
		{"strict",
	         {.code = "import json, math; print(json.dumps(math.pi))"},
	         DW_ALLOW,
	         "default",
	         ""},
		{"strict",
	         {.code = "print(1)", .level = "process,docker"},
	         DW_ALLOW,
	         "default",
	         "docker"},
		{"strict",
	         {.code = "print(1)", .level = "none"},
	         DW_ALLOW,
	         "default",
	         "container"},
		{"strict",
	         {.code = "print(1)", .network = DW_NETWORK_FULL},
	         DW_DENY,
	         "no-network",
	         ""},
		{"strict", {.code = "import os"}, DW_DENY, "module", ""},
		{"strict", {.code = "__import__('o'+'s')"}, DW_DENY, "module", ""},
		{"strict",
	         {.code = "getattr(__builtins__, input())"},
	         DW_DENY,
	         "reach",
	         ""},
		{"strict", {.code = "eval('1')"}, DW_DENY, "reach", ""},
		{"strict", {.code = "open('in.csv').read()"}, DW_ALLOW, "default", ""},
		{"strict", {.language = "perl", .code = "1"}, DW_DENY, "not-seen", ""},
		{"strict", {.code = "def f(:"}, DW_DENY, "not-seen", ""},
		{"strict", {.program = "/bin/true"}, DW_DENY, "not-seen", ""},
		{"strict",
	         {.language = "javascript", .code = "require('fs')"},
	         DW_DENY,
	         "module",
	         ""},
		{"strict",
	         {.language = "ts", .code = "import * as p from 'path'"},
	         DW_ALLOW,
	         "default",
	         ""},
		{"strict",
	         {.language = "ruby", .code = "require 'json'; puts 1.to_json"},
	         DW_ALLOW,
	         "default",
	         ""},
		{"strict",
	         {.command = "ls | sort | head -3 > /tmp/x"},
	         DW_ALLOW,
	         "default",
	         ""},
		{"strict", {.command = "curl http://x"}, DW_DENY, "command", ""},
		{"strict",
	         {.command = "awk 'BEGIN{system(\"id\")}'"},
	         DW_DENY,
	         "command",
	         ""},
		{"strict",
	         {.code = "1", .limits = {.memory_bytes = 2ULL << 30}},
	         DW_DENY,
	         "too-much",
	         ""},
		{"strict", {.code = "1", .writable = "/srv"}, DW_DENY, "no-writing", ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct dw_policy *policy = load(table[i].profile);
		struct dw_explanation e = {0};

		ask(policy, &table[i].asked, &e);
		if (e.decision.effect != table[i].effect ||
		    strcmp(e.decision.rule, table[i].rule) != 0 ||
		    strcmp(e.decision.level, table[i].level) != 0)
			fail_msg("%zu, %s: %s by %s at \"%s\": %s", i, table[i].profile,
			         dw_effect_name(e.decision.effect), e.decision.rule,
			         e.decision.level, e.decision.matched);
		dw_explanation_finish(&e);
		dw_policy_unref(policy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_condition_matches_and_explains),
		cmocka_unit_test(the_first_matching_rule_decides),
		cmocka_unit_test(raising_never_lowers_the_level_and_later_rules_apply),
		cmocka_unit_test(an_unknown_level_is_an_error),
		cmocka_unit_test(code_is_analysed_only_if_a_rule_needs_it),
		cmocka_unit_test(a_decision_is_a_pure_function),
		cmocka_unit_test(allow_lists_also_apply_in_the_cell),
		cmocka_unit_test(the_policys_lists_replace_those_of_the_analysis),
		cmocka_unit_test(commands_of_a_script_are_checked_against_the_list),
		cmocka_unit_test(the_shipped_profiles_decide_as_documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
