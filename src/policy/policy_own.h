/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DW_POLICY_POLICY_OWN_H
#define DW_POLICY_POLICY_OWN_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "analysis/shell.h"
#include "dewar/result.h"
#include "policy/decide.h"

/*
 * Private to src/policy: the parts of a policy, and the facts that its rules ask for.
 */

#define DW_POLICY_RULES_MAX 256U
#define DW_POLICY_LIST_MAX 256U    /* words in one list */
#define DW_POLICY_COMMANDS_MAX 48U /* a cell shows these and the carriers */

enum dw_says {
	DW_SAYS_NOTHING = 0,
	DW_SAYS_ALLOW,
	DW_SAYS_DENY,
	DW_SAYS_ASK,
	DW_SAYS_RAISE,
	DW_SAYS_COUNT
};

extern const char *const dw_says_names[];

/* A condition that a value is true or false, or no condition. */
enum dw_maybe {
	DW_MAYBE_UNSAID = 0,
	DW_MAYBE_NO,
	DW_MAYBE_YES,
};

/* Lists end in NULL; a NULL pointer is no condition. */
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
	const char *file; /* of the policy that has this rule */
};

#define DW_POLICY_LANGUAGES 6 /* those of dw_analyse_language() */

/* Rules for the arguments of a command, as read. */
struct dw_policy_command {
	char *name;
	char **first;
	char **never;
	char **without;
};

/* The contents of one file. */
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
	struct dw_policy *base; /* the profile, whose rules follow; or NULL */
	struct dw_policy_settings own;

	/* The settings of the file, completed by those of the profile. */
	const struct dw_policy_rule **rules;
	size_t n_rules;
	enum dw_says otherwise;
	const char *otherwise_file;
	unsigned otherwise_line;
	struct dw_analyse_list lists[DW_POLICY_LANGUAGES + 1];
	bool has_commands;
	struct dw_shell_rule *shell_rules; /* NULL: those of base apply */
	const char **shown; /* the programs that a cell shows: commands and carriers */
	struct dw_shell_allow allow;
	struct dw_policy_approvals approvals;
	struct dw_policy_hook hook;
	bool has_hook;
};

/* Read a file into policy->own and check it. */
int dw_policy_read(struct dw_policy *policy, const char *text, size_t len,
                   struct dw_error *err);
void dw_policy_settings_finish(struct dw_policy_settings *own);

/* Parse "> 1024". */
int dw_compare_parse(const char *text, char ret_op[3], uint64_t *ret_value,
                     struct dw_error *err);

/* The rank of a level, weakest first; -1 if there is no such level. */
int dw_policy_level(const char *name, size_t len);

/*
 * A question, and the facts computed so far. Findings and script are computed when a rule
 * first needs them.
 */
struct dw_facts {
	const struct dw_policy *policy;
	const struct dw_policy_question *question;
	const char *language; /* its name; "" if the request has no language */
	const char *levels;   /* as raised so far: "microvm,container" */
	struct dw_findings findings;
	bool analysed;
	bool blind;             /* code cannot be analysed: no grammars */
	struct dw_shell script; /* the commands of a shell script */
	bool is_shell;
	bool read;
	bool unreadable; /* the script cannot be parsed: no grammar */
};

/* err must not be NULL. */
int dw_facts_init(struct dw_facts *facts, const struct dw_policy *policy,
                  const struct dw_policy_question *question, struct dw_error *err);
void dw_facts_finish(struct dw_facts *facts);
int dw_facts_analyse(struct dw_facts *facts, struct dw_error *err);
int dw_facts_script(struct dw_facts *facts, struct dw_error *err);

/* Match a rule: 1, 0, or -1 if out of memory. text explains the answer. */
int dw_rule_fits(const struct dw_policy_rule *rule, struct dw_facts *facts,
                 char text[DW_DECISION_TEXT_MAX], struct dw_error *err);

/* Returns true if the name means a file and not a profile. */
bool dw_policy_is_file(const char *name);

/* The policy that is used if no name is given. */
const char *dw_policy_default(void);

/* ---- policy_values.c ---- */

/*
 * For the tables of policy_read.c: functions that check a single value of a policy file,
 * and functions that also convert it.
 */
int dw_policy_check_line(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_name(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_level(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_language(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_finding(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_folder(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_url(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_compare(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_profile(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_command(const void *base, const char *text, struct dw_error *err);
int dw_policy_check_module(const void *base, const char *text, struct dw_error *err);

int dw_policy_take_decision(void *base, const char *const *words, size_t n,
                            struct dw_error *err);
int dw_policy_take_default(void *base, const char *const *words, size_t n,
                           struct dw_error *err);
int dw_policy_take_workspace(void *base, const char *const *words, size_t n,
                             struct dw_error *err);
int dw_policy_take_writable(void *base, const char *const *words, size_t n,
                            struct dw_error *err);

#endif
