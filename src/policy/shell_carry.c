/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that run others. For each we know which of its arguments are its own; the
 * first that is not begins the command that it runs. An argument that we cannot read
 * could be anything, so from there on what runs is in doubt.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "policy/shell_read.h"

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

const char *dw_shell_plain_name(const char *name)
{
	static const char *const folders[] = {"/bin/", "/usr/bin/", "/sbin/",
	                                      "/usr/sbin/"};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		size_t len = strlen(folders[i]);

		if (strncmp(name, folders[i], len) == 0 && !strchr(name + len, '/'))
			return name + len;
	}
	return name;
}

static bool is_shell(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		if (strcmp(shells[i], name) == 0)
			return true;
	return false;
}

static bool is_assignment(const char *text)
{
	size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                          "0123456789_");

	return len > 0 && text[len] == '=';
}

static void doubt(struct dw_script *s, uint32_t part, const char *name)
{
	dw_shell_note(s, part, DW_SHELL_DOUBT, "what %s runs cannot be told", name);
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

/* Sets a variable that decides which programs run: read PATH, env LD_PRELOAD=x. */
static void check_set(struct dw_script *s, uint32_t part, const char *text)
{
	size_t len = strcspn(text, "=");

	if (dw_shell_decides(text, len))
		dw_shell_note(s, part, DW_SHELL_ENVIRONMENT,
		              "%.*s decides which programs run", (int)len, text);
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
			/* In the place of a command it is one that nobody knows. */
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
			check_set(s, part, text);
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
		doubt(s, part, c->name);
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
		doubt(s, part, name);
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
			doubt(s, part, name);
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
		doubt(s, part, name);
	else
		run_code(s, part, dw_shell_stdin(s, part), name, "a shell's input");
}

static const struct carrier *find_carrier(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(carriers); i++)
		if (strcmp(carriers[i].name, name) == 0)
			return &carriers[i];
	return NULL;
}

/* Is one of its words a program, or the text of one? */
static bool runs_words(const char *name)
{
	if (!name)
		return true;
	name = dw_shell_plain_name(name);
	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++)
		if (strcmp(interpreters[i].name, name) == 0)
			return true;
	return is_shell(name) || find_carrier(name) || strcmp(name, "busybox") == 0 ||
	       strcmp(name, "{}") == 0 || strcmp(name, "find") == 0;
}

/* find ... -exec COMMAND ; */
static void carry_find(struct dw_script *s, uint32_t part,
                       const struct dw_shell_word *words, size_t n)
{
	static const char *const options[] = {"-exec", "-execdir", "-ok", "-okdir"};

	for (size_t i = 1; i < n; i++) {
		const char *text = words[i].text;
		const char *found = NULL;
		char via[24];
		size_t end = i + 1;

		if (!text || words[i].guessed)
			doubt(s, part, "find");
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
			doubt(s, part, "an alias");
		if (!equals)
			continue;
		code.text = equals + 1;
		run_code(s, part, code, "alias", "alias");
	}
}

/* What takes its command as one text, or in some other way of its own. */
static bool carry_otherwise(struct dw_script *s, uint32_t part, const char *name,
                            const struct dw_shell_word *words, size_t n, uint32_t flags)
{
	struct dw_shell_word code;

	if (is_shell(name)) {
		carry_shell(s, part, name, words, n, flags);
	} else if (strcmp(name, "find") == 0) {
		carry_find(s, part, words, n);
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
			doubt(s, part, name);
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
			doubt(s, part, name);
		else if (option_value(words, n, "-C", &code))
			run_code(s, part, code, name, name);
	} else {
		return false;
	}
	return true;
}

/* env -S 'rm -rf /' is split into words, as a script without quotes would be. */
static bool carry_env_split(struct dw_script *s, uint32_t part,
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

/* The program that an interpreter is given as text. */
static void take_code(struct dw_script *s, struct dw_shell_command *command,
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

static bool reserve(struct dw_script *s)
{
	struct dw_shell *shell = s->shell;
	struct dw_shell_command *list;

	if (shell->n_commands >= DW_SHELL_COMMANDS_MAX) {
		*s->fuel = 0;
		return false;
	}
	if ((shell->n_commands & (shell->n_commands - 1)) != 0)
		return true;
	list = realloc(shell->commands,
	               (shell->n_commands > 0 ? shell->n_commands * 2 : 1) *
	                       sizeof(*list));
	if (!list) {
		*s->no_memory = true;
		return false;
	}
	shell->commands = list;
	return true;
}

void dw_shell_add(struct dw_script *s, uint32_t part, const struct dw_shell_word *words,
                  size_t n, uint32_t flags, const char *via)
{
	struct dw_shell_command command = {.flags = flags, .via = via ? via : s->via};
	const struct carrier *carrier;
	const char *name;
	size_t at;
	bool carries = false;

	if (n == 0 || *s->fuel < n || s->depth >= 32) {
		if (n > 0)
			*s->fuel = 0;
		return;
	}
	*s->fuel -= n;
	command.name = words[0];
	command.n_args = n - 1;
	dw_shell_place(s, part, &command.line, &command.column);
	command.args = (struct dw_shell_word *)(void *)dw_shell_keep(s,
	                                                             (const char *)words,
	                                                             n * sizeof(*words));
	if (!command.args || !reserve(s))
		return;
	command.args++;
	at = s->shell->n_commands++;
	s->shell->commands[at] = command;
	if (!command.name.text || command.name.pattern || command.name.guessed)
		dw_shell_note(s, part, DW_SHELL_DOUBT,
		              "which command this is cannot be told%s",
		              command.name.text ? " for certain" : "");
	if (!command.name.text)
		return;

	name = dw_shell_plain_name(command.name.text);
	s->depth++;
	take_code(s, &command, name, words, n);
	s->shell->commands[at] = command;
	carrier = find_carrier(name);
	if (strcmp(name, "read") == 0 || strcmp(name, "printf") == 0 ||
	    strcmp(name, "mapfile") == 0 || strcmp(name, "getopts") == 0 ||
	    strcmp(name, "readarray") == 0)
		for (size_t i = 1; i < n; i++)
			if (words[i].text)
				check_set(s, part, words[i].text);
	if (strcmp(name, "cd") == 0 || strcmp(name, "pushd") == 0 ||
	    strcmp(name, "popd") == 0)
		s->shell->changes_folder = true;
	if (strcmp(name, "env") == 0 && carry_env_split(s, part, words, n)) {
		carries = true;
	} else if (carrier) {
		carry(s, part, carrier, words, n, flags);
		carries = true;
	} else {
		carries = carry_otherwise(s, part, name, words, n, flags);
	}
	if (carries)
		s->shell->commands[at].flags |= DW_SHELL_CARRIER;
	s->depth--;
}
