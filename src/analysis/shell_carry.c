/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that run others, or run code from a string: nice, find, shells, eval, trap.
 * For each, a table says which arguments are its own; the next one begins the command
 * that it runs. If an argument is unknown, it may be anything, so the command is in
 * doubt.
 */
#include "analysis/shell_read.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"

/* A command that may run others. */
struct call {
	struct dw_script *s;
	uint32_t part;
	const char *name; /* without folders */
	const struct dw_shell_word *words;
	size_t n;
	uint32_t flags;
};

struct carrier {
	const char *names;
	const char *letters; /* short options that take an argument */
	const char *longs;   /* words: long ones with a separate argument; or NULL */
	unsigned own;        /* arguments of its own before the command */
	bool assigns;        /* NAME=VALUE may stand before the command */
	bool more;           /* the command gets further arguments */
};

static const struct carrier carriers[] = {
	{.names = " builtin command nohup setsid valgrind ", .letters = ""},
	{.names = " chroot setarch taskset ", .letters = "", .own = 1},
	{.names = " chrt ", .letters = "TPD", .own = 1},
	{.names = " doas ", .letters = "uC", .assigns = true},
	{.names = " env ", .letters = "uC", .longs = " --unset --chdir ", .assigns = true},
	{.names = " exec ", .letters = "a"},
	{.names = " fakeroot ", .letters = "lsib"},
	{.names = " ionice ", .letters = "cnpPu", .longs = " --class --classdata "},
	{.names = " ltrace ", .letters = "aeopsSu"},
	{.names = " nice ", .letters = "n", .longs = " --adjustment "},
	{.names = " nsenter ", .letters = "tSG", .longs = " --target "},
	{.names = " numactl ", .letters = "imNCp"},
	{.names = " perf ", .letters = "eop", .own = 1},
	{.names = " pkexec ", .letters = "", .longs = " --user "},
	{.names = " rlwrap ", .letters = "bcCfHmOpPqstz"},
	{.names = " runuser ", .letters = "ugGs"},
	{.names = " setpriv ",
         .letters = "",
         .longs = " --reuid --regid --groups --inh-caps --bounding-set "},
	{.names = " stdbuf ", .letters = "ioe", .longs = " --input --output --error "},
	{.names = " strace ", .letters = "aeEbIoOpPsSuX"},
	{.names = " sudo ",
         .letters = "ugCDhpRTrt",
         .longs = " --user --group --host --prompt --chdir ",
         .assigns = true},
	{.names = " systemd-run ", .letters = "pEHM", .longs = " --unit --property "},
	{.names = " time ", .letters = "fo", .longs = " --format --output "},
	{.names = " timeout ",
         .letters = "ks",
         .longs = " --kill-after --signal ",
         .own = 1},
	{.names = " unshare ", .letters = "SGRw"},
	{.names = " xargs ",
         .letters = "adEILnPs",
         .longs =
                 " --arg-file --delimiter --max-lines --max-args --max-procs --max-chars ",
         .more = true},
};

static bool is_assignment(const char *text)
{
	size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                          "0123456789_");

	return len > 0 && text[len] == '=';
}

/* The number of words of an option: 2 if its argument is the next word, otherwise 1. */
static size_t option_words(const struct carrier *c, const char *text)
{
	const char *p;

	if (text[1] == '-')
		return c->longs && dw_is_any(text, c->longs) ? 2 : 1;
	/* The first letter with an argument takes the rest, or the next word. */
	p = text + 1 + strcspn(text + 1, c->letters);
	return *p != '\0' && p[1] == '\0' ? 2 : 1;
}

/* Add the command that consists of the words from first on, up to past. */
static void add_words(const struct call *c, size_t first, size_t past, uint32_t flags,
                      const char *via)
{
	dw_shell_add(c->s, c->part, c->words + first, past - first,
	             DW_SHELL_CARRIED | flags, via);
}

/* The same, where the carrier replaces the mark: words that contain it are unknown. */
static void add_marked(const struct call *c, size_t first, size_t past, const char *mark,
                       uint32_t flags, const char *via)
{
	autofree struct dw_shell_word *copy = calloc(past, sizeof(*copy));
	struct call marked = *c;

	if (!copy) {
		*c->s->no_memory = true;
		return;
	}
	for (size_t i = first; i < past; i++) {
		copy[i] = c->words[i];
		if (copy[i].text && strstr(copy[i].text, mark))
			copy[i].text = NULL;
	}
	marked.words = copy;
	add_words(&marked, first, past, flags, via);
}

/* The replacement string of xargs, if word i sets one (-I, -i, --replace); else mark. */
static const char *mark_of(const struct call *c, size_t i, const char *mark)
{
	const char *text = c->words[i].text;

	if (strncmp(text, "-I", 2) == 0)
		return text[2] != '\0' ? text + 2
		       : i + 1 < c->n  ? c->words[i + 1].text
		                       : NULL;
	if (text[1] != 'i' && strncmp(text, "--rep", 5) != 0)
		return mark;
	return strchr(text, '=')                   ? strchr(text, '=') + 1
	       : text[1] == 'i' && text[2] != '\0' ? text + 2
	                                           : "{}";
}

/* Add the command after the carrier's own words: nice -n 5 COMMAND. */
static void carry(const struct call *c, const struct carrier *carrier)
{
	uint32_t more = (c->flags & DW_SHELL_MORE) |
	                (carrier->more ? (uint32_t)DW_SHELL_MORE : 0);
	const char *mark = NULL;
	unsigned own = carrier->own;
	size_t i;

	for (i = 1; i < c->n; i++) {
		const char *text = c->words[i].text;

		if (text && strcmp(text, "--") == 0 && own == carrier->own) {
			i += 1 + own;
			break;
		}
		if (text && text[0] == '-' && text[1] != '\0') {
			/* command -v runs nothing. */
			if (strcmp(c->name, "command") == 0 && strpbrk(text, "vV"))
				return;
			if (carrier->more)
				mark = mark_of(c, i, mark);
			i += option_words(carrier, text) - 1;
			continue;
		}
		if (text && carrier->assigns && is_assignment(text)) {
			dw_shell_sets(c->s, c->part, text, strcspn(text, "="));
			continue;
		}
		/* The command begins here, even if the word is unknown. */
		if (own == 0)
			break;
		own--;
	}
	if (i < c->n && mark && *mark != '\0')
		add_marked(c, i, c->n, mark, more, c->name);
	else if (i < c->n)
		add_words(c, i, c->n, more, c->name);
	else if (c->flags & DW_SHELL_MORE)
		dw_shell_doubt(c->s, c->part, c->name);
}

static const struct carrier *find_carrier(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(carriers); i++)
		if (dw_is_any(name, carriers[i].names))
			return &carriers[i];
	return NULL;
}

static const char shells[] = " ash bash dash ksh mksh rbash sh yash zsh ";

/* Other programs that take a program as an argument. */
static const struct {
	const char *names;
	const char *option;
} interpreters[] = {
	{" python python2 python3 pypy3 ", "-c"},
	{" node nodejs ruby perl lua ", "-e"},
	{" node ", "--eval"},
	{" node ", "-p"},
	{" node ", "--print"},
	{" php ", "-r"},
	{" perl ", "-E"},
};

/* Returns true if the command may run one of its words as a program or as code. */
static bool runs_words(const char *name)
{
	if (!name)
		return true;
	name = dw_shell_plain_name(name);
	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++)
		if (dw_is_any(name, interpreters[i].names))
			return true;
	return dw_is_any(name, shells) || find_carrier(name) ||
	       dw_is_any(name, " busybox {} find ");
}

/* find ... -exec COMMAND ; */
static void carry_find(const struct call *c)
{
	for (size_t i = 1; i < c->n; i++) {
		const char *text = c->words[i].text, *kept;
		char via[24];
		size_t end = i + 1;

		if (!text || c->words[i].guessed)
			dw_shell_doubt(c->s, c->part, "find");
		if (!text || !dw_is_any(text, " -exec -execdir -ok -okdir "))
			continue;
		while (end < c->n &&
		       (!c->words[end].text || !dw_is_any(c->words[end].text, " ; + ")))
			end++;
		(void)snprintf(via, sizeof(via), "find %s", text);
		kept = dw_shell_keep(c->s, via, strlen(via));
		/* A path in place of {} is not an option, but may be run. */
		if (end > i + 1 && !runs_words(c->words[i + 1].text))
			add_words(c, i + 1, end, DW_SHELL_MORE, kept);
		else if (end > i + 1)
			add_marked(c, i + 1, end, "{}", DW_SHELL_MORE, kept);
		i = end;
	}
}

/* Find the word after an option, also after a group of letters: -c CODE, -uc CODE. */
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

void dw_shell_take_code(struct dw_shell_command *command, const char *name,
                        const struct dw_shell_word *words, size_t n)
{
	struct dw_shell_word code;

	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++) {
		if (!dw_is_any(name, interpreters[i].names) ||
		    !option_value(words, n, interpreters[i].option, &code))
			continue;
		command->flags |= DW_SHELL_CODE;
		command->code = code.text;
		return;
	}
}

static void run_code(const struct call *c, struct dw_shell_word code, const char *via)
{
	if (!code.text)
		dw_shell_doubt(c->s, c->part, c->name);
	else
		dw_shell_inner(c->s, c->part, code, via);
}

/* The word at index i; an unknown word past the end. */
static struct dw_shell_word word_at(const struct call *c, size_t i)
{
	return i < c->n ? c->words[i] : (struct dw_shell_word){0};
}

/* sh -c CODE, sh FILE, or sh that reads its program from somewhere. */
static void carry_shell(const struct call *c)
{
	char via[32];

	(void)snprintf(via, sizeof(via), "%s -c", c->name);
	for (size_t i = 1; i < c->n; i++) {
		const char *text = c->words[i].text, *next;
		bool letters;

		if (!text) {
			dw_shell_doubt(c->s, c->part, c->name);
			return;
		}
		if (dw_is_any(text, " --version --help "))
			return;
		if (dw_is_any(text, " --rcfile --init-file -o +o -O ")) {
			i++;
			continue;
		}
		letters = text[0] == '-' && text[1] != '-';
		if (letters && strchr(text, 'c')) {
			/* Options may stand between -c and the code. */
			while ((next = word_at(c, i + 1).text) &&
			       (next[0] == '-' || next[0] == '+'))
				i++;
			run_code(c, word_at(c, i + 1), via);
			return;
		}
		if (letters && strchr(text, 's'))
			break;
		/* -euo pipefail */
		if (letters && text[strlen(text) - 1] == 'o')
			i++;
		if (text[0] == '-' || text[0] == '+')
			continue;
		/* With /dev/stdin as its file, the shell reads its input. */
		if (strcmp(text, "/dev/stdin") == 0)
			break;
		dw_shell_note(c->s, c->part, DW_SHELL_SOURCE, "%s runs the file %.100s",
		              c->name, text);
		return;
	}
	if (c->flags & DW_SHELL_MORE)
		dw_shell_doubt(c->s, c->part, c->name);
	else
		run_code(c, dw_shell_stdin(c->s, c->part), "a shell's input");
}

/* eval A B: the code is all words from first on, joined with blanks. */
static void run_joined(const struct call *c, size_t first)
{
	struct dw_shell_word all = {0};
	char text[8192];
	size_t len = 0;

	for (size_t i = first; i < c->n; i++) {
		const char *word = c->words[i].text;
		size_t more = word ? strnlen(word, sizeof(text)) : 0;

		if (!word || len + more + 2 > sizeof(text)) {
			run_code(c, (struct dw_shell_word){0}, c->name);
			return;
		}
		if (i > first)
			text[len++] = ' ';
		memcpy(text + len, word, more);
		len += more;
		all.guessed = all.guessed || c->words[i].guessed;
	}
	all.text = dw_shell_keep(c->s, text, len);
	run_code(c, all, c->name);
}

/* trap 'CODE' EXIT, but not trap - EXIT, trap "" INT, trap -p. */
static void carry_trap(const struct call *c)
{
	size_t i = 1;
	const char *text;

	if (i < c->n && c->words[i].text && strcmp(c->words[i].text, "--") == 0)
		i++;
	text = word_at(c, i).text;
	if (i < c->n && (!text || (text[0] != '-' && text[0] != '\0')))
		run_code(c, c->words[i], "trap");
}

/* alias x='CODE' */
static void carry_alias(const struct call *c)
{
	for (size_t i = 1; i < c->n; i++) {
		struct dw_shell_word code = c->words[i];
		const char *equals = code.text ? strchr(code.text, '=') : NULL;

		if (!code.text)
			dw_shell_doubt(c->s, c->part, "an alias");
		if (!equals)
			continue;
		code.text = equals + 1;
		run_code(c, code, "alias");
	}
}

/* coproc COMMAND. coproc { ...; } and coproc NAME { ...; } run a group: a doubt. */
static void carry_coproc(const struct call *c)
{
	bool group = c->n < 2;

	for (size_t i = 1; i < c->n && i < 3; i++)
		group = group || !c->words[i].text || strpbrk(c->words[i].text, "{(");
	if (group)
		dw_shell_doubt(c->s, c->part, c->name);
	else
		add_words(c, 1, c->n, 0, "coproc");
}

/* env -S 'rm -rf /' splits its argument into words: read it as a script. */
static bool carry_split(const struct call *c)
{
	for (size_t i = 1; i < c->n; i++) {
		struct dw_shell_word code = c->words[i];

		if (!code.text || code.text[0] != '-')
			return false;
		if (strncmp(code.text, "--split-string=", 15) == 0)
			code.text += 15;
		else if (dw_is_any(code.text, " -S --split-string "))
			code = word_at(c, i + 1);
		else if (strncmp(code.text, "-S", 2) == 0)
			code.text += 2;
		else
			continue;
		run_code(c, code, "env -S");
		return true;
	}
	return false;
}

bool dw_shell_carry(struct dw_script *s, uint32_t part, const char *name,
                    const struct dw_shell_word *words, size_t n, uint32_t flags)
{
	const struct call c = {s, part, name, words, n, flags};
	const struct carrier *carrier = find_carrier(name);
	struct dw_shell_word code;
	size_t i = 1;

	if (strcmp(name, "env") == 0 && carry_split(&c))
		return true;
	if (carrier) {
		carry(&c, carrier);
	} else if (dw_is_any(name, shells)) {
		carry_shell(&c);
	} else if (strcmp(name, "eval") == 0) {
		dw_shell_note(s, part, DW_SHELL_EVAL, "eval runs text as code");
		if (n > 1)
			run_joined(&c, 1);
	} else if (strcmp(name, "trap") == 0) {
		carry_trap(&c);
	} else if (strcmp(name, "alias") == 0) {
		carry_alias(&c);
	} else if (dw_is_any(name, " source . ")) {
		dw_shell_note(s, part, DW_SHELL_SOURCE, "%s runs the file %.100s", name,
		              n > 1 && words[1].text ? words[1].text : "?");
	} else if (dw_is_any(name, " su script flock ")) {
		if (option_value(words, n, "-c", &code))
			run_code(&c, code, name);
		else if (strcmp(name, "flock") == 0 && n > 2)
			add_words(&c, 2, n, 0, "flock");
		else
			dw_shell_doubt(s, part, name);
	} else if (strcmp(name, "watch") == 0) {
		while (i < n && words[i].text && words[i].text[0] == '-')
			i += strcmp(words[i].text, "-n") == 0 ? 2 : 1;
		if (i < n)
			run_joined(&c, i);
	} else if (dw_is_any(name, " busybox toybox ")) {
		if (n > 1)
			add_words(&c, 1, n, flags & DW_SHELL_MORE, name);
	} else if (strcmp(name, "coproc") == 0) {
		carry_coproc(&c);
	} else if (dw_is_any(name, " mapfile readarray ")) {
		if (option_value(words, n, "-C", &code))
			run_code(&c, code, name);
	} else if (dw_is_any(name, " parallel at batch crontab ssh expect make ")) {
		dw_shell_doubt(s, part, name);
	} else {
		/* find does not only run these commands. */
		if (strcmp(name, "find") == 0)
			carry_find(&c);
		return false;
	}
	return true;
}
