/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/account.h"
#include "base/cleanup.h"
#include "base/values.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/run_options.h"
#include "cli/subcommand.h"
#include "dewar/dewar.h"
#include "policy/policy.h"
#include "run/permission.h"

#define EXIT_REFUSED 1

struct settings {
	struct dw_run_settings job; /* must be first: shared options point into it */
	const char *code;
	const char *request;
	const char *caller;
	const char *door;
};

#define FIELD(name) offsetof(struct settings, name)

static const struct dw_option asked_options[] = {
	DW_OPTION("policy", "NAME|FILE", dw_take_text, FIELD(job.policy),
                  "The policy (default /etc/dewar/policy.yaml, else open)",
                  .fits = DW_FITS_FILE, .env = {"DEWAR_POLICY"}),
	DW_OPTION("code", "CODE", dw_take_text, FIELD(code),
                  "Explain this code instead of a file", .letter = 'c'),
	DW_OPTION("request", "FILE|-", dw_take_text, FIELD(request),
                  "Read the whole request as JSON from this file", .fits = DW_FITS_FILE),
	DW_OPTION("caller", "WHO", dw_take_text, FIELD(caller),
                  "Decide for this caller, such as \"key:1f2e3d4c (ci)\" (default: you)"),
	DW_OPTION("door", "cli|http|mcp", dw_take_text, FIELD(door),
                  "Decide for a request over cli, http or mcp (default cli)",
                  .fits = DW_FITS_WORDS, .words = dw_policy_door_words),
	DW_OPTION_FLAG("json", FIELD(job.json), "Print JSON"),
	{0},
};

static const struct dw_option_group asked_group = {"Question", asked_options};

static int do_check(const void *settings, const char *operand, struct dw_error *err)
{
	const struct settings *set = settings;
	struct dw_policy *policy = NULL;
	int r;

	if (dw_policy_load(operand ? operand : set->job.policy, &policy, err) < 0)
		return -1;
	if (set->job.json) {
		r = dw_report_json(json_pack("{s:s, s:i}", "file", dw_policy_file(policy),
		                             "rules", (int)dw_policy_n_rules(policy)));
	} else {
		(void)printf("%s is valid (rules: %zu)\n", dw_policy_file(policy),
		             dw_policy_n_rules(policy));
		r = dw_report_flush();
	}
	dw_policy_unref(policy);
	return r;
}

static int do_show(const void *settings, const char *operand, struct dw_error *err)
{
	const char *names[8] = {0}, *text;
	size_t len;
	int chosen;

	(void)settings;
	for (size_t i = 0; i < ARRAY_SIZE(names) - 1; i++)
		names[i] = dw_policy_profile(i, NULL, NULL);
	chosen = dw_choose("the profile", operand, names, err);
	if (chosen < 0)
		return -1;
	(void)dw_policy_profile((size_t)chosen, &text, &len);
	(void)fwrite(text, 1, len, stdout);
	return dw_report_flush();
}

/* ---- explain ---- */

/* Print the decision, the rules that were tried, and the findings. */
static int print_text(const struct dw_explanation *explanation)
{
	const struct dw_decision *d = &explanation->decision;

	(void)printf("%s by rule %s (%s:%u): %s\n", dw_effect_name(d->effect), d->rule,
	             d->file, d->line, d->matched);
	if (d->reason)
		(void)printf("  %s\n", d->reason);
	if (d->raised_by)
		(void)printf("level %s by rule %s (line %u)\n", d->level, d->raised_by,
		             d->raise_line);
	if (explanation->n_tried > 0)
		(void)printf("\nrules tried, in order:\n");
	for (size_t i = 0; i < explanation->n_tried; i++) {
		const struct dw_tried *t = &explanation->tried[i];

		(void)printf("  %-5s %-5s %s (%s:%u): %s\n", t->fits ? "fits" : "-",
		             t->says, t->rule, t->file, t->line, t->text);
	}
	if (d->findings.n > 0)
		(void)printf("\nfindings:\n");
	for (size_t i = 0; i < d->findings.n; i++) {
		const struct dw_finding *f = &d->findings.list[i];

		(void)printf("  %u:%u: %s: %s [%s]\n", f->line, f->column,
		             dw_severity_name(f->severity), f->message, f->rule);
	}
	return dw_report_flush();
}

static int fill_code(struct dw_run_options *job, const struct settings *set,
                     const struct dw_parsed *parsed, struct dw_error *err)
{
	size_t wanted = set->code ? 2 : 3, len;

	if (parsed->n_operands != wanted)
		return dw_fail(err, DW_E_INVALID, 0,
		               "give LANG FILE, LANG -c CODE or --request FILE; see `dewar "
		               "policy --help`");
	if (dw_language_check(parsed->operands[1], err) < 0)
		return -1;
	if (dw_run_options_fill(job, &set->job, err) < 0)
		return -1;
	job->req.language = parsed->operands[1];
	if (set->code) {
		job->req.code = (struct dw_bytes){set->code, strlen(set->code)};
		return 0;
	}
	if (dw_input_read(parsed->operands[2], DW_INPUT_CODE_MAX, &job->code, &len, err) <
	    0)
		return -1;
	job->req.code = (struct dw_bytes){job->code, len};
	return 0;
}

static int fill(const struct dw_command *cmd, struct dw_run_options *job,
                const struct settings *set, const struct dw_parsed *parsed,
                struct dw_error *err)
{
	const struct dw_option *other;

	if (!set->request)
		return fill_code(job, set, parsed, err);
	other = dw_options_besides(cmd, parsed, &asked_group, "request");
	if (parsed->n_operands > 1)
		return dw_fail(err, DW_E_INVALID, 0,
		               "unexpected argument \"%s\" beside --request; see `dewar "
		               "policy --help`",
		               parsed->operands[1]);
	if (other || set->code)
		return dw_fail(err, DW_E_INVALID, 0,
		               "--%s cannot be combined with --request; put it into the "
		               "request",
		               other ? other->name : "code");
	return dw_run_options_load(job, set->request, &set->job, err);
}

static int explain(const struct dw_command *cmd, const struct settings *set,
                   const struct dw_parsed *parsed, struct dw_error *err)
{
	struct dw_explanation explanation = {0};
	struct dw_policy_question question = {.who = set->caller,
	                                      .door = set->door ? set->door : "cli"};
	struct dw_policy *policy = NULL;
	struct dw_run_options job;
	char who[96];
	int r;

	dw_run_options_init(&job);
	dw_account_who(getuid(), who, sizeof(who));
	if (!question.who)
		question.who = who;
	question.req = &job.req;
	r = fill(cmd, &job, set, parsed, err);
	if (r == 0)
		r = dw_policy_load(set->job.policy, &policy, err);
	if (r == 0)
		r = dw_permission_explain(policy, &question, &explanation, err);
	if (r == 0) {
		r = set->job.json ? dw_report_json(dw_explanation_json(&explanation))
		                  : print_text(&explanation);
		if (r == 0 && explanation.decision.effect != DW_ALLOW)
			r = EXIT_REFUSED;
	}
	dw_explanation_finish(&explanation);
	dw_policy_unref(policy);
	dw_run_options_finish(&job);
	return r;
}

static const struct dw_subcommand subcommands[] = {
	{"check", "[FILE]", " json ", do_check},
	{"explain", NULL, "", NULL}, /* explain() parses the operands itself */
	{"show", "PROFILE", "", do_show},
	{0},
};

static int policy(const struct dw_command *cmd, int argc, char **argv)
{
	struct settings set = {0};
	struct dw_parsed parsed = {0};
	struct dw_error err = {0};
	int r;

	r = dw_options_parse(cmd, argc, argv, &set, &parsed, &err);
	if (r > 0)
		r = dw_report_flush();
	else if (r == 0 && parsed.n_operands > 0 &&
	         strcmp(parsed.operands[0], "explain") == 0)
		r = explain(cmd, &set, &parsed, &err);
	else if (r == 0)
		r = dw_command_act(cmd, &parsed, &set, &err);
	dw_parsed_finish(&parsed);
	dw_run_settings_finish(&set.job);
	return r < 0 ? dw_report_error(&err, dw_options_want_json(argc, argv)) : r;
}

const struct dw_command dw_command_policy = {
	.name = "policy",
	.summary = "Check a policy, explain its decision on a request, or show a profile",
	.usage =
		{
			"check [FILE]",
			"explain [OPTIONS] LANG FILE|-",
			"explain [OPTIONS] LANG -c CODE",
			"explain [--policy NAME|FILE] --request FILE|-",
			"show open|standard|strict",
		},
	.example =
		{
			"dewar policy check /etc/dewar/policy.yaml",
			"dewar policy explain --policy strict python -c 'import os'",
			"dewar policy explain --policy standard --network full sh setup.sh",
			"dewar policy show standard > policy.yaml",
		},
	.groups =
		{
			&asked_group,
			&dw_run_options_walls_group,
			&dw_run_options_modules_group,
			&dw_run_options_limits_group,
			&dw_run_options_files_group,
		},
	.run = policy,
	.subcommands = subcommands,
};
