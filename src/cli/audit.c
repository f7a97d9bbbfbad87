/* SPDX-License-Identifier: Apache-2.0 */
#include "audit/audit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/values.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/show.h"
#include "cli/subcommand.h"

/* The default length of a list. */
#define LIST_DEFAULT 20

#define DAY_MS 86400000

/* The exit status if the chain is not sound. */
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

/* ---- options ---- */

/* Parse an age: "7d", or a form that dw_parse_time() accepts. */
static int parse_age(const char *text, uint64_t *ret_ms, struct dw_error *err)
{
	size_t len = strlen(text);
	uint64_t days;
	char number[16];

	if (len < 2 || len > sizeof(number) || text[len - 1] != 'd')
		return dw_parse_time(text, ret_ms, err);
	(void)snprintf(number, sizeof(number), "%.*s", (int)len - 1, text);
	if (dw_parse_uint(number, 1000000, &days, err) < 0)
		return -1;
	*ret_ms = days * DAY_MS;
	return 0;
}

/*
 * Parse a time in UTC (2026-11-15, 2026-11-15T14:00 or 2026-11-15T14:00:00, with or
 * without a final Z), or an age (90s, 30m, 2h, 7d). The field gets microseconds since
 * 1970.
 */
static int take_when(const char *text, void *field, struct dw_error *err)
{
	static const char *const forms[] = {
		"%Y-%m-%d",
		"%Y-%m-%dT%H:%M",
		"%Y-%m-%dT%H:%M:%S",
	};
	int64_t *ret_us = field, now = dw_wall_us();
	uint64_t age_ms;

	for (size_t i = 0; i < ARRAY_SIZE(forms) && strlen(text) >= 8; i++) {
		struct tm tm = {0};
		const char *end = strptime(text, forms[i], &tm);

		if (!end || (strcmp(end, "") != 0 && strcmp(end, "Z") != 0))
			continue;
		*ret_us = (int64_t)timegm(&tm) * 1000000;
		return 0;
	}
	if (parse_age(text, &age_ms, NULL) < 0 || age_ms > (uint64_t)now / 1000)
		return dw_fail(err, DW_E_INVALID, 0,
		               "\"%.64s\" is not a time; write 2026-11-15, "
		               "2026-11-15T14:00:00Z, or an age (90s, 2h, 7d)",
		               text);
	*ret_us = now - (int64_t)age_ms * 1000;
	return 0;
}

#define FIELD(member) offsetof(struct settings, member)
static const struct dw_option which_options[] = {
	DW_OPTION("file", "FILE", dw_take_text, FIELD(file),
                  "Audit file (default ~/.local/state/dewar/audit.db)",
                  .fits = DW_FITS_FILE, .env = {"DEWAR_AUDIT"}),
	DW_OPTION("since", "WHEN", take_when, FIELD(since_us),
                  "list, export: from this time on: 2026-11-15, 2026-11-15T14:00:00Z, 2h"),
	DW_OPTION("until", "WHEN", take_when, FIELD(until_us),
                  "list, export: before this time"),
	DW_OPTION("status", "STATUS", dw_take_text, FIELD(status),
                  "list, export: only runs with this status", .fits = DW_FITS_WORDS,
                  .words = dw_audit_status_words),
	DW_OPTION("limit", "N", dw_take_count, FIELD(limit),
                  "list, export: only the newest N (default for list: 20)"),
	{0},
};

static const struct dw_option_group which_group = {"Which records", which_options};

static const struct dw_option verify_options[] = {
	DW_OPTION("head", "SEQ:HASH", dw_take_text, FIELD(head),
                  "verify: require this earlier head in the chain"),
	{0},
};

static const struct dw_option_group verify_group = {"Verifying", verify_options};

static const struct dw_option prune_options[] = {
	DW_OPTION("older-than", "WHEN", take_when, FIELD(older_us),
                  "prune: remove records from before this time"),
	DW_OPTION("larger-than", "SIZE", dw_take_size, FIELD(larger),
                  "prune: remove the oldest until the rest is no larger"),
	{0},
};

static const struct dw_option_group prune_group = {"Removing", prune_options};

static const struct dw_option output_options[] = {
	DW_OPTION_FLAG("json", FIELD(json), "Print JSON"),
	{0},
};

static const struct dw_option_group output_group = {"Output", output_options};

/* Returns the path given by --file, or the default path, written to place. */
static const char *path_of(const struct settings *set, char place[DW_AUDIT_PATH_MAX],
                           struct dw_error *err)
{
	if (set->file)
		return set->file;
	return dw_audit_default_path(place, err) < 0 ? NULL : place;
}

static int open_reader(const struct settings *set, struct dw_audit_reader **ret,
                       struct dw_error *err)
{
	char place[DW_AUDIT_PATH_MAX];
	const char *path = path_of(set, place, err);

	return path ? dw_audit_reader_open(path, ret, err) : -1;
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

static int list_one(void *listing, const struct dw_audit_entry *entry)
{
	bool json = ((struct dw_listing *)listing)->array != NULL;

	if (!json)
		dw_audit_print_row(entry);
	return dw_listing_add(listing, json ? dw_audit_run_json(entry) : NULL);
}

static int do_list(const void *settings, const char *operand, struct dw_error *err)
{
	autoreader struct dw_audit_reader *reader = NULL;
	const struct settings *set = settings;
	autolisting struct dw_listing listing = dw_listing_start(set->json);
	struct dw_audit_filter filter = filter_of(set);
	int r;

	(void)operand;
	if (filter.limit == 0)
		filter.limit = LIST_DEFAULT;
	r = open_reader(set, &reader, err);
	if (r == 0)
		r = dw_audit_each_run(reader, &filter, list_one, &listing, err);
	/* Before the first run, the file does not exist. */
	else if (err->code == DW_E_NOT_FOUND && !set->file)
		r = 0;
	if (r < 0)
		return -1;
	if (!set->json && listing.n == 0)
		dw_report_line("there are no such runs in the audit record");
	return dw_listing_report(&listing);
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
		               "\"%.64s\" is not a run id: ids are hex digits", operand);
	if (open_reader(set, &reader, err) < 0 ||
	    dw_audit_each_run(reader, &filter, count_one, &showing, err) < 0)
		return -1;
	if (showing.n == 0)
		return dw_fail(err, DW_E_NOT_FOUND, 0, "no run %.64s in the audit record",
		               operand);
	if (showing.n > 1)
		return dw_fail(err, DW_E_INVALID, 0,
		               "several runs begin with %.64s; give more digits",
		               operand);
	if (dw_audit_each_run(reader, &filter, show_one, &showing, err) < 0)
		return -1;
	return showing.status;
}

static int export_one(void *user, const struct dw_audit_record *rec)
{
	(void)user;
	/* A failed write ends the export: the reader of the pipe may have closed it. */
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

/* Parse a head, such as "12:9f86d0...". */
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
		               "--head must be SEQ:HASH, as `dewar audit verify` prints it "
		               "after \"head: \", not \"%.80s\"",
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
	const char *path;
	size_t removed = 0;
	int r;

	(void)operand;
	if (keep.since_us == 0 && keep.bytes == 0)
		return dw_fail(
			err, DW_E_INVALID, 0,
			"no --older-than or --larger-than given; see `dewar audit --help`");
	path = path_of(set, place, err);
	if (!path || dw_audit_open(path, 0, &audit, err) < 0)
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

const struct dw_command dw_command_audit = {
	.name = "audit",
	.summary =
		"List runs and their callers, and check that the record was not changed",
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
	.subcommands = subcommands,
	.settings_size = sizeof(struct settings),
};
