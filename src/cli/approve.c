/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "approvals/approvals.h"
#include "base/account.h"
#include "base/cleanup.h"
#include "cli/approve_print.h"
#include "cli/command.h"
#include "cli/report.h"
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
	{
		.name = "state",
		.arg = "DIR|FILE",
		.help = "The daemon's folder (/var/lib/dewar; not as root ~/.local/state/dewar)",
		.take = dw_take_text,
		.field = FIELD(state),
		.fits = DW_FITS_FILE,
		.env = {"DEWAR_APPROVALS"},
	},
	{0},
};

static const struct dw_option decide_options[] = {
	{
		.name = "remember",
		.arg = "WHAT",
		.help = "yes: also later, for this caller: code, session, rule",
		.take = take_remember,
		.field = FIELD(remember),
		.fits = DW_FITS_WORDS,
		.words = "code session rule",
	},
	{
		.name = "note",
		.arg = "TEXT",
		.help = "yes, no: why; the caller reads it",
		.take = dw_take_text,
		.field = FIELD(note),
	},
	{0},
};

static const struct dw_option output_options[] = {
	{
		.name = "all",
		.help = "list: what is decided or expired, too",
		.take = dw_take_flag,
		.field = FIELD(all),
	},
	{
		.name = "remembered",
		.help = "list: what is remembered instead",
		.take = dw_take_flag,
		.field = FIELD(remembered),
	},
	{
		.name = "json",
		.help = "Print JSON",
		.take = dw_take_flag,
		.field = FIELD(json),
	},
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

/* Where nobody asked yet there is no file: DW_E_NOT_FOUND. */
static int open_it(const struct settings *set, struct dw_approvals **ret,
                   struct dw_error *err)
{
	char path[DW_APPROVALS_PATH_MAX];

	if (dw_approvals_path(set->state, path, err) < 0)
		return -1;
	return dw_approvals_open_existing(path, NULL, ret, err);
}

/* ---- list ---- */

struct listing {
	json_t *array; /* NULL: print as they come */
	bool failed;
	size_t n;
};

static int list_one(void *user, const struct dw_approval *approval)
{
	struct listing *listing = user;

	listing->n++;
	if (!listing->array)
		dw_approve_print_row(approval);
	else if (json_array_append_new(listing->array, dw_approval_to_json(approval)) < 0)
		listing->failed = true;
	return listing->failed;
}

static int list_memory(void *user, const struct dw_memory *memory)
{
	struct listing *listing = user;

	listing->n++;
	if (!listing->array)
		dw_approve_print_memory(memory);
	else if (json_array_append_new(listing->array, dw_memory_to_json(memory)) < 0)
		listing->failed = true;
	return listing->failed;
}

static int do_list(const void *settings, const char *operand, struct dw_error *err)
{
	const struct settings *set = settings;
	struct listing listing = {.array = set->json ? json_array() : NULL};
	autoapprovals struct dw_approvals *a = NULL;
	int r = open_it(set, &a, err);

	(void)operand;
	if (r == 0)
		r = set->remembered
		            ? dw_approvals_memories(a, list_memory, &listing, err)
		            : dw_approvals_each(a, set->all, list_one, &listing, err);
	else if (err->code == DW_E_NOT_FOUND)
		r = 0;
	if (r < 0 || listing.failed) {
		json_decref(listing.array);
		listing.array = NULL;
	}
	if (r < 0)
		return -1;
	if (set->json)
		return dw_report_json(listing.array);
	if (listing.n == 0)
		dw_report_line("%s", set->remembered ? "nothing is remembered"
		                     : set->all      ? "nothing was asked"
		                                     : "nothing waits for approval");
	return dw_report_flush();
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
		return dw_fail(err, DW_E_DENIED, 0, "too late: %.12s is %.400s",
		               approval.id, line);
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

static int approve(const struct dw_command *cmd, int argc, char **argv)
{
	struct settings set = {0};

	return dw_subcommand_run(cmd, subcommands, argc, argv, &set);
}

const struct dw_command dw_command_approve = {
	.name = "approve",
	.summary = "See and decide what waits for a human",
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
	.fits = DW_FITS_WORDS,
	.words = "list show yes no forget",
	.run = approve,
};
