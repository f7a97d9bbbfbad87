/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/values.h"
#include "cli/command.h"
#include "cli/print.h"

const struct dw_command *const dw_commands[] = {
	&dw_command_run,
	&dw_command_exec,
	&dw_command_check,
	&dw_command_policy,
	&dw_command_serve,
	&dw_command_mcp,
	&dw_command_tool_schema,
	&dw_command_keys,
	&dw_command_approve,
	&dw_command_languages,
	&dw_command_audit,
	&dw_command_doctor,
	&dw_command_verify,
	&dw_command_bench,
	&dw_command_completion,
	&dw_command_version,
	NULL,
};

/*
 * Open /dev/null in place of a descriptor 0, 1 or 2 that the caller has closed. Otherwise
 * the next file that dewar opens would get that number, and a program in the cell could
 * read or write the file.
 */
static void fill_stdio(void)
{
	struct pollfd pfd[] = {{.fd = 0}, {.fd = 1}, {.fd = 2}};
	int fd;

	if (poll(pfd, 3, 0) <= 0)
		return;
	for (fd = 0; fd < 3; fd++)
		/*
		 * open() returns the lowest free number, which is fd itself, so no
		 * descriptor leaks.
		 */
		/* cppcheck-suppress leakReturnValNotUsed */
		if ((pfd[fd].revents & POLLNVAL) && open("/dev/null", O_RDWR) < 0)
			_exit(DW_EXIT_OURS);
}

static int print_help(void)
{
	const struct dw_command *const *cmd;

	(void)printf(
		"Usage: dewar COMMAND [OPTIONS]\n       dewar --help | --version\n\nRun "
		"untrusted code in isolated cells.\n\nCommands:\n");
	for (cmd = dw_commands; *cmd; cmd++)
		(void)printf("  %-12s  %s\n", (*cmd)->name, (*cmd)->summary);
	(void)printf("\n"
	             "Options:\n"
	             "  -h, --help     Print this and exit\n"
	             "  -V, --version  Print the version and exit\n"
	             "\n"
	             "See `dewar COMMAND --help` or `man dewar-COMMAND` for more.\n");
	return dw_report_flush();
}

static int unknown(const char *word, bool json)
{
	const char *kind = word[0] == '-' ? "option" : "command";
	const struct dw_command *const *cmd;
	struct dw_guess guess = {.typed = word};
	struct dw_error err = {0};

	for (cmd = dw_commands; *cmd && word[0] != '-'; cmd++)
		dw_guess_offer(&guess, (*cmd)->name);
	(void)dw_fail(&err, DW_E_INVALID, 0,
	              guess.best ? "unknown %s \"%s\""
	                         : "unknown %s \"%s\"; see `dewar --help`",
	              kind, word);
	(void)dw_suggest(&err, &guess, "");
	return dw_report_error(&err, json);
}

int main(int argc, char **argv)
{
	const struct dw_command *const *cmd;
	char *version[] = {argv[0], NULL};

	fill_stdio();

	if (argc < 2) {
		dw_report_line("no command given; see `dewar --help`");
		return DW_EXIT_OURS;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		return print_help();
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		return dw_command_main(&dw_command_version, 1, version);

	for (cmd = dw_commands; *cmd; cmd++)
		if (strcmp((*cmd)->name, argv[1]) == 0)
			return dw_command_main(*cmd, argc - 1, argv + 1);
	return unknown(argv[1], dw_options_want_json(argc, argv));
}
