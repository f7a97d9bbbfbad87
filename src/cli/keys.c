/* SPDX-License-Identifier: Apache-2.0 */
#include "keys/keys.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "audit/record.h"
#include "base/cleanup.h"
#include "base/path.h"
#include "base/values.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/run_options.h"
#include "cli/subcommand.h"
#include "request/limits.h"

struct settings {
	const char *state;
	unsigned scopes;
	const char *levels;
	uint64_t concurrent;
	uint64_t runs_per_minute;
	uint64_t cpu_s_per_day;
	struct dw_limits max;
	bool json;
};

static int take_scopes(const char *value, void *field, struct dw_error *err)
{
	unsigned scopes = 0, scope;
	const char *p = value;
	char name[32];
	size_t len;

	for (;; p += len + 1) {
		len = strcspn(p, ",");
		(void)snprintf(name, sizeof(name), "%.*s", (int)len, p);
		if (dw_scope_parse(name, &scope, err) < 0)
			return -1;
		scopes |= scope;
		if (p[len] == '\0')
			break;
	}
	*(unsigned *)field = scopes;
	return 0;
}

/* Not a kernel count, so PID_MAX does not bound it. */
static int take_many(const char *value, uint64_t max, void *field, struct dw_error *err)
{
	uint64_t number;

	if (dw_parse_uint(value, max, &number, err) < 0)
		return -1;
	if (number == 0)
		return dw_fail(err, DW_E_INVALID, 0, "must be more than 0, not \"%.64s\"",
		               value);
	*(uint64_t *)field = number;
	return 0;
}

static int take_runs(const char *value, void *field, struct dw_error *err)
{
	return take_many(value, UINT_MAX, field, err);
}

static int take_seconds(const char *value, void *field, struct dw_error *err)
{
	return take_many(value, INT64_MAX, field, err);
}

#define FIELD(member) offsetof(struct settings, member)

static const struct dw_option where_options[] = {
	DW_OPTION("state", "DIR", dw_take_text, FIELD(state),
                  "State folder (root: /var/lib/dewar; else ~/.local/state/dewar)",
                  .fits = DW_FITS_FOLDER),
	{0},
};

static const struct dw_option may_options[] = {
	DW_OPTION("scope", "SCOPE,...", take_scopes, FIELD(scopes),
                  "add: what the key may do: run, admin, audit, approve (default run)",
                  .fits = DW_FITS_WORDS, .words = dw_scope_words, .several = true),
	DW_OPTION("levels", "LEVEL,...", dw_take_level, FIELD(levels),
                  "add: levels that the key may use (default: all of the daemon's)",
                  .fits = DW_FITS_LEVEL),
	{0},
};

static const struct dw_option quota_options[] = {
	DW_OPTION("concurrent", "N", dw_take_count, FIELD(concurrent),
                  "add: concurrent runs; further runs wait"),
	DW_OPTION("runs-per-minute", "N", take_runs, FIELD(runs_per_minute),
                  "add: runs per minute; further runs are refused with a time to retry"),
	DW_OPTION("cpu-seconds-per-day", "N", take_seconds, FIELD(cpu_s_per_day),
                  "add: CPU seconds per day (UTC) of all its runs"),
	{0},
};

static const struct dw_option max_options[] = {
#define DW_LIMIT(id, member, kind, opt, variable, key, scale, unit, normal, least, most, \
                 proof, word, fallback, what)                                            \
	{                                                                                \
		.name = "max-" opt,                                                      \
		.arg = DW_LIMIT_ARG_##kind,                                              \
		.help = "add: " what DW_LIMIT_FORMS_##kind,                              \
		.take = dw_take_limit_##id,                                              \
		.field = FIELD(max.member),                                              \
	},
#include "dewar/limits.def"
	{0},
};

static const struct dw_option output_options[] = {
	DW_OPTION_FLAG("json", FIELD(json), "Print JSON"),
	{0},
};

static const struct dw_option_group where_group = {"Where", where_options};
static const struct dw_option_group may_group = {"What the key may do", may_options};
static const struct dw_option_group quota_group = {"Quotas (default: no limit)",
                                                   quota_options};
static const struct dw_option_group max_group = {"Highest limits that a run may request",
                                                 max_options};
static const struct dw_option_group output_group = {"Output", output_options};

static void cleanup_keys(struct dw_keys **keys)
{
	dw_keys_close(*keys);
}
#define autokeys __attribute__((cleanup(cleanup_keys)))

static int keys_path(const struct settings *set, char *ret, size_t size,
                     struct dw_error *err)
{
	char folder[DW_STATE_PATH_MAX];

	if (!set->state && dw_state_of_daemon(folder, err) < 0)
		return -1;
	if (snprintf(ret, size, "%s/" DW_KEYS_FILE, set->state ? set->state : folder) >=
	    (int)size)
		return dw_fail(err, DW_E_INVALID, 0, "the path of --state is too long");
	return 0;
}

/* ---- as JSON ---- */

static json_t *time_json(int64_t us)
{
	char text[DW_AUDIT_TIME_MAX];

	if (us == 0)
		return json_null();
	dw_audit_time_text(us, text);
	return json_string(text);
}

/* Returns null for 0, which means no limit. */
static json_t *number_json(uint64_t number)
{
	return number ? json_integer((json_int_t)number) : json_null();
}

/* Returns "a,b" as a list, or null if it is empty. */
static json_t *words_json(const char *words)
{
	json_t *list = words[0] != '\0' ? json_array() : json_null();
	size_t len;

	while (words[0] != '\0') {
		len = strcspn(words, ",");
		if (json_array_append_new(list, json_stringn(words, len)) < 0) {
			json_decref(list);
			return NULL;
		}
		words += len + (words[len] == ',');
	}
	return list;
}

static json_t *key_json(const struct dw_key *key, const char *text)
{
	const struct dw_grant *grant = &key->grant;
	char scopes[DW_SCOPES_TEXT_MAX];
	json_t *object, *limits = json_object();

	dw_scopes_text(grant->scopes, scopes);
	for (size_t i = 0; i < DW_LIMIT_COUNT; i++)
		(void)json_object_set_new(limits, dw_limit_rows[i].member,
		                          number_json(dw_limit_get(&grant->max, i)));
	object = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "id",
	                   key->id, "name", key->name, "created",
	                   time_json(key->created_us), "revoked",
	                   time_json(key->revoked_us), "scopes", words_json(scopes),
	                   "levels", words_json(grant->levels), "concurrent",
	                   number_json(grant->concurrent), "runs_per_minute",
	                   number_json(grant->runs_per_minute), "cpu_seconds_per_day",
	                   number_json(grant->cpu_s_per_day), "max", limits);
	if (object && text && json_object_set_new(object, "key", json_string(text)) < 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}

/* ---- add ---- */

static int fill_key(const struct settings *set, const char *name, struct dw_key *ret,
                    struct dw_error *err)
{
	const char *levels = set->levels ? set->levels : "";

	*ret = (struct dw_key){
		.grant = {.scopes = set->scopes ? set->scopes : DW_SCOPE_RUN,
	                  .concurrent = (unsigned)set->concurrent,
	                  .runs_per_minute = (unsigned)set->runs_per_minute,
	                  .cpu_s_per_day = set->cpu_s_per_day,
	                  .max = set->max}};
	if (strlen(name) >= sizeof(ret->name))
		return dw_fail(err, DW_E_INVALID, 0,
		               "\"%.80s\" is too long for a name: at most %zu bytes",
		               name, sizeof(ret->name) - 1);
	(void)snprintf(ret->name, sizeof(ret->name), "%s", name);
	if (strlen(levels) >= sizeof(ret->grant.levels))
		return dw_fail(err, DW_E_INVALID, 0, "--levels has too many names");
	(void)snprintf(ret->grant.levels, sizeof(ret->grant.levels), "%s", levels);
	return 0;
}

static int do_add(const void *settings, const char *operand, struct dw_error *err)
{
	const struct settings *set = settings;
	autokeys struct dw_keys *keys = NULL;
	char path[DW_STATE_PATH_MAX + 16], text[DW_KEY_TEXT_MAX];
	struct dw_key key;
	int r;

	if (fill_key(set, operand, &key, err) < 0 ||
	    keys_path(set, path, sizeof(path), err) < 0 ||
	    dw_keys_open(path, &keys, err) < 0 || dw_keys_add(keys, &key, text, err) < 0)
		return -1;
	if (set->json) {
		r = dw_report_json(key_json(&key, text));
	} else {
		(void)puts(text);
		r = dw_report_flush();
	}
	/* The user did not get the key's text, so the key must not work. */
	if (r != 0)
		(void)dw_keys_revoke(keys, key.id, NULL);
	else if (!set->json)
		dw_report_line("created key %s (%s); store it now, it is not shown again",
		               key.id, key.name);
	return r;
}

/* ---- list ---- */

static void print_key(const struct dw_key *key)
{
	const struct dw_grant *grant = &key->grant;
	char most[DW_VALUE_TEXT_MAX];
	char made[DW_AUDIT_TIME_MAX], scopes[DW_SCOPES_TEXT_MAX], name[DW_KEY_NAME_MAX];

	dw_audit_time_text(key->created_us, made);
	dw_scopes_text(grant->scopes, scopes);
	(void)snprintf(name, sizeof(name), "%s", key->name);
	dw_report_clean(name, "");
	(void)printf("%s  %.10s  %-7s  %-23s  %s", key->id, made,
	             key->revoked_us ? "revoked" : "valid", scopes, name);
	if (grant->levels[0] != '\0')
		(void)printf("; levels %s", grant->levels);
	if (grant->concurrent)
		(void)printf("; %u concurrent", grant->concurrent);
	if (grant->runs_per_minute)
		(void)printf("; %u a minute", grant->runs_per_minute);
	if (grant->cpu_s_per_day)
		(void)printf("; %llu cpu seconds a day",
		             (unsigned long long)grant->cpu_s_per_day);
	for (size_t i = 0; i < DW_LIMIT_COUNT; i++)
		if (dw_limit_get(&grant->max, i) > 0)
			(void)printf("; %s at most %s", dw_limit_rows[i].option,
			             dw_limit_text(i, dw_limit_get(&grant->max, i),
			                           most));
	(void)putchar('\n');
}

static int list_one(void *user, const struct dw_key *key)
{
	bool json = ((struct dw_listing *)user)->array != NULL;

	if (!json)
		print_key(key);
	return dw_listing_add(user, json ? key_json(key, NULL) : NULL);
}

static int do_list(const void *settings, const char *operand, struct dw_error *err)
{
	const struct settings *set = settings;
	autolisting struct dw_listing listing = dw_listing_start(set->json);
	autokeys struct dw_keys *keys = NULL;
	char path[DW_STATE_PATH_MAX + 16];
	int r = keys_path(set, path, sizeof(path), err);

	(void)operand;
	if (r == 0)
		r = dw_keys_open_existing(path, &keys, err);
	if (r == 0)
		r = dw_keys_each(keys, list_one, &listing, err);
	/* Before the first key, the file does not exist. */
	else if (err->code == DW_E_NOT_FOUND)
		r = 0;
	if (r < 0)
		return -1;
	if (!set->json && listing.n == 0)
		dw_report_line("there are no keys in %s; see `dewar keys --help`", path);
	return dw_listing_report(&listing);
}

/* ---- revoke ---- */

static int do_revoke(const void *settings, const char *operand, struct dw_error *err)
{
	const struct settings *set = settings;
	autokeys struct dw_keys *keys = NULL;
	char path[DW_STATE_PATH_MAX + 16];

	if (strlen(operand) != DW_KEY_ID_MAX - 1 ||
	    strspn(operand, "0123456789abcdef") != DW_KEY_ID_MAX - 1)
		return dw_fail(err, DW_E_INVALID, 0,
		               "not the id of a key: an id has 8 hex digits, as `dewar "
		               "keys list` shows them");
	if (keys_path(set, path, sizeof(path), err) < 0 ||
	    dw_keys_open_existing(path, &keys, err) < 0 ||
	    dw_keys_revoke(keys, operand, err) < 0)
		return -1;
	if (set->json)
		return dw_report_json(json_pack("{s:s}", "revoked", operand));
	(void)printf("revoked %s\n", operand);
	return dw_report_flush();
}

static const struct dw_subcommand subcommands[] = {
	{"add", "NAME",
         " state scope levels concurrent runs-per-minute cpu-seconds-per-day json "
#define DW_LIMIT(id, member, kind, option, ...) "max-" option " "
#include "dewar/limits.def"
         ,
         do_add},
	{"list", NULL, " state json ", do_list},
	{"revoke", "ID", " state json ", do_revoke},
	{0},
};

const struct dw_command dw_command_keys = {
	.name = "keys",
	.summary = "Create, list and revoke API keys of `dewar serve`",
	.usage =
		{
			"add NAME [--scope SCOPE,...] [--concurrent N] [--runs-per-minute N] ...",
			"list",
			"revoke ID",
		},
	.example =
		{
			"dewar keys add ci",
			"dewar keys add ci --concurrent 4 --runs-per-minute 60 --max-memory 1G",
			"dewar keys add auditor --scope audit",
			"dewar keys list --json",
			"dewar keys revoke 4f2a9c01",
		},
	.groups = {&where_group, &may_group, &quota_group, &max_group, &output_group},
	.subcommands = subcommands,
	.settings_size = sizeof(struct settings),
};
