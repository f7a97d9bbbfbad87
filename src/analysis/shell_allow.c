/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/reader.h"
#include "analysis/shell.h"
#include "base/cleanup.h"

/*
 * Some allowed commands can do more than read or compute: awk and sort start programs,
 * and find removes files. Their rules refuse the arguments for that.
 */
const struct dw_shell_rule dw_shell_rules[] = {
	{.name = "ls"},
	{.name = "cat"},
	{.name = "head"},
	{.name = "tail"},
	{.name = "wc"},
	{.name = "grep"},
	{.name = "find", .never = {"-delete", "-fprint", "-fprint0", "-fprintf", "-fls"}},
	{.name = "sort", .never = {"--compress-program", "-o", "--output"}},
	{.name = "uniq"},
	{.name = "cut"},
	{.name = "awk",
         .never = {"-f", "--file", "-i", "--include", "-l", "--load", "-E", "--exec"},
         .without = {"system", "getline", "|", ">"}},
	{.name = "jq"},
	{.name = "echo"},
	{.name = "date", .never = {"-s", "--set"}},
	{.name = "python"},
	{.name = "node"},
	{.name = "curl"},
	{0},
};

/* Harmless built-ins, and carriers, whose commands are checked themselves. */
static const char harmless[] =
	" : [ bg break builtin cd command continue dirs echo env eval exec exit export false "
	"fg getopts jobs let local nice nohup popd printf pushd pwd read return set shift "
	"shopt sleep stdbuf test time timeout trap true type ulimit umask wait xargs alias "
	"unalias ";

/* Those commands of the list above, and sh, that are also programs on disk. */
const char *const dw_shell_carriers[] = {
	"[",    "env",  "false",   "nice", "nohup", "printf", "sleep", "stdbuf",
	"test", "time", "timeout", "true", "xargs", "sh",     NULL,
};

struct report {
	struct dw_findings found;
	bool no_memory;
};

__attribute__((format(printf, 5, 6))) static void add(struct report *r, uint32_t line,
                                                      uint32_t column, const char *rule,
                                                      const char *fmt, ...)
{
	struct dw_finding f = {.severity = E, .line = line, .column = column};
	va_list args;

	if (r->found.n == DW_ANALYSE_FINDINGS_MAX)
		return;
	va_start(args, fmt);
	dw_finding_fill(&f, rule, fmt, args);
	va_end(args);
	for (char *p = f.rule; *p != '\0'; p++)
		if ((uint8_t)*p >= 0x7f)
			*p = '?';
	r->no_memory |= !DW_APPEND(r->found.list, r->found.n, f);
}

static const struct dw_shell_rule *find_rule(const struct dw_shell_allow *allow,
                                             const char *name)
{
	for (const struct dw_shell_rule *rule = allow->rules; rule->name; rule++)
		if (strcmp(rule->name, name) == 0)
			return rule;
	return NULL;
}

/* Returns true if the argument is, or includes, the option. */
static bool means(const char *arg, const char *option)
{
	size_t len = strcspn(arg, "=");

	if (strncmp(option, "--", 2) == 0)
		/* getopt_long() accepts any unambiguous prefix of a long option. */
		return len > 2 && strncmp(arg, option, len) == 0;
	if (option[0] == '-' && option[1] != '\0' && option[2] == '\0')
		return arg[0] == '-' && arg[1] != '-' && strchr(arg, option[1]);
	return strcmp(arg, option) == 0;
}

static void check_argument(struct report *r, const struct dw_shell_command *c,
                           const struct dw_shell_rule *rule, const char *arg,
                           bool options)
{
	const char *name = DW_RULE("argument:%s", rule->name);

	for (size_t i = 0; options && i < ARRAY_SIZE(rule->never) && rule->never[i]; i++)
		if (means(arg, rule->never[i]))
			add(r, c->line, c->column, name, "%s is not allowed with %.64s",
			    rule->name, arg);
	for (size_t i = 0; i < ARRAY_SIZE(rule->without) && rule->without[i]; i++)
		if (strstr(arg, rule->without[i]))
			add(r, c->line, c->column, name,
			    "%s is not allowed with an argument that has %s in it",
			    rule->name, rule->without[i]);
}

static void check_arguments(struct report *r, const struct dw_shell_command *c,
                            const struct dw_shell_rule *rule)
{
	bool options = true, first = rule->first[0] == NULL;

	if (!rule->first[0] && !rule->never[0] && !rule->without[0])
		return;
	/* The arguments that find -exec adds are paths, never options. */
	if ((c->flags & DW_SHELL_MORE) &&
	    (!c->via || strncmp(c->via, "find ", 5) != 0 || rule->without[0]))
		add(r, c->line, c->column, "undecided:argument",
		    "arguments of %s are computed at run time", rule->name);
	for (size_t i = 0; i < ARRAY_SIZE(rule->first) && rule->first[i]; i++)
		if (c->n_args > 0 && c->args[0].text && !c->args[0].guessed &&
		    strcmp(c->args[0].text, rule->first[i]) == 0)
			first = true;
	if (!first)
		add(r, c->line, c->column, DW_RULE("argument:%s", rule->name),
		    "%s is allowed only with %s%s%s%s%s first", rule->name,
		    rule->first[0], rule->first[1] ? ", " : "",
		    rule->first[1] ? rule->first[1] : "", rule->first[2] ? ", " : "",
		    rule->first[2] ? rule->first[2] : "");
	for (size_t i = 0; i < c->n_args; i++) {
		const struct dw_shell_word *arg = &c->args[i];

		/* A pattern may match a file whose name is an option. */
		if (!arg->text || arg->guessed ||
		    (arg->pattern && strchr("*?[", arg->text[0]) && options)) {
			add(r, c->line, c->column, "undecided:argument",
			    "an argument of %s is computed at run time", rule->name);
			continue;
		}
		if (strcmp(arg->text, "--") == 0)
			options = false;
		check_argument(r, c, rule, arg->text, options);
	}
}

static void check_command(struct report *r, const struct dw_shell_command *c,
                          const struct dw_shell_allow *allow)
{
	const struct dw_shell_rule *rule;
	const char *plain;

	/* A note already reports that the name could not be resolved. */
	if (!c->name.text || c->name.guessed || c->name.pattern)
		return;
	if ((c->flags & DW_SHELL_FUNCTION) && !(c->flags & DW_SHELL_CARRIED))
		return;
	plain = dw_shell_plain_name(c->name.text);
	rule = find_rule(allow, plain);
	if (rule) {
		check_arguments(r, c, rule);
		return;
	}
	if (dw_is_any(plain, harmless))
		return;
	/* A shell whose code was read runs only commands that are in the list. */
	if ((c->flags & DW_SHELL_CARRIER) && dw_is_any(plain, " sh bash dash "))
		return;
	add(r, c->line, c->column, DW_RULE("command:%s", plain),
	    "%.64s is not on the list of allowed commands%s%s%s", plain,
	    c->via ? " (run by " : "", c->via ? c->via : "", c->via ? ")" : "");
}

/* Returns true if the path, compared as text, lies below the folder and has no "..". */
static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	while (len > 1 && folder[len - 1] == '/')
		len--;
	if (strncmp(path, folder, len) != 0 || (len > 1 && path[len] != '/'))
		return false;
	for (const char *p = path; (p = strstr(p, "..")); p += 2)
		if ((p == path || p[-1] == '/') && (p[2] == '\0' || p[2] == '/'))
			return false;
	return true;
}

static void check_redirect(struct report *r, const struct dw_shell_redirect *redirect,
                           const struct dw_shell_allow *allow, bool moves)
{
	const char *target = redirect->target.text;
	char path[4096];

	if (target && !redirect->target.guessed &&
	    (strncmp(target, "/dev/tcp/", 9) == 0 ||
	     strncmp(target, "/dev/udp/", 9) == 0)) {
		add(r, redirect->line, redirect->column, "redirect:/dev/tcp",
		    "the network is not a file");
		return;
	}
	if (!redirect->writes)
		return;
	if (!target || redirect->target.guessed || redirect->target.pattern) {
		add(r, redirect->line, redirect->column, "undecided:redirect",
		    "the target of this redirection is computed at run time");
		return;
	}
	if (dw_is_any(target, " /dev/null /dev/stdout /dev/stderr /dev/tty "))
		return;
	if (target[0] == '/') {
		(void)snprintf(path, sizeof(path), "%s", target);
	} else if (allow->folder && !moves) {
		(void)snprintf(path, sizeof(path), "%s/%s", allow->folder, target);
	} else {
		add(r, redirect->line, redirect->column, "undecided:redirect",
		    "the folder of %.64s is not known", target);
		return;
	}
	for (const char *const *f = allow->write_below; f && *f; f++)
		if (is_below(path, *f))
			return;
	add(r, redirect->line, redirect->column, DW_RULE("redirect:%.60s", path),
	    "%.100s must not be written to", path);
}

static void check_note(struct report *r, const struct dw_shell_note *n)
{
	static const char *const rules[] = {
		[DW_SHELL_DOUBT] = "undecided:command",
		[DW_SHELL_SYNTAX] = "undecided:syntax",
		[DW_SHELL_SOURCE] = "undecided:file",
		[DW_SHELL_ENVIRONMENT] = "undecided:environment",
		[DW_SHELL_BOUND] = "undecided:bound",
		[DW_SHELL_REMARK_COUNT] = NULL,
	};

	/* No rule for loops, nor for eval, whose commands are in the list. */
	if (rules[n->remark])
		add(r, n->line, n->column, rules[n->remark], "%s", n->text);
}

int dw_shell_check(const struct dw_shell *shell, const struct dw_shell_allow *allow,
                   struct dw_findings *ret, struct dw_error *err)
{
	struct report r = {0};

	for (size_t i = 0; i < shell->n_commands; i++)
		check_command(&r, &shell->commands[i], allow);
	for (size_t i = 0; i < shell->n_redirects; i++)
		check_redirect(&r, &shell->redirects[i], allow, shell->changes_folder);
	for (size_t i = 0; i < shell->n_notes; i++)
		check_note(&r, &shell->notes[i]);
	if (r.no_memory) {
		dw_findings_finish(&r.found);
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot check the commands");
	}
	dw_findings_sort(&r.found);
	*ret = r.found;
	return 0;
}
