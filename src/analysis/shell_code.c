/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that are given a text to run: shells, eval, trap, and other languages. */
#include "analysis/shell_read.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* Shells, and which other programs take a program as an argument. */
static const struct {
	const char *name;
	const char *option;
} interpreters[] = {
	{"python", "-c"},    {"python2", "-c"}, {"python3", "-c"},  {"pypy3", "-c"},
	{"node", "-e"},      {"nodejs", "-e"},  {"node", "--eval"}, {"node", "-p"},
	{"node", "--print"}, {"ruby", "-e"},    {"php", "-r"},      {"perl", "-e"},
	{"perl", "-E"},      {"lua", "-e"},
};

static const char *const shells[] = {"ash",   "bash", "dash", "ksh", "mksh",
                                     "rbash", "sh",   "yash", "zsh"};

static bool is_shell(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		if (strcmp(shells[i], name) == 0)
			return true;
	return false;
}

bool dw_shell_takes_code(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++)
		if (strcmp(interpreters[i].name, name) == 0)
			return true;
	return is_shell(name);
}

/* Text that a program is given behind an option: -c CODE, -cCODE is not a thing. */
static bool option_value(const struct dw_shell_word *words, size_t n, const char *option,
                         struct dw_shell_word *ret)
{
	for (size_t i = 1; i < n; i++) {
		const char *text = words[i].text;
		size_t len;

		if (!text || text[0] != '-')
			continue;
		if (strcmp(text, option) == 0 ||
		    (option[1] != '-' && text[1] != '-' && (len = strlen(text)) > 1 &&
		     text[len - 1] == option[1])) {
			*ret = i + 1 < n ? words[i + 1] : (struct dw_shell_word){0};
			return true;
		}
	}
	return false;
}

static void run_code(struct dw_script *s, uint32_t part, struct dw_shell_word code,
                     const char *name, const char *via)
{
	if (!code.text)
		dw_shell_doubt(s, part, name);
	else
		dw_shell_inner(s, part, code, via);
}

/* sh -c CODE, sh FILE, or sh that reads its program from somewhere. */
static void carry_shell(struct dw_script *s, uint32_t part, const char *name,
                        const struct dw_shell_word *words, size_t n, uint32_t flags)
{
	char via[32];

	(void)snprintf(via, sizeof(via), "%s -c", name);
	for (size_t i = 1; i < n; i++) {
		const char *text = words[i].text;

		if (!text) {
			dw_shell_doubt(s, part, name);
			return;
		}
		if (strcmp(text, "--version") == 0 || strcmp(text, "--help") == 0)
			return;
		if (strcmp(text, "--rcfile") == 0 || strcmp(text, "--init-file") == 0 ||
		    strcmp(text, "-o") == 0 || strcmp(text, "+o") == 0 ||
		    strcmp(text, "-O") == 0) {
			i++;
			continue;
		}
		if (text[0] == '-' && text[1] != '-' && strchr(text, 'c')) {
			/* Options may stand between -c and the code. */
			while (i + 1 < n && words[i + 1].text &&
			       (words[i + 1].text[0] == '-' ||
			        words[i + 1].text[0] == '+'))
				i++;
			run_code(s, part,
			         i + 1 < n ? words[i + 1] : (struct dw_shell_word){0},
			         name, via);
			return;
		}
		if (text[0] == '-' && strchr(text, 's') && text[1] != '-')
			break;
		/* -euo pipefail */
		if (text[0] == '-' && text[1] != '-' && text[strlen(text) - 1] == 'o')
			i++;
		if (text[0] == '-' || text[0] == '+')
			continue;
		/* /dev/stdin and - are as good as no file. */
		if (strcmp(text, "/dev/stdin") == 0)
			break;
		dw_shell_note(s, part, DW_SHELL_SOURCE, "%s runs the file %.100s", name,
		              text);
		return;
	}
	if (flags & DW_SHELL_MORE)
		dw_shell_doubt(s, part, name);
	else
		run_code(s, part, dw_shell_stdin(s, part), name, "a shell's input");
}

/* eval A B: all of them, with blanks between, are the code. */
static struct dw_shell_word joined(struct dw_script *s, const struct dw_shell_word *words,
                                   size_t n)
{
	struct dw_shell_word all = {0};
	char text[8192];
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		size_t more;

		if (!words[i].text)
			return (struct dw_shell_word){0};
		more = strlen(words[i].text);
		if (len + more + 2 > sizeof(text))
			return (struct dw_shell_word){0};
		if (i > 0)
			text[len++] = ' ';
		memcpy(text + len, words[i].text, more);
		len += more;
		all.guessed = all.guessed || words[i].guessed;
	}
	all.text = dw_shell_keep(s, text, len);
	return all;
}

/* trap 'CODE' EXIT, but not trap - EXIT, trap "" INT, trap -p. */
static void carry_trap(struct dw_script *s, uint32_t part,
                       const struct dw_shell_word *words, size_t n)
{
	size_t i = 1;

	if (i < n && words[i].text && strcmp(words[i].text, "--") == 0)
		i++;
	if (i >= n ||
	    (words[i].text && (words[i].text[0] == '-' || words[i].text[0] == '\0')))
		return;
	run_code(s, part, words[i], "trap", "trap");
}

/* alias x='CODE' */
static void carry_alias(struct dw_script *s, uint32_t part,
                        const struct dw_shell_word *words, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct dw_shell_word code = words[i];
		const char *equals = code.text ? strchr(code.text, '=') : NULL;

		if (!code.text)
			dw_shell_doubt(s, part, "an alias");
		if (!equals)
			continue;
		code.text = equals + 1;
		run_code(s, part, code, "alias", "alias");
	}
}

bool dw_shell_carry_code(struct dw_script *s, uint32_t part, const char *name,
                         const struct dw_shell_word *words, size_t n, uint32_t flags)
{
	struct dw_shell_word code;

	if (is_shell(name)) {
		carry_shell(s, part, name, words, n, flags);
	} else if (strcmp(name, "find") == 0) {
		dw_shell_carry_find(s, part, words, n);
		return false;
	} else if (strcmp(name, "eval") == 0) {
		dw_shell_note(s, part, DW_SHELL_EVAL, "eval runs text as code");
		if (n > 1)
			run_code(s, part, joined(s, words + 1, n - 1), "eval", "eval");
	} else if (strcmp(name, "trap") == 0) {
		carry_trap(s, part, words, n);
	} else if (strcmp(name, "alias") == 0) {
		carry_alias(s, part, words, n);
	} else if (strcmp(name, "source") == 0 || strcmp(name, ".") == 0) {
		dw_shell_note(s, part, DW_SHELL_SOURCE, "%s runs the file %.100s", name,
		              n > 1 && words[1].text ? words[1].text : "?");
	} else if (strcmp(name, "su") == 0 || strcmp(name, "script") == 0 ||
	           strcmp(name, "flock") == 0) {
		if (option_value(words, n, "-c", &code))
			run_code(s, part, code, name, name);
		else if (strcmp(name, "flock") == 0 && n > 2)
			dw_shell_add(s, part, words + 2, n - 2, DW_SHELL_CARRIED,
			             "flock");
		else
			dw_shell_doubt(s, part, name);
	} else if (strcmp(name, "watch") == 0) {
		size_t i = 1;

		while (i < n && words[i].text && words[i].text[0] == '-')
			i += strcmp(words[i].text, "-n") == 0 ? 2 : 1;
		if (i < n)
			run_code(s, part, joined(s, words + i, n - i), name, name);
	} else if (strcmp(name, "busybox") == 0 || strcmp(name, "toybox") == 0) {
		if (n > 1)
			dw_shell_add(s, part, words + 1, n - 1,
			             DW_SHELL_CARRIED | (flags & DW_SHELL_MORE),
			             dw_shell_keep(s, name, strlen(name)));
	} else if (strcmp(name, "parallel") == 0 || strcmp(name, "at") == 0 ||
	           strcmp(name, "batch") == 0 || strcmp(name, "crontab") == 0 ||
	           strcmp(name, "ssh") == 0 || strcmp(name, "coproc") == 0 ||
	           strcmp(name, "expect") == 0 || strcmp(name, "make") == 0 ||
	           strcmp(name, "mapfile") == 0 || strcmp(name, "readarray") == 0) {
		/* coproc { ...; } and coproc NAME { ...; } are no words, but a group. */
		bool group = (n > 1 &&
		              (!words[1].text || strpbrk(words[1].text, "{("))) ||
		             (n > 2 && (!words[2].text || strpbrk(words[2].text, "{(")));

		if (strcmp(name, "coproc") == 0 && n > 1 && !group)
			dw_shell_add(s, part, words + 1, n - 1, DW_SHELL_CARRIED,
			             "coproc");
		else if (strcmp(name, "mapfile") != 0 && strcmp(name, "readarray") != 0)
			dw_shell_doubt(s, part, name);
		else if (option_value(words, n, "-C", &code))
			run_code(s, part, code, name, name);
	} else {
		return false;
	}
	return true;
}

bool dw_shell_carry_split(struct dw_script *s, uint32_t part,
                          const struct dw_shell_word *words, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct dw_shell_word code = words[i];

		if (!code.text || code.text[0] != '-')
			return false;
		if (strncmp(code.text, "--split-string=", 15) == 0)
			code.text += 15;
		else if (strcmp(code.text, "-S") == 0 ||
		         strcmp(code.text, "--split-string") == 0)
			code = i + 1 < n ? words[i + 1] : (struct dw_shell_word){0};
		else if (strncmp(code.text, "-S", 2) == 0)
			code.text += 2;
		else
			continue;
		run_code(s, part, code, "env", "env -S");
		return true;
	}
	return false;
}

void dw_shell_take_code(struct dw_script *s, struct dw_shell_command *command,
                        const char *name, const struct dw_shell_word *words, size_t n)
{
	struct dw_shell_word code;

	(void)s;
	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++) {
		if (strcmp(interpreters[i].name, name) != 0 ||
		    !option_value(words, n, interpreters[i].option, &code))
			continue;
		command->flags |= DW_SHELL_CODE;
		command->code = code.text;
		return;
	}
}
