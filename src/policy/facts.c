/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be known of a request, and is found out when it is first asked for. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "dewar/dewar.h"
#include "policy/policy_own.h"

/* A command is a line for sh, as it is to the engine; a program has no language. */
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

int dw_facts_init(struct dw_facts *view, const struct dw_policy *policy,
                  const struct dw_policy_question *question, struct dw_error *err)
{
	const struct dw_request *req = question->req;
	const char *known;

	*view = (struct dw_facts){.policy = policy, .question = question};
	view->language = language_of(req);
	view->levels = req->level ? req->level : DW_LEVEL_DEFAULT;
	known = dw_analyse_find(view->language);
	view->is_shell = known && strcmp(known, "bash") == 0;
	return dw_level_check("level", view->levels, err);
}

void dw_facts_finish(struct dw_facts *view)
{
	dw_findings_finish(&view->findings);
	dw_shell_finish(&view->script);
}

static struct dw_bytes code_of(const struct dw_request *req)
{
	if (req->command)
		return (struct dw_bytes){req->command, strlen(req->command)};
	return req->code;
}

int dw_facts_script(struct dw_facts *view, struct dw_error *err)
{
	struct dw_bytes code = code_of(view->question->req);

	if (view->read || !view->is_shell)
		return 0;
	view->read = true;
	if (dw_shell_read(&view->script, code.data ? code.data : "", code.len, err) == 0)
		return 0;
	if (err->code != DW_E_UNSUPPORTED)
		return -1;
	/* Built without grammars: no command is known, and each is in doubt. */
	*err = (struct dw_error){0};
	view->unreadable = true;
	return 0;
}

/* That nobody looked is a finding, too: rules can name it. */
static int not_looked(struct dw_facts *view, const char *rule, enum dw_severity severity,
                      const char *message, struct dw_error *err)
{
	struct dw_finding f = {.severity = severity, .line = 1, .column = 1};
	struct dw_findings one = {&f, 1};

	(void)snprintf(f.rule, sizeof(f.rule), "%s", rule);
	(void)snprintf(f.message, sizeof(f.message), "%s", message);
	if (dw_findings_add(&view->findings, &one) < 0)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "decide");
	return 0;
}

static int analyse_code(struct dw_facts *view, struct dw_error *err)
{
	struct dw_analyse_options options = {.lists = view->policy->lists};
	struct dw_bytes code = code_of(view->question->req);
	const char *language = dw_analyse_find(view->language);
	char text[DW_MESSAGE_MAX];

	if (!language) {
		(void)snprintf(text, sizeof(text), "code in %.32s is not looked at",
		               view->language);
		return not_looked(view, "analysis:unsupported", DW_SEVERITY_NOTE, text,
		                  err);
	}
	if (dw_analyse(language, code.data ? code.data : "", code.len, &options,
	               &view->findings, err) == 0)
		return 0;
	if (err->code != DW_E_UNSUPPORTED)
		return -1;
	*err = (struct dw_error){0};
	view->blind = true;
	return not_looked(view, "analysis:unavailable", DW_SEVERITY_WARNING,
	                  "this dewar was built without grammars, and looks at no code",
	                  err);
}

/* Where relative paths of a script lead to, where we know. */
static const char *folder_of(const struct dw_facts *view)
{
	const int container = dw_policy_level("container", strlen("container"));

	for (const char *p = view->levels;; p++) {
		size_t len = strcspn(p, ",");

		if (dw_policy_level(p, len) < container)
			return NULL;
		p += len;
		if (*p == '\0')
			break;
	}
	return view->question->req->workspace ? "/work" : "/tmp";
}

static int check_commands(struct dw_facts *view, struct dw_error *err)
{
	struct dw_shell_allow allow = view->policy->allow;
	struct dw_findings found = {0};
	int r;

	if (!view->is_shell || !view->policy->has_commands)
		return 0;
	if (dw_facts_script(view, err) < 0)
		return -1;
	if (view->unreadable)
		return not_looked(view, "undecided:command", DW_SEVERITY_ERROR,
		                  "which commands it runs cannot be told here", err);
	allow.folder = folder_of(view);
	r = dw_shell_check(&view->script, &allow, &found, err);
	if (r == 0 && dw_findings_add(&view->findings, &found) < 0)
		r = dw_fail(err, DW_E_INTERNAL, ENOMEM, "decide");
	dw_findings_finish(&found);
	return r;
}

int dw_facts_analyse(struct dw_facts *view, struct dw_error *err)
{
	if (view->analysed)
		return 0;
	view->analysed = true;
	if (analyse_code(view, err) < 0)
		return -1;
	return check_commands(view, err);
}
