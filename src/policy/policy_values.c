/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/values.h"
#include "dewar/dewar.h"
#include "policy/policy_own.h"
#include "request/request.h"

const char *const dw_policy_door_words[] = {"cli", "http", "mcp", NULL};

#define NAME_MAX_LEN 64U
#define TEXT_MAX_LEN 200U

const char *const dw_says_names[] = {
	[DW_SAYS_NOTHING] = "", [DW_SAYS_ALLOW] = "allow", [DW_SAYS_DENY] = "deny",
	[DW_SAYS_ASK] = "ask",  [DW_SAYS_RAISE] = "raise",
};
_Static_assert(ARRAY_SIZE(dw_says_names) == DW_SAYS_COUNT, "a name for each");

int dw_policy_level(const char *name, size_t len)
{
	const char *const *names = dw_level_names();

	for (int i = 0; names[i]; i++)
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return i;
	return -1;
}

/* ---- checks of single values ---- */

static bool is_pattern(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

/* The value is shown in records, logs and results, so it must be one line. */
int dw_policy_check_line(const void *base, const char *text, struct dw_error *err)
{
	(void)base;
	if (strlen(text) > TEXT_MAX_LEN)
		return dw_fail(err, DW_E_INVALID, 0, "is longer than %u bytes",
		               TEXT_MAX_LEN);
	for (const char *p = text; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return dw_fail(err, DW_E_INVALID, 0, "must be one line");
	return 0;
}

int dw_policy_check_name(const void *base, const char *text, struct dw_error *err)
{
	(void)base;
	if (strlen(text) > NAME_MAX_LEN || strcmp(text, "default") == 0)
		return dw_fail(err, DW_E_INVALID, 0,
		               "must not be \"default\", and have at most %u bytes",
		               NAME_MAX_LEN);
	for (const char *p = text; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && !strchr("-_.", *p))
			return dw_fail(err, DW_E_INVALID, 0,
			               "must be a word of letters, digits, -, _ and .");
	return 0;
}

int dw_policy_check_level(const void *base, const char *text, struct dw_error *err)
{
	(void)base;
	return dw_choose(NULL, text, dw_level_names(), err) < 0 ? -1 : 0;
}

int dw_policy_check_language(const void *base, const char *text, struct dw_error *err)
{
	const char *name = dw_language_name(text);

	(void)base;
	if (is_pattern(text) || (name && strcmp(name, text) == 0))
		return 0;
	if (name)
		return dw_fail(err, DW_E_INVALID, 0, "must be %s, not \"%.64s\"", name,
		               text);
	return dw_language_check(text, err);
}

/* A pattern with an unknown family could never match a finding. */
int dw_policy_check_finding(const void *base, const char *text, struct dw_error *err)
{
	static const char *const families[] = {
		"import",  "builtin",  "dynamic",  "reflection", "shell",  "delete",
		"network", "native",   "loop",     "privilege",  "syntax", "analysis",
		"command", "argument", "redirect", "undecided",  NULL,
	};
	size_t len = strcspn(text, ":");
	char family[NAME_MAX_LEN];

	(void)base;
	if (strcspn(text, "*?[") < len)
		return 0;
	if (text[len] != ':' || len >= sizeof(family))
		return dw_fail(err, DW_E_INVALID, 0,
		               "\"%.64s\" is not FAMILY:NAME, as in import:os or shell:*",
		               text);
	(void)snprintf(family, sizeof(family), "%.*s", (int)len, text);
	return dw_choose("the family", family, families, err) < 0 ? -1 : 0;
}

int dw_policy_check_folder(const void *base, const char *text, struct dw_error *err)
{
	(void)base;
	if (text[0] != '/' || strstr(text, "/../"))
		return dw_fail(
			err, DW_E_INVALID, 0,
			"must be a path in the cell that begins with /, not \"%.64s\"",
			text);
	return 0;
}

int dw_policy_check_url(const void *base, const char *text, struct dw_error *err)
{
	(void)base;
	if (strncmp(text, "http://", 7) != 0 && strncmp(text, "https://", 8) != 0)
		return dw_fail(
			err, DW_E_INVALID, 0,
			"must be a URL that begins with https:// or http://, not \"%.64s\"",
			text);
	return 0;
}

/* ---- values that are converted ---- */

static int take_says(const char *const *words, size_t n, size_t last, enum dw_says *ret,
                     struct dw_error *err)
{
	const char *names[DW_SAYS_COUNT] = {0};
	int chosen;

	for (size_t i = DW_SAYS_ALLOW; i <= last; i++)
		names[i - DW_SAYS_ALLOW] = dw_says_names[i];
	if (n != 1)
		return dw_fail(err, DW_E_INVALID, 0, "must be one word");
	chosen = dw_choose(NULL, words[0], names, err);
	if (chosen < 0)
		return -1;
	*ret = DW_SAYS_ALLOW + (unsigned)chosen;
	return 0;
}

int dw_policy_take_decision(void *base, const char *const *words, size_t n,
                            struct dw_error *err)
{
	struct dw_policy_rule *rule = base;

	return take_says(words, n, DW_SAYS_RAISE, &rule->says, err);
}

int dw_policy_take_default(void *base, const char *const *words, size_t n,
                           struct dw_error *err)
{
	struct dw_policy_settings *own = base;

	return take_says(words, n, DW_SAYS_ASK, &own->otherwise, err);
}

static int take_maybe(const char *const *words, size_t n, enum dw_maybe *ret,
                      struct dw_error *err)
{
	if (n != 1 || (strcmp(words[0], "true") != 0 && strcmp(words[0], "false") != 0))
		return dw_fail(err, DW_E_INVALID, 0, "must be true or false");
	*ret = strcmp(words[0], "true") == 0 ? DW_MAYBE_YES : DW_MAYBE_NO;
	return 0;
}

int dw_policy_take_workspace(void *base, const char *const *words, size_t n,
                             struct dw_error *err)
{
	return take_maybe(words, n, &((struct dw_when *)base)->workspace, err);
}

int dw_policy_take_writable(void *base, const char *const *words, size_t n,
                            struct dw_error *err)
{
	return take_maybe(words, n, &((struct dw_when *)base)->writable, err);
}

int dw_compare_parse(const char *text, char ret_op[3], uint64_t *ret_value,
                     struct dw_error *err)
{
	size_t len = strspn(text, "<>=");

	if (len == 0 || len > 2 || text[0] == '=' || (len == 2 && text[1] != '='))
		return dw_fail(err, DW_E_INVALID, 0,
		               "must be \"> N\", \">= N\", \"< N\" or \"<= N\", with its "
		               "quotes");
	(void)snprintf(ret_op, 3, "%.*s", (int)len, text);
	return dw_parse_uint(text + len + strspn(text + len, " "), UINT32_MAX, ret_value,
	                     err);
}

int dw_policy_check_compare(const void *base, const char *text, struct dw_error *err)
{
	uint64_t value;
	char op[3];

	(void)base;
	return dw_compare_parse(text, op, &value, err);
}

int dw_policy_check_profile(const void *base, const char *text, struct dw_error *err)
{
	const char *names[8] = {0};

	(void)base;
	for (size_t i = 0; i < ARRAY_SIZE(names) - 1; i++)
		names[i] = dw_policy_profile(i, NULL, NULL);
	return dw_choose(NULL, text, names, err) < 0 ? -1 : 0;
}

int dw_policy_check_command(const void *base, const char *text, struct dw_error *err)
{
	bool plain = strlen(text) <= NAME_MAX_LEN && strcmp(text, ".") != 0 &&
	             strcmp(text, "..") != 0;

	(void)base;
	for (const char *p = text; *p != '\0' && plain; p++)
		plain = isgraph((unsigned char)*p) && !strchr("/*?[", *p);
	if (plain)
		return 0;
	return dw_fail(err, DW_E_INVALID, 0,
	               "\"%.64s\" is not the plain name of a program", text);
}

/* Accept what requests accept: "json", "os.path", "node:fs", "@scope/package". */
int dw_policy_check_module(const void *base, const char *text, struct dw_error *err)
{
	size_t len = strlen(text);
	bool plain = len <= 128 && !strchr("./", text[0]) &&
	             !strchr("./", text[len - 1]) && !strstr(text, "..");

	(void)base;
	for (const char *p = text; *p != '\0' && plain; p++)
		plain = isalnum((unsigned char)*p) || strchr("_.-:@/", *p) ||
		        (unsigned char)*p >= 0x80;
	if (plain)
		return 0;
	return dw_fail(err, DW_E_INVALID, 0, "\"%.64s\" is not the name of a module",
	               text);
}
