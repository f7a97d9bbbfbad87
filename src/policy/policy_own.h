/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_POLICY_POLICY_OWN_H
#define DW_POLICY_POLICY_OWN_H

#include <stdatomic.h>
#include <stdint.h>

#include "analysis/shell.h"
#include "dewar/result.h"
#include "policy/decide.h"

/*
 * What a policy is made of: for load.c, which reads it, and for those that walk it.
 */

#define DW_POLICY_RULES_MAX 256U
#define DW_POLICY_LIST_MAX 256U    /* words in one list */
#define DW_POLICY_COMMANDS_MAX 48U /* with carriers, what a cell can be shown */

enum dw_says {
	DW_SAYS_NOTHING = 0,
	DW_SAYS_ALLOW,
	DW_SAYS_DENY,
	DW_SAYS_ASK,
	DW_SAYS_RAISE,
	DW_SAYS_COUNT
};

extern const char *const dw_says_names[];

/* A condition that is not there is not asked about. */
enum dw_maybe {
	DW_MAYBE_UNSAID = 0,
	DW_MAYBE_NO,
	DW_MAYBE_YES,
};

/* Lists end in NULL; a NULL pointer is not asked about. */
struct dw_when {
	char **caller;
	char **door;
	char **language;
	char **level;
	char **network;
	char **image;
	char **findings;
	char **commands;
	char *severity; /* "note", "warning", "error" */
	enum dw_maybe workspace;
	enum dw_maybe writable;
	char *limits[DW_LIMIT_COUNT]; /* "> 1024" */
};

struct dw_policy_rule {
	char *name;
	enum dw_says says;
	char *to; /* the level to raise to */
	char *reason;
	struct dw_when when;
	unsigned line;
	const char *file; /* the policy's */
};

#define DW_POLICY_LANGUAGES 6 /* those of dw_analyse_language() */

/* Rules on a command's arguments, as they were read. */
struct dw_policy_command {
	char *name;
	char **first;
	char **never;
	char **without;
};

/* What was read of one file. */
struct dw_policy_settings {
	uint64_t version;
	char *profile;
	enum dw_says otherwise; /* default: */
	unsigned otherwise_line;
	struct dw_policy_rule *rules;
	size_t n_rules;
	struct {
		char **forbid;
		char **allow;
	} modules[DW_POLICY_LANGUAGES];
	char **builtins[DW_POLICY_LANGUAGES];
	struct {
		unsigned line; /* 0: there is no such section */
		char **allow;
		char **write_below;
		struct dw_policy_command *rules;
		size_t n_rules;
	} commands;
	struct {
		unsigned line;
		unsigned expire_s;
		bool self;
		char *webhook;
	} approvals;
	struct {
		unsigned line;
		char **program;
		char *url;
		unsigned timeout_s;
		char **languages;
	} check;
};

struct dw_policy {
	atomic_size_t refs;
	char *file;
	struct dw_policy *base; /* the profile whose rules come after ours, or NULL */
	struct dw_policy_settings own;

	/* Made of these: ours, and the profile's where we say nothing. */
	const struct dw_policy_rule **rules;
	size_t n_rules;
	enum dw_says otherwise;
	const char *otherwise_file;
	unsigned otherwise_line;
	struct dw_analyse_list lists[DW_POLICY_LANGUAGES + 1];
	bool has_commands;
	struct dw_shell_rule *shell_rules; /* ours; base's if we have no commands */
	const char **shown; /* what a cell is to show: commands, carriers */
	struct dw_shell_allow allow;
	struct dw_policy_approvals approvals;
	struct dw_policy_hook hook;
	bool has_hook;
};

/* Read and check the sections; what they come to is in *own. load.c calls it. */
int dw_policy_read(struct dw_policy *policy, const char *text, size_t len,
                   struct dw_error *err);
void dw_policy_settings_finish(struct dw_policy_settings *own);

/* "> 1024", taken apart. */
int dw_compare_parse(const char *text, char ret_op[3], uint64_t *ret_value,
                     struct dw_error *err);

/* Its place among the levels, weakest first; -1 if there is none of that name. */
int dw_policy_level(const char *name, size_t len);

/*
 * A question, and what was found out about it so far.
 */
struct dw_facts {
	const struct dw_policy *policy;
	const struct dw_policy_question *question;
	const char *language; /* its name; "" if nobody knows */
	const char *levels;   /* as they stand now: "microvm,container" */
	struct dw_findings findings;
	bool analysed;
	bool blind;             /* there is no grammar for code that could be looked at */
	struct dw_shell script; /* the commands of a shell script */
	bool is_shell;
	bool read;
	bool unreadable; /* the script: there is no grammar for it */
};

/* From here on err is never NULL. */
int dw_facts_init(struct dw_facts *view, const struct dw_policy *policy,
                  const struct dw_policy_question *question, struct dw_error *err);
void dw_facts_finish(struct dw_facts *view);
int dw_facts_analyse(struct dw_facts *view, struct dw_error *err);
int dw_facts_script(struct dw_facts *view, struct dw_error *err);

/* Does the rule fit? 1, 0, or -1 without memory; and why, or why not, in words. */
int dw_rule_fits(const struct dw_policy_rule *rule, struct dw_facts *view,
                 char text[DW_DECISION_TEXT_MAX], struct dw_error *err);

#endif
