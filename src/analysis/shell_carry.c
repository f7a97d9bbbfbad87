/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that run others. For each we know which of its arguments are its own; the
 * first that is not begins the command that it runs. An argument that we cannot read
 * could be anything, so from there on what runs is in doubt.
 */
#include "analysis/shell_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

struct carrier {
	const char *name;
	const char *letters;  /* short options that take an argument */
	const char *longs[8]; /* long ones that take one behind a blank; ends in NULL */
	unsigned own;         /* arguments of its own before the command */
	bool assigns;         /* NAME=VALUE may stand before the command */
	bool more;            /* the command gets further arguments */
};

static const struct carrier carriers[] = {
	{.name = "builtin", .letters = ""},
	{.name = "chroot", .letters = "", .own = 1},
	{.name = "chrt", .letters = "TPD", .own = 1},
	{.name = "command", .letters = ""},
	{.name = "doas", .letters = "uC", .assigns = true},
	{.name = "env", .letters = "uC", .longs = {"--unset", "--chdir"}, .assigns = true},
	{.name = "exec", .letters = "a"},
	{.name = "fakeroot", .letters = "lsib"},
	{.name = "ionice", .letters = "cnpPu", .longs = {"--class", "--classdata"}},
	{.name = "ltrace", .letters = "aeopsSu"},
	{.name = "nice", .letters = "n", .longs = {"--adjustment"}},
	{.name = "nohup", .letters = ""},
	{.name = "nsenter", .letters = "tSG", .longs = {"--target"}},
	{.name = "numactl", .letters = "imNCp"},
	{.name = "perf", .letters = "eop", .own = 1},
	{.name = "pkexec", .letters = "", .longs = {"--user"}},
	{.name = "rlwrap", .letters = "bcCfHmOpPqstz"},
	{.name = "runuser", .letters = "ugGs"},
	{.name = "setarch", .letters = "", .own = 1},
	{.name = "setpriv",
         .letters = "",
         .longs = {"--reuid", "--regid", "--groups", "--inh-caps", "--bounding-set"}},
	{.name = "setsid", .letters = ""},
	{.name = "stdbuf", .letters = "ioe", .longs = {"--input", "--output", "--error"}},
	{.name = "strace", .letters = "aeEbIoOpPsSuX"},
	{.name = "sudo",
         .letters = "ugCDhpRTrt",
         .longs = {"--user", "--group", "--host", "--prompt", "--chdir"},
         .assigns = true},
	{.name = "systemd-run", .letters = "pEHM", .longs = {"--unit", "--property"}},
	{.name = "taskset", .letters = "", .own = 1},
	{.name = "time", .letters = "fo", .longs = {"--format", "--output"}},
	{.name = "timeout",
         .letters = "ks",
         .longs = {"--kill-after", "--signal"},
         .own = 1},
	{.name = "unshare", .letters = "SGRw"},
	{.name = "valgrind", .letters = ""},
	{.name = "xargs",
         .letters = "adEILnPs",
         .longs = {"--arg-file", "--delimiter", "--max-lines", "--max-args",
                   "--max-procs", "--max-chars"},
         .more = true},
};

static bool is_assignment(const char *text)
{
	size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                          "0123456789_");

	return len > 0 && text[len] == '=';
}

/* How many words an option takes: itself, and its argument if that stands apart. */
static size_t option_words(const struct carrier *c, const char *text)
{
	const char *p;

	if (text[1] == '-') {
		for (size_t i = 0; i < ARRAY_SIZE(c->longs) && c->longs[i]; i++)
			if (strcmp(c->longs[i], text) == 0)
				return 2;
		return 1;
	}
	/* The first letter that takes an argument takes the rest, or the next word. */
	p = text + 1 + strcspn(text + 1, c->letters);
	return *p != '\0' && p[1] == '\0' ? 2 : 1;
}

/* Words with a mark in them are not known before the carrier has put something there. */
static void carry_marked(struct dw_script *s, uint32_t part,
                         const struct dw_shell_word *words, size_t n, const char *mark,
                         uint32_t flags, const char *via)
{
	struct dw_shell_word *copy = calloc(n, sizeof(*copy));

	if (!copy) {
		*s->no_memory = true;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		copy[i] = words[i];
		if (copy[i].text && strstr(copy[i].text, mark))
			copy[i].text = NULL;
	}
	dw_shell_add(s, part, copy, n, flags, via);
	free(copy);
}

/* The rest of a carrier's words is a command. */
static void carry(struct dw_script *s, uint32_t part, const struct carrier *c,
                  const struct dw_shell_word *words, size_t n, uint32_t flags)
{
	uint32_t carried = DW_SHELL_CARRIED | (flags & DW_SHELL_MORE) |
	                   (c->more ? (uint32_t)DW_SHELL_MORE : 0);
	const char *mark = NULL; /* what xargs -I puts its input in the place of */
	unsigned own = c->own;
	size_t i = 1;

	while (i < n) {
		const char *text = words[i].text;

		if (!text) {
			/* An unknown word where a command is expected: an unknown command. */
			if (own == 0)
				break;
			own--;
			i++;
			continue;
		}
		if (strcmp(text, "--") == 0 && own == c->own) {
			i++;
			while (own > 0 && i < n) {
				own--;
				i++;
			}
			break;
		}
		if (text[0] == '-' && text[1] != '\0') {
			/* command -v only asks. */
			if (strcmp(c->name, "command") == 0 && strpbrk(text, "vV"))
				return;
			if (c->more && strncmp(text, "-I", 2) == 0)
				mark = text[2] != '\0' ? text + 2
				       : i + 1 < n     ? words[i + 1].text
				                       : NULL;
			else if (c->more &&
			         (text[1] == 'i' || strncmp(text, "--rep", 5) == 0))
				mark = strchr(text, '=') ? strchr(text, '=') + 1
				       : text[1] == 'i' && text[2] != '\0' ? text + 2
				                                           : "{}";
			i += option_words(c, text);
			continue;
		}
		if (c->assigns && is_assignment(text)) {
			dw_shell_sets(s, part, text, strcspn(text, "="));
			i++;
			continue;
		}
		if (own == 0)
			break;
		own--;
		i++;
	}
	if (i < n && mark && *mark != '\0')
		carry_marked(s, part, words + i, n - i, mark, carried, c->name);
	else if (i < n)
		dw_shell_add(s, part, words + i, n - i, carried, c->name);
	else if (flags & DW_SHELL_MORE)
		dw_shell_doubt(s, part, c->name);
}

static const struct carrier *find_carrier(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(carriers); i++)
		if (strcmp(carriers[i].name, name) == 0)
			return &carriers[i];
	return NULL;
}

bool dw_shell_carry(struct dw_script *s, uint32_t part, const char *name,
                    const struct dw_shell_word *words, size_t n, uint32_t flags)
{
	const struct carrier *c = find_carrier(name);

	if (!c)
		return false;
	carry(s, part, c, words, n, flags);
	return true;
}

/* Is one of its words a program, or the text of one? */
static bool runs_words(const char *name)
{
	if (!name)
		return true;
	name = dw_shell_plain_name(name);
	return dw_shell_takes_code(name) || find_carrier(name) ||
	       strcmp(name, "busybox") == 0 || strcmp(name, "{}") == 0 ||
	       strcmp(name, "find") == 0;
}

void dw_shell_carry_find(struct dw_script *s, uint32_t part,
                         const struct dw_shell_word *words, size_t n)
{
	static const char *const options[] = {"-exec", "-execdir", "-ok", "-okdir"};

	for (size_t i = 1; i < n; i++) {
		const char *text = words[i].text;
		const char *found = NULL;
		char via[24];
		size_t end = i + 1;

		if (!text || words[i].guessed)
			dw_shell_doubt(s, part, "find");
		for (size_t k = 0; text && k < ARRAY_SIZE(options); k++)
			if (strcmp(text, options[k]) == 0)
				found = options[k];
		if (!found)
			continue;
		while (end < n &&
		       (!words[end].text || (strcmp(words[end].text, ";") != 0 &&
		                             strcmp(words[end].text, "+") != 0)))
			end++;
		(void)snprintf(via, sizeof(via), "find %s", found);
		/* A path in the place of {} is no option, but it may be a program. */
		if (end > i + 1 && !runs_words(words[i + 1].text))
			dw_shell_add(s, part, words + i + 1, end - i - 1,
			             DW_SHELL_CARRIED | DW_SHELL_MORE,
			             dw_shell_keep(s, via, strlen(via)));
		else if (end > i + 1)
			carry_marked(s, part, words + i + 1, end - i - 1, "{}",
			             DW_SHELL_CARRIED | DW_SHELL_MORE,
			             dw_shell_keep(s, via, strlen(via)));
		i = end;
	}
}
