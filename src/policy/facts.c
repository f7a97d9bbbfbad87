/* SPDX-License-Identifier: Apache-2.0 */
/* The facts about a request that rules need, each computed on first use. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "dewar/dewar.h"
#include "policy/policy_own.h"

/* A command is a script for sh; a program has no language. */
static const char *language_of(const struct dw_request *req)
{
	const char *name = NULL;

	if (req->program)
		return "binary";
	if (req->command)
		return "sh";
	if (req->language)
		name = dw_language_name(req->language);
	return name ? name : req->language ? req->language : "";
}

int dw_facts_init(struct dw_facts *facts, const struct dw_policy *policy,
                  const struct dw_policy_question *question, struct dw_error *err)
{
	const struct dw_request *req = question->req;
	const char *known;

	*facts = (struct dw_facts){.policy = policy, .question = question};
	facts->language = language_of(req);
	facts->levels = req->level ? req->level : DW_LEVEL_DEFAULT;
	known = dw_analyse_find(facts->language);
	facts->is_shell = known && strcmp(known, "bash") == 0;
	return dw_level_check("level", facts->levels, err);
}

void dw_facts_finish(struct dw_facts *facts)
{
	dw_findings_finish(&facts->findings);
	dw_shell_finish(&facts->script);
}

static struct dw_bytes code_of(const struct dw_request *req)
{
	if (req->command)
		return (struct dw_bytes){req->command, strlen(req->command)};
	return req->code;
}

int dw_facts_script(struct dw_facts *facts, struct dw_error *err)
{
	struct dw_bytes code = code_of(facts->question->req);

	if (facts->read || !facts->is_shell)
		return 0;
	facts->read = true;
	if (dw_shell_read(&facts->script, code.data ? code.data : "", code.len, err) == 0)
		return 0;
	if (err->code != DW_E_UNSUPPORTED)
		return -1;
	/* Built without grammars: every command is in doubt. */
	*err = (struct dw_error){0};
	facts->unreadable = true;
	return 0;
}

/* Missing analysis is a finding too, so that rules can name it. */
static int add_finding(struct dw_facts *facts, const char *rule,
                       enum dw_severity severity, const char *message,
                       struct dw_error *err)
{
	struct dw_finding f = {.severity = severity, .line = 1, .column = 1};
	struct dw_findings one = {&f, 1};

	(void)snprintf(f.rule, sizeof(f.rule), "%s", rule);
	(void)snprintf(f.message, sizeof(f.message), "%s", message);
	if (dw_findings_add(&facts->findings, &one) < 0)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot decide");
	return 0;
}

static int analyse_code(struct dw_facts *facts, struct dw_error *err)
{
	struct dw_analyse_options options = {.lists = facts->policy->lists};
	struct dw_bytes code = code_of(facts->question->req);
	const char *language = dw_analyse_find(facts->language);
	char text[DW_MESSAGE_MAX];

	if (!language) {
		(void)snprintf(text, sizeof(text), "code in %.32s is not analysed",
		               facts->language);
		return add_finding(facts, "analysis:unsupported", DW_SEVERITY_NOTE, text,
		                   err);
	}
	if (dw_analyse(language, code.data ? code.data : "", code.len, &options,
	               &facts->findings, err) == 0)
		return 0;
	if (err->code != DW_E_UNSUPPORTED)
		return -1;
	*err = (struct dw_error){0};
	facts->blind = true;
	return add_finding(facts, "analysis:unavailable", DW_SEVERITY_WARNING,
	                   "dewar was built without grammars and cannot analyse code",
	                   err);
}

/* The working folder of a script, or NULL if unknown. */
static const char *folder_of(const struct dw_facts *facts)
{
	if (!(dw_level_guarantees(facts->levels) & DW_G_ROOT))
		return NULL;
	return facts->question->req->workspace ? "/work" : "/tmp";
}

static int check_commands(struct dw_facts *facts, struct dw_error *err)
{
	struct dw_shell_allow allow = facts->policy->allow;
	struct dw_findings found = {0};
	int r;

	if (!facts->is_shell || !facts->policy->has_commands)
		return 0;
	if (dw_facts_script(facts, err) < 0)
		return -1;
	if (facts->unreadable)
		return add_finding(facts, "undecided:command", DW_SEVERITY_ERROR,
		                   "the commands it runs cannot be determined", err);
	allow.folder = folder_of(facts);
	r = dw_shell_check(&facts->script, &allow, &found, err);
	if (r == 0 && dw_findings_add(&facts->findings, &found) < 0)
		r = dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot decide");
	dw_findings_finish(&found);
	return r;
}

int dw_facts_analyse(struct dw_facts *facts, struct dw_error *err)
{
	if (facts->analysed)
		return 0;
	facts->analysed = true;
	if (analyse_code(facts, err) < 0)
		return -1;
	return check_commands(facts, err);
}
