/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "audit/record.h"
#include "base/base64.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "cli/print.h"

/* The number of characters of the code that a line of the list shows. */
#define EXCERPT_MAX 50

#define BOLD "\033[1m"
#define YELLOW "\033[33m"
#define PLAIN "\033[0m"

static const char *colour(const char *code)
{
	return dw_report_colour(STDOUT_FILENO) ? code : "";
}

/* ---- untrusted text ---- */

/* Print up to max characters. Returns true if that was the whole string. */
static bool print_some(const char *data, size_t len, size_t max)
{
	autofree char *text = dw_utf8_clean(data, len, &len);
	size_t n;
	uint32_t c;

	for (size_t i = 0; text && i < len; i += n) {
		if (max-- == 0)
			return false;
		n = dw_utf8_decode(text + i, len - i, &c);
		if (c == '\n')
			(void)fputs("\\n", stdout);
		else if (dw_utf8_is_invisible(c) && c != '\t')
			(void)printf("\\u{%x}", c);
		else
			(void)fwrite(text + i, 1, n, stdout);
	}
	return true;
}

static void print_text(const char *text)
{
	(void)print_some(text, strlen(text), SIZE_MAX);
}

static void print_lines(const char *data, size_t len)
{
	const char *end = data + len, *nl;

	for (unsigned number = 1; data < end; number++) {
		nl = memchr(data, '\n', (size_t)(end - data));
		(void)printf("%5u | ", number);
		(void)print_some(data, (size_t)((nl ? nl : end) - data), SIZE_MAX);
		(void)putchar('\n');
		data = nl ? nl + 1 : end;
	}
}

static void print_heading(const char *name)
{
	(void)printf("\n%s%s%s\n", colour(BOLD), name, colour(PLAIN));
}

static void print_row(const char *name, const char *text)
{
	if (text[0] == '\0')
		return;
	(void)printf("%-10s  ", name);
	print_text(text);
	(void)putchar('\n');
}

/* ---- times ---- */

/* Write a duration in its two largest units, such as "9m 58s". */
static void span(int64_t us, char *ret, size_t size)
{
	long long s = us / 1000000;

	if (s < 60)
		(void)snprintf(ret, size, "%llds", s < 0 ? 0 : s);
	else if (s < 3600)
		(void)snprintf(ret, size, "%lldm %llds", s / 60, s % 60);
	else if (s < 86400)
		(void)snprintf(ret, size, "%lldh %lldm", s / 3600, s / 60 % 60);
	else
		(void)snprintf(ret, size, "%lldd %lldh", s / 86400, s / 3600 % 24);
}

/* ---- the list ---- */

/* Print the language and the first characters of the code. */
static void print_excerpt(const char *request)
{
	static const char *const keys[] = {"code", "command", "program"};
	json_auto_t *root = json_loads(request, JSON_ALLOW_NUL, NULL);
	json_t *what = NULL;
	const char *language = json_string_value(json_object_get(root, "language"));

	for (size_t i = 0; i < ARRAY_SIZE(keys) && !what; i++)
		what = json_object_get(root, keys[i]);
	(void)print_some(language ? language : "sh", language ? strlen(language) : 2,
	                 EXCERPT_MAX);
	(void)fputs(": ", stdout);
	if (json_is_string(what) &&
	    !print_some(json_string_value(what), json_string_length(what), EXCERPT_MAX))
		(void)fputs("...", stdout);
}

void dw_approve_print_row(const struct dw_approval *a)
{
	char left[32] = "-";

	if (a->state == DW_APPROVAL_PENDING)
		span(a->expires_us - dw_wall_us(), left, sizeof(left));
	(void)printf("%.12s  %-8s  %8s  ", a->id, dw_approval_state_name(a->state), left);
	print_text(a->who);
	(void)printf("  %s", colour(YELLOW));
	print_text(a->rule);
	(void)printf("%s  ", colour(PLAIN));
	print_excerpt(a->request);
	(void)putchar('\n');
}

void dw_approve_print_memory(const struct dw_memory *m)
{
	char when[DW_AUDIT_TIME_MAX];

	dw_audit_time_text(m->decided_us, when);
	(void)printf("%.12s  %.10s  %-7s  ", m->id, when, dw_remember_name(m->kind));
	print_text(m->who);
	(void)fputs("  ", stdout);
	if (m->kind == DW_REMEMBER_CODE)
		(void)printf("sha256 %.12s", m->hash);
	else
		print_text(m->rule);
	if (m->kind == DW_REMEMBER_SESSION) {
		(void)fputs(" in ", stdout);
		print_text(m->session);
	}
	(void)fputs(", by ", stdout);
	print_text(m->decided_by);
	(void)putchar('\n');
}

/* ---- one approval ---- */

static void print_head(const struct dw_approval *a)
{
	char line[DW_APPROVAL_LINE_MAX], when[DW_AUDIT_TIME_MAX], left[32];

	print_row("approval", a->id);
	(void)printf("%-10s  %s", "state", colour(BOLD));
	dw_approval_line(a, line);
	if (a->state == DW_APPROVAL_PENDING) {
		span(a->expires_us - dw_wall_us(), left, sizeof(left));
		(void)printf("pending, expires in %s", left);
	} else {
		print_text(line);
	}
	(void)printf("%s\n", colour(PLAIN));
	print_row("caller", a->who);
	print_row("door", a->door);
	dw_audit_time_text(a->asked_us, when);
	print_row("asked", when);
	print_row("run", a->run);
	print_row("rule", a->rule);
	print_row("reason", a->reason);
	print_row("sha256", a->hash);
}

static void print_findings(const char *text)
{
	json_auto_t *array = json_loads(text, JSON_ALLOW_NUL, NULL);
	json_t *value;
	size_t i;

	if (json_array_size(array) > 0)
		print_heading("findings");
	json_array_foreach (array, i, value) {
		const char *rule = json_string_value(json_object_get(value, "rule"));
		const char *message = json_string_value(
			json_object_get(value, "message"));
		json_int_t line = json_integer_value(json_object_get(value, "line"));
		autofree char *whole = NULL;

		if (rule) {
			(void)printf("%5lld | ", (long long)line);
			print_text(rule);
			(void)fputs(message ? ": " : "", stdout);
			print_text(message ? message : "");
		} else {
			whole = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
			(void)fputs("      | ", stdout);
			print_text(whole ? whole : "?");
		}
		(void)putchar('\n');
	}
}

/*
 * Print a string of the object under a heading of its own, and remove it from the object.
 */
static void print_out(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	if (!json_is_string(value))
		return;
	print_heading(key);
	print_lines(json_string_value(value), json_string_length(value));
	(void)json_object_del(object, key);
}

static void print_file(const char *name, json_t *value)
{
	size_t len = json_string_length(value);
	autofree char *data = malloc(dw_base64_room(len) + 1);

	(void)printf("\n%sfile ", colour(BOLD));
	print_text(name);
	(void)fputs(colour(PLAIN), stdout);
	if (!json_is_string(value) || !data ||
	    dw_base64_decode(json_string_value(value), len, data, &len) < 0) {
		autofree char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

		(void)fputs(", too large to be stored: ", stdout);
		print_text(text ? text : "?");
		(void)putchar('\n');
	} else if (!dw_utf8_valid(data, len)) {
		(void)printf(", %zu bytes, not text; use --json to see them\n", len);
	} else {
		(void)printf(", %zu bytes\n", len);
		print_lines(data, len);
	}
}

static void print_request(const char *text)
{
	json_auto_t *root = json_loads(text, JSON_ALLOW_NUL, NULL);
	json_auto_t *files = json_incref(json_object_get(root, "files"));
	json_t *value;
	const char *name;

	print_out(root, "code");
	print_out(root, "command");
	print_out(root, "stdin");
	if (json_is_object(files)) {
		json_object_foreach (files, name, value) {
			print_file(name, value);
		}
		(void)json_object_del(root, "files");
	}
	print_heading("request");
	json_object_foreach (root, name, value) {
		autofree char *dumped = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

		print_row(name, dumped ? dumped : "?");
	}
}

void dw_approve_print(const struct dw_approval *a)
{
	print_head(a);
	print_findings(a->findings);
	print_request(a->request);
}
