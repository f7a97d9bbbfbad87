/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/values.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/subcommand.h"
#include "dewar/dewar.h"
#include "languages/runtime.h"

/*
 * Prints scripts that complete the commands of dewar in a shell. They are generated from
 * the tables that also parse the command line. The scripts run no dewar, so completion is
 * fast.
 */

static void put_list(const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		(void)printf("%s%s", i == 0 ? "" : " ", words[i]);
}

static void put_languages(void)
{
	struct dw_language lang;
	size_t i;

	for (i = 0; i < dw_language_count(); i++)
		if (dw_language_peek(i, &lang) == 0)
			(void)printf("%s%s", i == 0 ? "" : " ", lang.name);
}

static void put_words(enum dw_fits fits, const char *const *words)
{
	if (fits == DW_FITS_WORDS)
		put_list(words);
	else if (fits == DW_FITS_LEVEL)
		put_list(dw_level_names());
	else if (fits == DW_FITS_LANGUAGE)
		put_languages();
}

/* Print the text, with a backslash before each special character. */
static void put_escaped(const char *text, const char *special)
{
	for (; *text != '\0'; text++)
		(void)printf("%s%c", strchr(special, *text) ? "\\" : "", *text);
}

/*
 * Print the text for use inside a single-quoted string, with a backslash before each
 * special character.
 */
static void put_quoted(const char *text, const char *special)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			(void)fputs("'\\''", stdout);
		else
			(void)printf("%s%c", strchr(special, *text) ? "\\" : "", *text);
	}
}

/* How each shell completes files, folders and commands, in addition to the words. */
static const struct {
	const char *bash; /* options of compgen */
	const char *zsh;  /* the action of _arguments; NULL: complete the words */
	const char *fish; /* options of complete */
} fittings[] = {
	[DW_FITS_ANYTHING] = {"", " ", ""},
	[DW_FITS_FILE] = {" -f", "_files", " -F"},
	[DW_FITS_FOLDER] = {" -d", "_files -/", " -a '(__fish_complete_directories)'"},
	[DW_FITS_LANGUAGE] = {" -f", "_dewar_languages", " -F"},
	[DW_FITS_LEVEL] = {"", NULL, ""},
	[DW_FITS_COMMAND] = {" -c -f", "_command_names -e",
                             " -F -a '(__fish_complete_command)'"},
	[DW_FITS_WORDS] = {"", NULL, ""},
	[DW_FITS_NOTHING] = {"", " ", ""},
};
_Static_assert(ARRAY_SIZE(fittings) == DW_FITS_COUNT, "a row for each");

static void bash_fitting(enum dw_fits fits, const char *const *words)
{
	(void)printf("mapfile -t COMPREPLY < <(compgen%s -W '", fittings[fits].bash);
	put_words(fits, words);
	(void)printf("' -- \"$cur\")");
}

/* Print the option as a pattern of a case command, preceded by a separator. */
static void bash_pattern(const struct dw_option *row, const char *before)
{
	(void)printf("%s--%s", before, row->name);
	if (row->letter)
		(void)printf(" | -%c", row->letter);
}

/* Complete the argument of the option that precedes the cursor. */
static void bash_arguments(const struct dw_command *cmd)
{
	const struct dw_option *row;
	const char *before = "\t\t";
	size_t i;

	(void)printf("\t\tcase $prev in\n");
	for (i = 0; (row = dw_options_row(cmd, i, NULL)) != NULL; i++) {
		if (!row->arg || row->fits == DW_FITS_ANYTHING)
			continue;
		bash_pattern(row, "\t\t");
		(void)printf(")\n\t\t\t");
		bash_fitting(row->fits, row->words);
		(void)printf("\n\t\t\treturn\n\t\t\t;;\n");
	}

	/* Options whose argument can be anything: complete nothing. */
	for (i = 0; (row = dw_options_row(cmd, i, NULL)) != NULL; i++) {
		if (!row->arg || row->fits != DW_FITS_ANYTHING)
			continue;
		bash_pattern(row, before);
		before = " | ";
	}
	if (before[0] == ' ')
		(void)printf(")\n\t\t\treturn\n\t\t\t;;\n");
	(void)printf("\t\tesac\n");
}

/*
 * Returns what the first operand can be; for DW_FITS_WORDS, *ret_words lists the words.
 */
static enum dw_fits operand(const struct dw_command *cmd, const char *const **ret_words)
{
	*ret_words = cmd->words;
	if (!cmd->subcommands)
		return cmd->fits;
	*ret_words = dw_subcommand_names(cmd);
	return DW_FITS_WORDS;
}

static void bash_command(const struct dw_command *cmd)
{
	const char *const *words;
	enum dw_fits fits = operand(cmd, &words);
	const struct dw_option *row;
	size_t i;

	(void)printf("\t%s)\n", cmd->name);
	bash_arguments(cmd);

	(void)printf("\t\tif [[ $cur == -* ]]; then\n"
	             "\t\t\tmapfile -t COMPREPLY < <(compgen -W '");
	for (i = 0; (row = dw_options_row(cmd, i, NULL)) != NULL; i++)
		(void)printf("%s--%s", i == 0 ? "" : " ", row->name);
	(void)printf("' -- \"$cur\")\n"
	             "\t\t\treturn\n"
	             "\t\tfi\n"
	             "\t\t");
	bash_fitting(fits, words);
	(void)printf("\n\t\t;;\n");
}

static void bash_script(void)
{
	const struct dw_command *const *cmd;

	(void)printf("# bash completion for dewar, made by `dewar completion bash`\n"
	             "_dewar()\n"
	             "{\n"
	             "\tlocal cur=${COMP_WORDS[COMP_CWORD]}\n"
	             "\tlocal prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	             "\tCOMPREPLY=()\n"
	             "\tif ((COMP_CWORD == 1)); then\n"
	             "\t\tmapfile -t COMPREPLY < <(compgen -W '");
	for (cmd = dw_commands; *cmd; cmd++)
		(void)printf("%s ", (*cmd)->name);
	(void)printf("--help --version' -- \"$cur\")\n"
	             "\t\treturn\n"
	             "\tfi\n"
	             "\tcase ${COMP_WORDS[1]} in\n");
	for (cmd = dw_commands; *cmd; cmd++)
		bash_command(*cmd);
	(void)printf("\tesac\n"
	             "}\n"
	             "complete -o filenames -F _dewar dewar\n");
}

/* Print the zsh action that completes an argument, for use in a single-quoted string. */
static void zsh_action(enum dw_fits fits, const char *const *words)
{
	if (fittings[fits].zsh) {
		(void)fputs(fittings[fits].zsh, stdout);
		return;
	}
	(void)putchar('(');
	put_words(fits, words);
	(void)putchar(')');
}

static void zsh_option(const struct dw_option *row)
{
	char letter[] = {'-', row->letter, '\0'};
	char name[64];
	const char *forms[] = {name, row->letter ? letter : NULL};
	size_t i;

	(void)snprintf(name, sizeof(name), "--%s", row->name);
	for (i = 0; i < ARRAY_SIZE(forms) && forms[i]; i++) {
		(void)printf(" \\\n\t\t\t'*%s[", forms[i]);
		put_quoted(row->help, "[]:\\");
		(void)putchar(']');
		if (row->arg) {
			(void)putchar(':');
			put_quoted(row->arg, "[]:\\");
			(void)putchar(':');
			zsh_action(row->fits, row->words);
		}
		(void)putchar('\'');
	}
}

static void zsh_command(const struct dw_command *cmd)
{
	const char *const *words;
	enum dw_fits fits = operand(cmd, &words);
	const struct dw_option *row;
	size_t i;

	(void)printf("\t%s)\n\t\t_arguments", cmd->name);
	for (i = 0; (row = dw_options_row(cmd, i, NULL)) != NULL; i++)
		zsh_option(row);
	if (fits != DW_FITS_NOTHING) {
		(void)printf(" \\\n\t\t\t'1: :");
		zsh_action(fits, words);
		(void)putchar('\'');
	}
	if (cmd->passes_args)
		(void)printf(" \\\n\t\t\t'*: :_files'");
	(void)printf("\n\t\t;;\n");
}

static void zsh_script(void)
{
	const struct dw_command *const *cmd;

	(void)printf("#compdef dewar\n"
	             "# zsh completion for dewar, made by `dewar completion zsh`\n"
	             "_dewar_languages()\n"
	             "{\n"
	             "\tcompadd -- ");
	put_languages();
	(void)printf("\n"
	             "\t_files\n"
	             "}\n"
	             "_dewar()\n"
	             "{\n"
	             "\tlocal -a commands\n"
	             "\tcommands=(\n");
	for (cmd = dw_commands; *cmd; cmd++) {
		(void)printf("\t\t'%s:", (*cmd)->name);
		put_quoted((*cmd)->summary, ":\\");
		(void)printf("'\n");
	}
	(void)printf("\t)\n"
	             "\tif ((CURRENT == 2)); then\n"
	             "\t\t_describe command commands\n"
	             "\t\tcompadd -- --help --version\n"
	             "\t\treturn\n"
	             "\tfi\n"
	             "\tshift words\n"
	             "\t((CURRENT--))\n"
	             "\tcase $words[1] in\n");
	for (cmd = dw_commands; *cmd; cmd++)
		zsh_command(*cmd);
	(void)printf("\tesac\n"
	             "}\n"
	             "if [[ $funcstack[1] == _dewar ]]; then\n"
	             "\t_dewar \"$@\"\n"
	             "else\n"
	             "\tcompdef _dewar dewar\n"
	             "fi\n");
}

static void fish_fitting(enum dw_fits fits, const char *const *words)
{
	(void)fputs(fittings[fits].fish, stdout);
	if (fits == DW_FITS_WORDS || fits == DW_FITS_LEVEL || fits == DW_FITS_LANGUAGE) {
		(void)printf(" -a '");
		put_words(fits, words);
		(void)putchar('\'');
	}
}

static void fish_command(const struct dw_command *cmd)
{
	const char *const *words;
	enum dw_fits fits = operand(cmd, &words);
	const struct dw_option *row;
	size_t i;

	(void)printf("complete -c dewar -n __fish_use_subcommand -a %s -d '", cmd->name);
	put_escaped(cmd->summary, "'\\");
	(void)printf("'\n");

	for (i = 0; (row = dw_options_row(cmd, i, NULL)) != NULL; i++) {
		(void)printf("complete -c dewar -n '__fish_seen_subcommand_from %s' -l %s",
		             cmd->name, row->name);
		if (row->letter)
			(void)printf(" -s %c", row->letter);
		(void)printf("%s -d '", row->arg ? " -r" : "");
		put_escaped(row->help, "'\\");
		(void)putchar('\'');
		if (row->arg)
			fish_fitting(row->fits, row->words);
		(void)putchar('\n');
	}

	if (fits == DW_FITS_NOTHING)
		return;
	(void)printf("complete -c dewar -n '__fish_seen_subcommand_from %s'", cmd->name);
	fish_fitting(fits, words);
	(void)putchar('\n');
}

static void fish_script(void)
{
	const struct dw_command *const *cmd;

	(void)printf(
		"# fish completion for dewar, made by `dewar completion fish`\n"
		"complete -c dewar -f\n"
		"complete -c dewar -n __fish_use_subcommand -s h -l help -d Help\n"
		"complete -c dewar -n __fish_use_subcommand -s V -l version -d Version\n");
	for (cmd = dw_commands; *cmd; cmd++)
		fish_command(*cmd);
}

static const char *const shells[] = {"bash", "zsh", "fish", NULL};

static int print_script(const struct dw_parsed *parsed, struct dw_error *err)
{
	static void (*const scripts[])(void) = {bash_script, zsh_script, fish_script};
	int chosen;

	if (parsed->n_operands == 0)
		return dw_fail(err, DW_E_INVALID, 0,
		               "no shell given; see `dewar completion --help`");
	if (parsed->n_operands > 1)
		return dw_fail(err, DW_E_INVALID, 0,
		               "unexpected argument \"%s\"; see `dewar completion --help`",
		               parsed->operands[1]);
	chosen = dw_choose("the shell", parsed->operands[0], shells, err);
	if (chosen < 0)
		return -1;
	scripts[chosen]();
	return 0;
}

static int completion(const struct dw_command *cmd, int argc, char **argv)
{
	struct dw_parsed parsed = {0};
	struct dw_error err = {0};
	int r;

	r = dw_options_parse(cmd, argc, argv, NULL, &parsed, &err);
	if (r == 0)
		r = print_script(&parsed, &err);
	dw_parsed_finish(&parsed);
	return r < 0 ? dw_report_error(&err, false) : dw_report_flush();
}

const struct dw_command dw_command_completion = {
	.name = "completion",
	.summary = "Print a script that completes dewar's commands in a shell",
	.usage = {"bash|zsh|fish"},
	.example =
		{
			"source <(dewar completion bash)",
			"dewar completion zsh > ~/.zfunc/_dewar",
			"dewar completion fish > ~/.config/fish/completions/dewar.fish",
		},
	.fits = DW_FITS_WORDS,
	.words = shells,
	.run = completion,
};
