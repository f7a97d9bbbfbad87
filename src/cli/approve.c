/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "approvals/approvals.h"
#include "base/account.h"
#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/show.h"
#include "cli/subcommand.h"

struct settings {
	const char *state;
	enum dw_remember remember;
	const char *note;
	bool all;
	bool remembered;
	bool json;
};

static int take_remember(const char *value, void *field, struct dw_error *err)
{
	return dw_remember_parse(value, field, err);
}

#define FIELD(member) offsetof(struct settings, member)

static const struct dw_option where_options[] = {
	DW_OPTION("state", "DIR|FILE", dw_take_text, FIELD(state),
                  "State folder (root: /var/lib/dewar; else ~/.local/state/dewar)",
                  .fits = DW_FITS_FILE, .env = {"DEWAR_APPROVALS"}),
	{0},
};

static const struct dw_option decide_options[] = {
	DW_OPTION("remember", "WHAT", take_remember, FIELD(remember),
                  "yes: also permit later requests: code, session or rule",
                  .fits = DW_FITS_WORDS, .words = dw_remember_words),
	DW_OPTION("note", "TEXT", dw_take_text, FIELD(note),
                  "yes, no: a reason, which the caller sees"),
	{0},
};

static const struct dw_option output_options[] = {
	DW_OPTION_FLAG("all", FIELD(all), "list: include decided and expired approvals"),
	DW_OPTION_FLAG("remembered", FIELD(remembered),
                       "list: print remembered decisions instead"),
	DW_OPTION_FLAG("json", FIELD(json), "Print JSON"),
	{0},
};

static const struct dw_option_group where_group = {"Where", where_options};
static const struct dw_option_group decide_group = {"Deciding", decide_options};
static const struct dw_option_group output_group = {"Output", output_options};

static void cleanup_approvals(struct dw_approvals **a)
{
	dw_approvals_close(*a);
}
#define autoapprovals __attribute__((cleanup(cleanup_approvals)))

static void cleanup_approval(struct dw_approval *approval)
{
	dw_approval_finish(approval);
}
#define autoapproval __attribute__((cleanup(cleanup_approval)))

/*
 * Open the approvals. Fails with DW_E_NOT_FOUND if no run has needed one yet: then the
 * file does not exist.
 */
static int open_it(const struct settings *set, struct dw_approvals **ret,
                   struct dw_error *err)
{
	char path[DW_APPROVALS_PATH_MAX];

	if (dw_approvals_path(set->state, path, err) < 0)
		return -1;
	return dw_approvals_open_existing(path, NULL, ret, err);
}

/* ---- list ---- */

static int list_one(void *listing, const struct dw_approval *approval)
{
	bool json = ((struct dw_listing *)listing)->array != NULL;

	if (!json)
		dw_approve_print_row(approval);
	return dw_listing_add(listing, json ? dw_approval_to_json(approval) : NULL);
}

static int list_memory(void *listing, const struct dw_memory *memory)
{
	bool json = ((struct dw_listing *)listing)->array != NULL;

	if (!json)
		dw_approve_print_memory(memory);
	return dw_listing_add(listing, json ? dw_memory_to_json(memory) : NULL);
}

static int do_list(const void *settings, const char *operand, struct dw_error *err)
{
	const struct settings *set = settings;
	autolisting struct dw_listing listing = dw_listing_start(set->json);
	autoapprovals struct dw_approvals *a = NULL;
	int r = set->all && set->remembered
	                ? dw_fail(err, DW_E_INVALID, 0,
	                          "--all and --remembered cannot be combined")
	                : open_it(set, &a, err);

	(void)operand;
	if (r == 0)
		r = set->remembered
		            ? dw_approvals_memories(a, list_memory, &listing, err)
		            : dw_approvals_each(a, set->all, list_one, &listing, err);
	else if (err->code == DW_E_NOT_FOUND)
		r = 0;
	if (r < 0)
		return -1;
	if (!set->json && listing.n == 0)
		dw_report_line("%s", set->remembered ? "there are no remembered decisions"
		                     : set->all      ? "there are no approvals"
		                                     : "no run is waiting for approval");
	return dw_listing_report(&listing);
}

/* ---- show ---- */

static int do_show(const void *settings, const char *operand, struct dw_error *err)
{
	const struct settings *set = settings;
	autoapproval struct dw_approval approval = {0};
	autoapprovals struct dw_approvals *a = NULL;

	if (open_it(set, &a, err) < 0 || dw_approvals_get(a, operand, &approval, err) < 0)
		return -1;
	if (set->json)
		return dw_report_json(dw_approval_to_json(&approval));
	dw_approve_print(&approval);
	return dw_report_flush();
}

/* ---- yes and no ---- */

static int decide(const struct settings *set, const char *id, bool yes,
                  struct dw_error *err)
{
	struct dw_ruling decision = {.yes = yes,
	                             .note = set->note,
	                             .remember = set->remember};
	autoapproval struct dw_approval approval = {0};
	autoapprovals struct dw_approvals *a = NULL;
	char who[512], line[DW_APPROVAL_LINE_MAX];
	int r;

	dw_account_who(getuid(), who, sizeof(who));
	decision.who = who;
	if (open_it(set, &a, err) < 0)
		return -1;
	r = dw_approvals_decide(a, id, &decision, &approval, err);
	if (r < 0)
		return -1;
	dw_approval_line(&approval, line);
	if (r > 0)
		return dw_fail(err, DW_E_DENIED, 0,
		               "approval %.12s is no longer pending: %.400s", approval.id,
		               line);
	if (set->json)
		return dw_report_json(dw_approval_to_json(&approval));
	dw_report_clean(line, "");
	(void)printf("%.12s %s%s%s\n", approval.id, line,
	             set->remember != DW_REMEMBER_NO ? "; remembered for this " : "",
	             set->remember != DW_REMEMBER_NO ? dw_remember_name(set->remember)
	                                             : "");
	return dw_report_flush();
}

static int do_yes(const void *settings, const char *operand, struct dw_error *err)
{
	return decide(settings, operand, true, err);
}

static int do_no(const void *settings, const char *operand, struct dw_error *err)
{
	return decide(settings, operand, false, err);
}

/* ---- forget ---- */

static int do_forget(const void *settings, const char *operand, struct dw_error *err)
{
	const struct settings *set = settings;
	autoapprovals struct dw_approvals *a = NULL;

	if (open_it(set, &a, err) < 0 || dw_approvals_forget(a, operand, err) < 0)
		return -1;
	if (set->json)
		return dw_report_json(json_pack("{s:s}", "forgotten", operand));
	(void)printf("forgot %s\n", operand);
	return dw_report_flush();
}

static const struct dw_subcommand subcommands[] = {
	{"list", NULL, " state all remembered json ", do_list},
	{"show", "ID", " state json ", do_show},
	{"yes", "ID", " state remember note json ", do_yes},
	{"no", "ID", " state note json ", do_no},
	{"forget", "ID", " state json ", do_forget},
	{0},
};

const struct dw_command dw_command_approve = {
	.name = "approve",
	.summary = "List and decide runs that wait for approval",
	.usage =
		{
			"list [--all | --remembered]",
			"show ID",
			"yes ID [--remember code|session|rule] [--note TEXT]",
			"no ID [--note TEXT]",
			"forget ID",
		},
	.example =
		{
			"dewar approve list",
			"dewar approve show 4f2a",
			"dewar approve yes 4f2a",
			"dewar approve yes 4f2a --remember code",
			"dewar approve no 4f2a --note 'use the mirror instead'",
		},
	.groups = {&where_group, &decide_group, &output_group},
	.subcommands = subcommands,
	.settings_size = sizeof(struct settings),
};
