/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/audit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/num.h"
#include "cli/audit_print.h"
#include "cli/audit_when.h"
#include "cli/command.h"
#include "cli/report.h"
#include "cli/subcommand.h"

/* Runs that a list shows, if nobody says how many. */
#define LIST_DEFAULT 20

/* Our exit status if the chain is not sound. */
#define EXIT_NOT_SOUND 1

struct settings {
	const char *file;
	int64_t since_us;
	int64_t until_us;
	const char *status;
	uint64_t limit;
	const char *head;
	int64_t older_us;
	uint64_t larger;
	bool json;
};

static int take_when(const char *value, void *field, struct dw_error *err)
{
	return dw_when_parse(value, dw_wall_us(), field, err);
}

#define FIELD(member) offsetof(struct settings, member)
static const struct dw_option which_options[] = {
	{
		.name = "file",
		.arg = "FILE",
		.help = "The audit file (~/.local/state/dewar/audit.db)",
		.take = dw_take_text,
		.field = FIELD(file),
		.fits = DW_FITS_FILE,
		.env = {"DEWAR_AUDIT"},
	},
	{
		.name = "since",
		.arg = "WHEN",
		.help = "list, export: from then on: 2026-11-15, 2026-11-15T14:00:00Z, 2h, 7d",
		.take = take_when,
		.field = FIELD(since_us),
	},
	{
		.name = "until",
		.arg = "WHEN",
		.help = "list, export: before then",
		.take = take_when,
		.field = FIELD(until_us),
	},
	{
		.name = "status",
		.arg = "STATUS",
		.help = "list, export: with this status",
		.take = dw_take_text,
		.field = FIELD(status),
		.fits = DW_FITS_WORDS,
		.words = "success error timeout resource_exceeded interrupted running",
	},
	{
		.name = "limit",
		.arg = "N",
		.help = "list, export: the newest so many (20 in a list)",
		.take = dw_take_count,
		.field = FIELD(limit),
	},
	{0},
};

static const struct dw_option_group which_group = {"Which records", which_options};

static const struct dw_option verify_options[] = {
	{
		.name = "head",
		.arg = "SEQ:HASH",
		.help = "verify: a head that was written down before must be in the chain",
		.take = dw_take_text,
		.field = FIELD(head),
	},
	{0},
};

static const struct dw_option_group verify_group = {"Verifying", verify_options};

static const struct dw_option prune_options[] = {
	{
		.name = "older-than",
		.arg = "WHEN",
		.help = "prune: remove records from before then",
		.take = take_when,
		.field = FIELD(older_us),
	},
	{
		.name = "larger-than",
		.arg = "SIZE",
		.help = "prune: remove the oldest until the rest takes up no more",
		.take = dw_take_size,
		.field = FIELD(larger),
	},
	{0},
};

static const struct dw_option_group prune_group = {"Removing", prune_options};

static const struct dw_option output_options[] = {
	{
		.name = "json",
		.help = "Print JSON",
		.take = dw_take_flag,
		.field = FIELD(json),
	},
	{0},
};

static const struct dw_option_group output_group = {"Output", output_options};

static int open_reader(const struct settings *set, struct dw_audit_reader **ret,
                       struct dw_error *err)
{
	char place[DW_AUDIT_PATH_MAX];

	if (!set->file && dw_audit_default_path(place, err) < 0)
		return -1;
	return dw_audit_reader_open(set->file ? set->file : place, ret, err);
}

static void cleanup_reader(struct dw_audit_reader **reader)
{
	dw_audit_reader_close(*reader);
}
#define autoreader __attribute__((cleanup(cleanup_reader)))

static struct dw_audit_filter filter_of(const struct settings *set)
{
	return (struct dw_audit_filter){.since_us = set->since_us,
	                                .until_us = set->until_us,
	                                .status = set->status,
	                                .limit = set->limit};
}

/* What a list or a search comes to. */
struct found {
	json_t *array; /* NULL: print as they come */
	bool failed;
	size_t n;
};

static int list_one(void *user, const struct dw_audit_entry *entry)
{
	struct found *found = user;

	if (!found->array)
		dw_audit_print_row(entry);
	else if (json_array_append_new(found->array, dw_audit_run_json(entry)) < 0)
		found->failed = true;
	return 0;
}

static int do_list(const void *settings, const char *operand, struct dw_error *err)
{
	autoreader struct dw_audit_reader *reader = NULL;
	const struct settings *set = settings;
	struct found found = {.array = set->json ? json_array() : NULL};
	struct dw_audit_filter filter = filter_of(set);

	(void)operand;
	if (filter.limit == 0)
		filter.limit = LIST_DEFAULT;
	if (open_reader(set, &reader, err) < 0 ||
	    dw_audit_each_run(reader, &filter, list_one, &found, err) < 0) {
		json_decref(found.array);
		return -1;
	}
	if (!set->json)
		return dw_report_flush();
	if (found.failed) {
		json_decref(found.array);
		found.array = NULL;
	}
	return dw_report_json(found.array);
}

struct showing {
	const char *id;
	bool json;
	size_t n;
	int status;
};

static int count_one(void *user, const struct dw_audit_entry *entry)
{
	struct showing *showing = user;

	(void)entry;
	showing->n++;
	return 0;
}

static int show_one(void *user, const struct dw_audit_entry *entry)
{
	struct showing *showing = user;

	if (showing->json) {
		showing->status = dw_report_json(dw_audit_run_json(entry));
	} else {
		dw_audit_print_run(entry);
		showing->status = dw_report_flush();
	}
	return 0;
}

static int do_show(const void *settings, const char *operand, struct dw_error *err)
{
	autoreader struct dw_audit_reader *reader = NULL;
	const struct settings *set = settings;
	struct showing showing = {.json = set->json};
	struct dw_audit_filter filter = {.id = operand, .limit = 2};

	if (strspn(operand, "0123456789abcdef") != strlen(operand) || operand[0] == '\0')
		return dw_fail(err, DW_E_INVALID, 0,
		               "\"%.64s\" is no id of a run: those are hex digits",
		               operand);
	if (open_reader(set, &reader, err) < 0 ||
	    dw_audit_each_run(reader, &filter, count_one, &showing, err) < 0)
		return -1;
	if (showing.n == 0)
		return dw_fail(err, DW_E_NOT_FOUND, 0, "no run %.64s is on record",
		               operand);
	if (showing.n > 1)
		return dw_fail(err, DW_E_INVALID, 0,
		               "several runs begin with %.64s: give more of it", operand);
	if (dw_audit_each_run(reader, &filter, show_one, &showing, err) < 0)
		return -1;
	return showing.status;
}

static int export_one(void *user, const struct dw_audit_record *rec)
{
	(void)user;
	/* Whoever read us may have left: no use in going on. */
	return dw_report_json(dw_audit_record_to_json(rec));
}

static int do_export(const void *settings, const char *operand, struct dw_error *err)
{
	autoreader struct dw_audit_reader *reader = NULL;
	const struct settings *set = settings;
	struct dw_audit_filter filter = filter_of(set);

	(void)operand;
	if (open_reader(set, &reader, err) < 0)
		return -1;
	return dw_audit_each_record(reader, &filter, export_one, NULL, err);
}

/* "12:9f86d0..." */
static int parse_head(const char *text, struct dw_audit_anchor *ret, struct dw_error *err)
{
	const char *colon = strchr(text, ':');
	char number[24] = "";
	uint64_t seq = 0;

	if (colon && (size_t)(colon - text) < sizeof(number))
		(void)snprintf(number, sizeof(number), "%.*s", (int)(colon - text), text);
	if (!colon || dw_parse_uint(number, INT64_MAX, &seq, NULL) < 0 || seq == 0 ||
	    strlen(colon + 1) != DW_AUDIT_HASH_MAX - 1 ||
	    strspn(colon + 1, "0123456789abcdef") != DW_AUDIT_HASH_MAX - 1)
		return dw_fail(err, DW_E_INVALID, 0,
		               "--head: \"%.80s\" is no head: give what `dewar audit "
		               "verify` printed, such as 12:9f86...",
		               text);
	*ret = (struct dw_audit_anchor){(int64_t)seq, colon + 1};
	return 0;
}

static int do_verify(const void *settings, const char *operand, struct dw_error *err)
{
	autoreader struct dw_audit_reader *reader = NULL;
	const struct settings *set = settings;
	struct dw_audit_anchor anchor = {0};
	struct dw_audit_verdict verdict;
	int r;

	(void)operand;
	if (set->head && parse_head(set->head, &anchor, err) < 0)
		return -1;
	if (open_reader(set, &reader, err) < 0 ||
	    dw_audit_verify(reader, set->head ? &anchor : NULL, &verdict, err) < 0)
		return -1;
	if (set->json) {
		r = dw_report_json(dw_audit_verdict_json(&verdict));
	} else {
		dw_audit_print_verdict(&verdict);
		r = dw_report_flush();
	}
	return r == 0 && verdict.fault != DW_AUDIT_SOUND ? EXIT_NOT_SOUND : r;
}

static int do_prune(const void *settings, const char *operand, struct dw_error *err)
{
	const struct settings *set = settings;
	struct dw_audit_keep keep = {.since_us = set->older_us, .bytes = set->larger};
	char place[DW_AUDIT_PATH_MAX];
	struct dw_audit *audit = NULL;
	size_t removed = 0;
	int r;

	(void)operand;
	if (keep.since_us == 0 && keep.bytes == 0)
		return dw_fail(err, DW_E_INVALID, 0,
		               "remove what? Give --older-than or --larger-than; see `dewar "
		               "audit --help`");
	if (!set->file && dw_audit_default_path(place, err) < 0)
		return -1;
	if (dw_audit_open(set->file ? set->file : place, 0, &audit, err) < 0)
		return -1;
	r = dw_audit_retain(audit, &keep, &removed, err);
	dw_audit_close(audit);
	if (r < 0)
		return -1;
	if (set->json)
		return dw_report_json(json_pack("{s:I}", "removed", (json_int_t)removed));
	(void)printf("removed %zu records\n", removed);
	return dw_report_flush();
}

static const struct dw_subcommand subcommands[] = {
	{"list", NULL, " file since until status limit json ", do_list},
	{"show", "ID", " file json ", do_show},
	{"export", NULL, " file since until status limit json ", do_export},
	{"verify", NULL, " file head json ", do_verify},
	{"prune", NULL, " file older-than larger-than json ", do_prune},
	{0},
};

static int audit(const struct dw_command *cmd, int argc, char **argv)
{
	struct settings set = {0};

	return dw_subcommand_run(cmd, subcommands, argc, argv, &set);
}

const struct dw_command dw_command_audit = {
	.name = "audit",
	.summary = "Say who ran what, and whether anybody changed the record of it",
	.usage =
		{
			"list [--since WHEN] [--until WHEN] [--status STATUS] [--limit N]",
			"show ID",
			"export [--since WHEN] [--until WHEN] [--status STATUS] [--limit N]",
			"verify [--head SEQ:HASH]",
			"prune [--older-than WHEN] [--larger-than SIZE]",
		},
	.example =
		{
			"dewar audit list --since 2h --status error",
			"dewar audit show 4f2a",
			"dewar audit show --json 4f2a | jq .intent.request | dewar run --request -",
			"dewar audit export > records.jsonl",
			"dewar audit verify --head \"$(cat head-of-yesterday)\"",
			"dewar audit prune --older-than 90d",
		},
	.groups = {&which_group, &verify_group, &prune_group, &output_group},
	.fits = DW_FITS_WORDS,
	.words = "list show export verify prune",
	.run = audit,
};
