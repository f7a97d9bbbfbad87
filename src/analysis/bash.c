/* SPDX-License-Identifier: Apache-2.0 */
/* Bash: makes findings from the commands of a script. */
#include <stdio.h>
#include <string.h>

#include "analysis/reader.h"
#include "analysis/shell.h"
#include "analysis/shell_read.h"
#include "base/cleanup.h"

static const struct dw_danger dangers[] = {
	NAMES("delete:", E, " rm rmdir unlink shred srm truncate wipefs fdisk parted "),
	NAMES("delete:mkfs", E, " mkfs** mkfs.* "),
	NAMES("network:", W,
              " curl wget nc ncat netcat socat ssh scp sftp ftp telnet rsync nmap ping dig "
              "nslookup host "),
	NAMES("privilege:", E,
              " sudo su doas pkexec runuser chroot nsenter unshare mount umount insmod "
              "modprobe shutdown reboot halt poweroff crontab setcap useradd passwd "),
	NAMES("privilege:", W, " setpriv "),
	NAMES("shell:", W, " kill pkill killall "),
	NAMES("native:", W, " gdb strace "),
	{0},
};

static bool has_argument(const struct dw_shell_command *c, const char *front, size_t len)
{
	for (size_t i = 0; i < c->n_args; i++)
		if (c->args[i].text && strncmp(c->args[i].text, front, len) == 0)
			return true;
	return false;
}

/* Read the code of python -c CODE and the like in its own language. */
static void check_code(struct dw_reading *r, const struct dw_shell_command *c,
                       const char *name)
{
	static const struct {
		const char *front;
		const struct dw_syntax *language;
	} known[] = {
		{"python", &dw_syntax_python},   {"pypy", &dw_syntax_python},
		{"node", &dw_syntax_javascript}, {"ruby", &dw_syntax_ruby},
		{"php", &dw_syntax_php},
	};
	const struct dw_analyse_options options = {.lists = r->options ? r->options->lists
	                                                               : NULL};
	const struct dw_finding here = {.line = c->line, .column = c->column};
	const char *code = c->code;
	char text[4096];

	if (!code) {
		dw_found_line(r, c->line, c->column, E, "dynamic:code",
		              "the program that %s runs is not known", name);
		return;
	}
	if (strcmp(name, "php") == 0) {
		(void)snprintf(text, sizeof(text), "<?php %s", code);
		code = text;
	}
	if (r->inner >= DW_INNER_MAX || strlen(code) > DW_FOLD_MAX)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (strncmp(known[i].front, name, strlen(known[i].front)) != 0)
			continue;
		dw_read_inside(r, known[i].language, code, strlen(code), &options, &here);
		return;
	}
}

static void check_command(struct dw_reading *r, const struct dw_shell_command *c)
{
	const char *name = c->name.text ? dw_shell_plain_name(c->name.text) : NULL;
	const struct dw_danger *d;
	char via[64] = "";

	if (!name || (c->flags & DW_SHELL_FUNCTION))
		return;
	/* ./rm and /opt/x/rm count as rm. */
	if (strrchr(name, '/'))
		name = strrchr(name, '/') + 1;
	if (c->via)
		(void)snprintf(via, sizeof(via), " (run by %s)", c->via);
	d = dw_danger_find(&dw_syntax_bash, name);
	if (d)
		dw_found_line(r, c->line, c->column, d->severity, DW_DANGER_RULE(d, name),
		              "%s runs %s", c->via ? c->via : "the script", name);
	if (strcmp(name, "find") == 0 && has_argument(c, "-delete", sizeof("-delete")))
		dw_found_line(r, c->line, c->column, E, "delete:find",
		              "find removes files%s", via);
	if (strcmp(name, "dd") == 0 && has_argument(c, "of=", strlen("of=")))
		dw_found_line(r, c->line, c->column, E, "delete:dd",
		              "dd overwrites files%s", via);
	if (c->flags & DW_SHELL_CODE)
		check_code(r, c, name);
	/* awk 'BEGIN { system("...") }' */
	for (size_t i = 0; i < c->n_args && strstr(name, "awk"); i++)
		if (c->args[i].text && strstr(c->args[i].text, "system("))
			dw_found_line(r, c->line, c->column, E, "shell:awk",
			              "this awk program runs another program");
}

static void check_note(struct dw_reading *r, const struct dw_shell_note *n)
{
	static const struct {
		const char *rule;
		enum dw_severity severity;
	} remarks[] = {
		[DW_SHELL_DOUBT] = {"dynamic:command", E},
		[DW_SHELL_SYNTAX] = {"syntax:error", W},
		[DW_SHELL_EVAL] = {"builtin:eval", E},
		[DW_SHELL_SOURCE] = {"dynamic:source", W},
		[DW_SHELL_ENVIRONMENT] = {"dynamic:environment", W},
		[DW_SHELL_LOOP] = {"loop:unbounded", W},
		[DW_SHELL_BOMB] = {"loop:fork-bomb", E},
		[DW_SHELL_BOUND] = {"analysis:too-complex", E},
	};

	_Static_assert(ARRAY_SIZE(remarks) == DW_SHELL_REMARK_COUNT, "a rule for each");
	dw_found_line(r, n->line, n->column, remarks[n->remark].severity,
	              remarks[n->remark].rule, "%s", n->text);
}

static void check_redirect(struct dw_reading *r, const struct dw_shell_redirect *redirect)
{
	const char *target = redirect->target.text;

	if (!target)
		return;
	if (strncmp(target, "/dev/tcp/", 9) == 0 || strncmp(target, "/dev/udp/", 9) == 0)
		dw_found_line(r, redirect->line, redirect->column, E, "network:/dev/tcp",
		              "the shell itself talks to the network");
	else if (redirect->writes && (strncmp(target, "/dev/sd", 7) == 0 ||
	                              strncmp(target, "/dev/nvme", 9) == 0 ||
	                              strncmp(target, "/dev/vd", 7) == 0 ||
	                              strncmp(target, "/dev/mem", 8) == 0))
		dw_found_line(r, redirect->line, redirect->column, E, "delete:device",
		              "a device is overwritten");
}

/* Syntax errors are among the notes of the shell reader. */
static void read_shell(struct dw_reading *r)
{
	struct dw_shell shell = {0};
	struct dw_error err = {0};

	if (dw_shell_read_tree(&shell, &r->tree, &err) < 0) {
		r->no_memory = true;
		return;
	}
	for (size_t i = 0; i < shell.n_commands && !r->cut; i++)
		check_command(r, &shell.commands[i]);
	for (size_t i = 0; i < shell.n_redirects && !r->cut; i++)
		check_redirect(r, &shell.redirects[i]);
	for (size_t i = 0; i < shell.n_notes && !r->cut; i++)
		check_note(r, &shell.notes[i]);
	dw_shell_finish(&shell);
}

const struct dw_syntax dw_syntax_bash = {
	.name = "bash",
	.aliases = {"sh", "shell", "zsh"},
	.grammar = "bash",
	.dangers = dangers,
	.builtins = " eval ",
	.read = read_shell,
};
