/* SPDX-License-Identifier: Apache-2.0 */
#include "approvals/hook.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"

static const char *const decisions[] = {
	[DW_HOOK_DENY] = "deny",
	[DW_HOOK_ALLOW] = "allow",
	[DW_HOOK_ASK] = "ask",
};
_Static_assert(ARRAY_SIZE(decisions) == DW_HOOK_DECISION_COUNT, "a name for each");

const char *dw_hook_decision_name(enum dw_hook_decision decision)
{
	return decisions[decision];
}

static bool is_url(const char *url)
{
	const char *host = strncmp(url, "http://", 7) == 0    ? url + 7
	                   : strncmp(url, "https://", 8) == 0 ? url + 8
	                                                      : "";

	if (host[0] == '\0' || strchr("/?#:", host[0]))
		return false;
	for (const char *p = url; *p != '\0'; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
			return false;
	return strlen(url) < DW_HOOK_URL_MAX;
}

int dw_hook_check(const struct dw_hook *hook, struct dw_error *err)
{
	if (!hook->argv == !hook->url)
		return dw_fail(err, DW_E_INVALID, 0,
		               "a hook must have either a program or a URL");
	if (hook->argv && (!hook->argv[0] || hook->argv[0][0] != '/'))
		return dw_fail(err, DW_E_INVALID, 0,
		               "the program of a hook must be an absolute path, not "
		               "\"%.200s\"",
		               hook->argv[0] ? hook->argv[0] : "");
	if (hook->url && !is_url(hook->url))
		return dw_fail(err, DW_E_INVALID, 0,
		               "the URL of a hook must begin with http:// or https://, name a "
		               "host, and have less than %d ASCII characters",
		               DW_HOOK_URL_MAX);
	if (hook->timeout_ms > DW_HOOK_TIMEOUT_MAX_MS)
		return dw_fail(err, DW_E_INVALID, 0,
		               "the timeout of a hook must be at most %u seconds",
		               DW_HOOK_TIMEOUT_MAX_MS / 1000);
	return 0;
}

/* Copy as one line of valid UTF-8, for hints, records and logs. */
static void take_line(const char *text, char ret[DW_HOOK_REASON_MAX])
{
	size_t len = strnlen(text, DW_HOOK_REASON_MAX - 1);
	autofree char *clean = dw_utf8_clean(text, len - dw_utf8_unfinished(text, len),
	                                     &len);

	/* Replacements are longer than invalid bytes, so the line may be cut again. */
	(void)snprintf(ret, DW_HOOK_REASON_MAX, "%s", clean ? clean : "");
	len = strlen(ret);
	ret[len - dw_utf8_unfinished(ret, len)] = '\0';
	for (unsigned char *p = (unsigned char *)ret; *p != '\0'; p++)
		if (*p < 0x20 || *p == 0x7f)
			*p = ' ';
		else if (*p == 0xc2 && p[1] < 0xa0)
			memset(p, ' ', 2); /* C1 controls */
}

static int check_keys(json_t *root, struct dw_error *err)
{
	const char *name;
	json_t *value;

	json_object_foreach (root, name, value) {
		if (strcmp(name, "decision") != 0 && strcmp(name, "reason") != 0)
			return dw_fail(err, DW_E_INVALID, 0,
			               "its answer has an unknown key \"%.64s\"", name);
		if (!json_is_string(value))
			return dw_fail(err, DW_E_INVALID, 0,
			               "\"%s\" in its answer must be a string", name);
	}
	return 0;
}

static int read_answer(json_t *root, struct dw_hook_answer *ret, struct dw_error *err)
{
	const char *decision, *reason;

	if (!json_is_object(root))
		return dw_fail(err, DW_E_INVALID, 0, "its answer is not a JSON object");
	if (check_keys(root, err) < 0)
		return -1;
	decision = json_string_value(json_object_get(root, "decision"));
	reason = json_string_value(json_object_get(root, "reason"));
	for (int i = 0; decision && i < DW_HOOK_DECISION_COUNT; i++)
		if (strcmp(decision, decisions[i]) == 0) {
			*ret = (struct dw_hook_answer){
				.decision = (enum dw_hook_decision)i};
			take_line(reason ? reason : "", ret->reason);
			return 0;
		}
	return dw_fail(err, DW_E_INVALID, 0,
	               "\"decision\" in its answer must be allow, deny or ask");
}

int dw_hook_answer_parse(const char *text, size_t len, struct dw_hook_answer *ret,
                         struct dw_error *err)
{
	json_auto_t *root = NULL;

	if (len == 0)
		return dw_fail(err, DW_E_INVALID, 0, "its answer is empty");
	if (len > DW_HOOK_ANSWER_MAX)
		return dw_fail(err, DW_E_INVALID, 0,
		               "its answer is longer than %zu bytes", DW_HOOK_ANSWER_MAX);
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	if (!root)
		return dw_fail(err, DW_E_INVALID, 0, "its answer is not JSON");
	return read_answer(root, ret, err);
}

void dw_hook_ask(const struct dw_hook *hook, const char *json, size_t len,
                 struct dw_hook_answer *ret)
{
	char detail[DW_HOOK_REASON_MAX], text[2 * DW_ERROR_TEXT_MAX];
	struct dw_hook_answer answer = {0};
	struct dw_error err = {0};
	autobuf struct dw_buf out;
	bool ran;

	dw_buf_init(&out, DW_HOOK_ANSWER_MAX);
	ran = dw_hook_run(hook, json, len, &out, detail, &err) == 0;
	if (!ran || dw_hook_answer_parse(out.data, out.len, &answer, &err) < 0) {
		answer = (struct dw_hook_answer){.decision = DW_HOOK_DENY,
		                                 .failed = true};
		/* Callers may see stderr of dewar-hook, not of the operator's program. */
		(void)snprintf(text, sizeof(text), "the operator's check failed: %s",
		               !ran && hook->url && detail[0] != '\0' ? detail
		                                                      : err.text);
		take_line(text, answer.reason);
		take_line(detail, answer.detail);
	}
	*ret = answer;
}
