/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "cli/print.h"

/* The number of bytes of the code that a line of the list shows. */
#define EXCERPT_MAX 60

/*
 * Returns a copy that is safe for a terminal, to be freed with free(), or NULL if memory
 * runs out.
 */
static char *clean(const char *data, size_t len, const char *keep)
{
	char *text = dw_utf8_clean(data ? data : "", len, &len);

	if (!text)
		return NULL;
	/* A NUL would hide the text behind it. */
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\0')
			text[i] = ' ';
	dw_report_clean(text, keep);
	return text;
}

static json_t *request_of(const struct dw_audit_entry *entry)
{
	const struct dw_audit_text *text = &entry->intent->request;

	return text->data ? json_loadb(text->data, text->len, JSON_ALLOW_NUL, NULL)
	                  : NULL;
}

/* Print the language and the first bytes of the code. */
static void print_excerpt(json_t *request)
{
	const char *language = json_string_value(json_object_get(request, "language"));
	json_t *what = json_object_get(request, "code");
	autofree char *name = NULL, *line = NULL;
	size_t len;
	bool cut;

	if (!what)
		what = json_object_get(request, "command");
	if (!what)
		what = json_object_get(request, "program");
	if (!language)
		language = json_object_get(request, "program") ? "program" : "sh";

	name = clean(language, strlen(language), "");
	line = clean(json_string_value(what), json_string_length(what), "");
	if (!name || !line)
		return;
	cut = strlen(line) > EXCERPT_MAX;
	if (cut) {
		/* Do not cut in the middle of a character. */
		for (len = EXCERPT_MAX; len > 0 && (line[len] & 0xc0) == 0x80; len--)
			;
		line[len] = '\0';
	}
	(void)printf("%s: %s%s\n", name, line, cut ? "..." : "");
}

void dw_audit_print_row(const struct dw_audit_entry *entry)
{
	const struct dw_audit_record *end = entry->end;
	autofree char *id = clean(entry->intent->run.data, entry->intent->run.len, "");
	autofree char *level = NULL, *status = NULL;
	char when[DW_AUDIT_TIME_MAX], took[32] = "-";
	json_auto_t *request = request_of(entry);

	level = end && end->level_achieved.data
	                ? clean(end->level_achieved.data, end->level_achieved.len, "")
	                : strdup("-");
	status = clean(entry->status, strlen(entry->status), "");
	dw_audit_time_text(entry->intent->time_us, when);
	/* Cut off the fraction of the second. */
	if (strlen(when) > 20)
		memcpy(when + 19, "Z", 2);
	if (end && end->run_us != DW_AUDIT_NONE)
		(void)snprintf(took, sizeof(took), "%.1f ms", (double)end->run_us / 1000);
	if (id && level && status) {
		(void)printf("%s  %.12s  %-11s  %-9s  %12s  ", when, id, status, level,
		             took);
		print_excerpt(request);
	}
}

static void print_text(const char *name, struct dw_audit_text text)
{
	autofree char *value = text.data ? clean(text.data, text.len, "") : NULL;

	if (value)
		(void)printf("%-12s  %s\n", name, value);
}

static void print_end(const struct dw_audit_entry *entry)
{
	const struct dw_audit_record *end = entry->end;
	char when[DW_AUDIT_TIME_MAX];

	print_text("status", dw_audit_text_of(entry->status));
	if (!end)
		return;
	print_text("reason", end->reason);
	print_text("hint", end->hint);
	if (end->exit_code != DW_AUDIT_NONE)
		(void)printf("%-12s  %lld\n", "exit code", (long long)end->exit_code);
	if (end->signal != DW_AUDIT_NONE)
		(void)printf("%-12s  %lld\n", "signal", (long long)end->signal);
	print_text("achieved", end->level_achieved);
	print_text("proof sha256", end->proof_sha256);
	if (end->run_us != DW_AUDIT_NONE)
		(void)printf("%-12s  %.3f ms\n", "time", (double)end->run_us / 1000);
	if (end->cpu_us != DW_AUDIT_NONE)
		(void)printf("%-12s  %.3f ms\n", "cpu time", (double)end->cpu_us / 1000);
	if (end->memory_bytes != DW_AUDIT_NONE)
		(void)printf("%-12s  %.1f MB\n", "memory",
		             (double)end->memory_bytes / (1 << 20));
	dw_audit_time_text(end->time_us, when);
	(void)printf("%-12s  %s, record %lld\n", "ended", when, (long long)end->seq);
}

void dw_audit_print_run(const struct dw_audit_entry *entry)
{
	const struct dw_audit_record *intent = entry->intent;
	json_auto_t *request = request_of(entry);
	json_auto_t *code = NULL;
	autofree char *text = NULL, *shown = NULL, *rest = NULL;
	char when[DW_AUDIT_TIME_MAX];

	dw_audit_time_text(intent->time_us, when);
	print_text("run", intent->run);
	print_text("who", intent->who);
	(void)printf("%-12s  %s, record %lld\n", "asked", when, (long long)intent->seq);
	print_text("level", intent->level_asked);
	print_text("decision", intent->decision);
	print_text("rule", intent->rule);
	print_end(entry);

	/* Print the code with its line breaks, below the rest of the request. */
	code = json_incref(json_object_get(request, "code"));
	if (json_is_string(code)) {
		(void)json_object_del(request, "code");
		text = clean(json_string_value(code), json_string_length(code), "\n\t");
	}
	rest = json_dumps(request, JSON_INDENT(2));
	shown = rest ? clean(rest, strlen(rest), "\n") : NULL;
	(void)printf("\nrequest:\n%s\n", shown ? shown : "?");
	if (text)
		(void)printf("\ncode:\n%s%s", text,
		             text[0] == '\0' || text[strlen(text) - 1] != '\n' ? "\n"
		                                                               : "");
}

json_t *dw_audit_run_json(const struct dw_audit_entry *entry)
{
	json_t *intent = dw_audit_record_to_json(entry->intent);
	json_t *end = entry->end ? dw_audit_record_to_json(entry->end) : json_null();

	return json_pack("{s:O?, s:o, s:o, s:o}", "id", json_object_get(intent, "run"),
	                 "status", dw_report_string(entry->status), "intent", intent,
	                 "end", end);
}

void dw_audit_print_verdict(const struct dw_audit_verdict *verdict)
{
	autofree char *text = clean(verdict->text, strlen(verdict->text), "");

	if (verdict->fault != DW_AUDIT_SOUND) {
		(void)printf("NOT SOUND: %s\n", text ? text : "?");
		return;
	}
	(void)printf("sound: %llu records", (unsigned long long)verdict->records);
	if (verdict->records > 0)
		(void)printf(", %lld to %lld", (long long)verdict->first_seq,
		             (long long)verdict->head_seq);
	if (verdict->open > 0)
		(void)printf("; %llu runs without an outcome",
		             (unsigned long long)verdict->open);
	(void)printf("\nhead: %lld:%s\n", (long long)verdict->head_seq,
	             verdict->head_hash);
}

json_t *dw_audit_verdict_json(const struct dw_audit_verdict *verdict)
{
	bool sound = verdict->fault == DW_AUDIT_SOUND;
	json_t *fault = json_null();

	if (!sound)
		fault = json_pack("{s:s, s:I, s:o}", "kind",
		                  dw_audit_fault_name(verdict->fault), "seq",
		                  (json_int_t)verdict->seq, "message",
		                  dw_report_string(verdict->text));
	return json_pack("{s:b, s:I, s:I, s:I, s:{s:I, s:s}, s:o}", "sound", sound,
	                 "records", (json_int_t)verdict->records, "first",
	                 (json_int_t)verdict->first_seq, "open",
	                 (json_int_t)verdict->open, "head", "seq",
	                 (json_int_t)verdict->head_seq, "hash", verdict->head_hash,
	                 "fault", fault);
}
