/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/advice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

json_t *dw_advice_json(const struct dw_findings *findings)
{
	json_auto_t *array = json_array();

	for (size_t i = 0; i < findings->n; i++) {
		const struct dw_finding *f = &findings->list[i];
		json_t *item = json_pack("{s:s, s:i, s:i, s:s, s:s}", "rule", f->rule,
		                         "line", (int)f->line, "column", (int)f->column,
		                         "severity", dw_severity_name(f->severity),
		                         "message", f->message);

		if (json_array_append_new(array, item) < 0)
			return NULL;
	}
	return json_incref(array);
}

/* SARIF lists every rule once, before the results. */
static json_t *rules_of(const struct dw_findings *findings)
{
	json_t *rules = json_array();

	for (size_t i = 0; i < findings->n; i++) {
		bool seen = false;

		for (size_t k = 0; k < i && !seen; k++)
			seen = strcmp(findings->list[k].rule, findings->list[i].rule) ==
			       0;
		if (!seen)
			(void)json_array_append_new(rules,
			                            json_pack("{s:s}", "id",
			                                      findings->list[i].rule));
	}
	return rules;
}

json_t *dw_advice_sarif(const struct dw_findings *findings, const char *file)
{
	json_auto_t *results = json_array();

	for (size_t i = 0; i < findings->n; i++) {
		const struct dw_finding *f = &findings->list[i];
		json_t *result =
			json_pack("{s:s, s:s, s:{s:s}, s:[{s:{s:{s:s}, s:{s:i, s:i}}}]}",
		                  "ruleId", f->rule, "level",
		                  dw_severity_name(f->severity), "message", "text",
		                  f->message, "locations", "physicalLocation",
		                  "artifactLocation", "uri", file, "region", "startLine",
		                  (int)f->line, "startColumn", (int)f->column);

		if (json_array_append_new(results, result) < 0)
			return NULL;
	}
	return json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:s, s:o}}, s:s, s:O}]}", "$schema",
	                 "https://json.schemastore.org/sarif-2.1.0.json", "version",
	                 "2.1.0", "runs", "tool", "driver", "name", "dewar", "version",
	                 DW_VERSION, "rules", rules_of(findings), "columnKind",
	                 "unicodeCodePoints", "results", results);
}

int dw_advice_commands(const char *code, size_t len, const char *const *names,
                       const char *const *write_below, struct dw_findings *findings,
                       struct dw_error *err)
{
	struct dw_shell_allow allow = {.rules = dw_shell_rules,
	                               .write_below = write_below};
	autofree struct dw_shell_rule *rules = NULL;
	struct dw_findings found = {0};
	struct dw_shell shell = {0};
	size_t n = 0;
	int r;

	while (names && names[n])
		n++;
	rules = calloc(n + 1, sizeof(*rules));
	if (!rules)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot check the commands");
	for (size_t i = 0; i < n; i++) {
		const struct dw_shell_rule *known = dw_shell_rules;

		while (known->name && strcmp(known->name, names[i]) != 0)
			known++;
		/* A command of the default list keeps its rules for arguments. */
		rules[i] = known->name ? *known
		                       : (struct dw_shell_rule){.name = names[i]};
	}
	if (names)
		allow.rules = rules;
	if (dw_shell_read(&shell, code, len, err) < 0)
		return -1;
	r = dw_shell_check(&shell, &allow, &found, err);
	dw_shell_finish(&shell);
	if (r == 0 && dw_findings_add(findings, &found) < 0)
		r = dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot check the commands");
	dw_findings_finish(&found);
	return r;
}
