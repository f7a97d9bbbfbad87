/* SPDX-License-Identifier: Apache-2.0 */
#undef NDEBUG
#include "analysis/shell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"

/* Checks all commands with their arguments, as "ls -l; rm x", with "?" for unknown words. */
static void runs(const char *code, const char *want)
{
	struct dw_shell shell = {0};
	struct dw_error err = {0};
	char text[1024] = "";
	size_t n = 0;

	assert_int_equal(dw_shell_read(&shell, code, strlen(code), &err), 0);
	for (size_t i = 0; i < shell.n_commands; i++) {
		const struct dw_shell_command *c = &shell.commands[i];

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
		                      i > 0 ? "; " : "",
		                      c->name.text ? c->name.text : "?");
		for (size_t k = 0; k < c->n_args; k++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, " %s",
			                      c->args[k].text ? c->args[k].text : "?");
	}
	dw_shell_finish(&shell);
	assert_string_equal(text, want);
}

static const struct dw_shell_rule rules[] = {
	{.name = "ls"},
	{.name = "echo"},
	{.name = "rm", .never = {"-r", "-R", "--recursive"}},
	{.name = "git", .first = {"status", "diff", "log"}},
	{0},
};

static const char *const folders[] = {"/work", "/tmp/", NULL};

/* Checks the rules of the findings; "" if all commands are allowed. */
static void refuses_by(const struct dw_shell_rule *list, const char *code,
                       const char *want)
{
	const struct dw_shell_allow allow = {.rules = list,
	                                     .write_below = folders,
	                                     .folder = "/work"};
	struct dw_shell shell = {0};
	struct dw_findings found = {0};
	struct dw_error err = {0};
	char text[1024] = "";
	size_t n = 0;

	assert_int_equal(dw_shell_read(&shell, code, strlen(code), &err), 0);
	assert_int_equal(dw_shell_check(&shell, &allow, &found, &err), 0);
	for (size_t i = 0; i < found.n; i++) {
		assert_true(found.list[i].message[0] != '\0');
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
		                      i > 0 ? " " : "", found.list[i].rule);
	}
	if (strcmp(text, want) != 0)
		print_error("%s\n", code);
	assert_string_equal(text, want);
	dw_findings_finish(&found);
	dw_shell_finish(&shell);
}

#define REFUSES(code, want) refuses_by(rules, code, want)
#define ALLOWS(code) refuses_by(rules, code, "")

static void commands_are_found_in_every_construct(void **state)
{
	(void)state;
	runs("ls -l | wc -l; (date) && { id; } || ! who &", /* prose: allow the tool */
	     "ls -l; wc -l; date; id; who");
	runs("echo $(a b) `c` <(d) \"$(e)\"", "echo ? ? ? ?; a b; c; d; e");
	runs("f() { a; }; x=$(b); if c; then d; else e; fi", "a; b; c; d; e");
	runs("a <<<x\n\\b y\n\\c", "a; b y; c");
	runs("case x in y) a;; esac; for i in $(b); do c; done", "a; b; c");
}

static void words_are_unquoted_as_the_command_gets_them(void **state)
{
	(void)state;
	runs("r'm' \"-r\"f $'\\x2f' a\\ b", "rm -rf / a b");
	runs("echo \"a\\\"b\\$c\" 'd\\e'", "echo a\"b$c d\\e");
	runs("echo \"x $y z\" ~ *", "echo ? ~ *");
	runs("r\\\nm -\\\nr x", "rm -r x");
}

static void commands_that_run_other_commands_are_expanded(void **state)
{
	(void)state;
	runs("xargs -0 -n 1 rm -f", "xargs -0 -n 1 rm -f; rm -f");
	runs("sudo -u x env A=1 -u B nice -n 5 timeout -k 1 5 ls -l",
	     "sudo -u x env A=1 -u B nice -n 5 timeout -k 1 5 ls -l; "
	     "env A=1 -u B nice -n 5 timeout -k 1 5 ls -l; "
	     "nice -n 5 timeout -k 1 5 ls -l; timeout -k 1 5 ls -l; ls -l");
	runs("find . -exec a {} \\; -okdir b {} +",
	     "find . -exec a {} ; -okdir b {} +; a {}; b {}");
	runs("bash -ec 'a; b'", "bash -ec a; b; a; b");
	runs("eval a 'b; c'", "eval a b; c; a b; c");
	runs("trap 'a b' EXIT; alias x='c d'", "trap a b EXIT; a b; alias x=c d; c d");
	runs("command -v ls", "command -v ls");
	runs("sh <<'E'\na\nE", "sh; a");
	runs("sh <<< 'a b'", "sh; a b");
}

static void allowed_commands_are_allowed(void **state)
{
	(void)state;
	ALLOWS("ls -l | xargs echo");
	ALLOWS("/bin/ls; cd x && [ -f y ] && echo z");
	ALLOWS("bash -c 'ls; echo \"$(ls)\"'");
	ALLOWS("git status; git diff HEAD; rm -f x y");
	ALLOWS("f() { ls; }\nf x");
	ALLOWS("echo x > /work/a/b; ls 2>/dev/null >> /tmp/y; echo z > out 2>&1");
	ALLOWS("rm -- -r");
}

static void other_commands_are_refused(void **state)
{
	(void)state;
	REFUSES("id", "command:id");
	REFUSES("ls; $(id)", "undecided:command command:id");
	REFUSES("sudo ls", "command:sudo");
	REFUSES("./ls; /tmp/ls", "command:./ls command:/tmp/ls");
	REFUSES("xargs id < x", "command:id");
	REFUSES("bash -c 'bash -c id'", "command:id");
	REFUSES("ls() { id; }; ls", "command:id");
	REFUSES("if x; then id() { ls; }; fi; id", "command:x command:id");
	REFUSES("id() { ls; }\nunset -f id\nid", "command:id");
	REFUSES("echo() { ls; }\ncommand id", "command:id");
}

static void rules_for_arguments_are_applied(void **state)
{
	(void)state;
	REFUSES("rm -rf x", "argument:rm");
	REFUSES("rm -fr x", "argument:rm");
	REFUSES("rm x --rec", "argument:rm");
	REFUSES("rm -\\\nr x", "argument:rm");
	REFUSES("rm \"$x\"", "undecided:argument");
	REFUSES("rm *", "undecided:argument");
	REFUSES("ls | xargs rm", "undecided:argument");
	REFUSES("git push", "argument:git");
	REFUSES("git -c alias.status='!id' status", "argument:git");
	REFUSES("git", "argument:git");
	REFUSES("git $x", "argument:git undecided:argument");
	refuses_by(dw_shell_rules, "awk 'BEGIN{system(\"id\")}'", "argument:awk");
	refuses_by(dw_shell_rules, "find . -delete", "argument:find");
	refuses_by(dw_shell_rules, "sort --compress-prog=id x", "argument:sort");
	refuses_by(dw_shell_rules, "curl x | jq .a | head -n 1", "");
}

static void undecidable_commands_are_refused(void **state)
{
	(void)state;
	REFUSES("$x", "undecided:command");
	REFUSES("x=ls; $x", "undecided:command");
	REFUSES("eval \"$x\"", "undecided:command");
	REFUSES("ls | sh", "undecided:command");
	REFUSES("source x", "command:source undecided:file");
	REFUSES("PATH=/tmp ls", "undecided:environment");
	REFUSES("l? x", "undecided:command");
	REFUSES("if ls", "undecided:syntax");
	REFUSES("ls | xargs -I ls ls x", "undecided:command");
	REFUSES("ls | xargs -i bash -c '{}'", "undecided:command");
	REFUSES("find . -exec sh -c {} \\;", "command:find undecided:command");
	REFUSES("for PATH in /tmp; do ls; done", "undecided:environment");
	REFUSES("read PATH; ls", "undecided:environment");
	REFUSES("env LD_PRELOAD=./x.so ls", "undecided:environment");
	REFUSES("x='a[$(id)]'; echo $((x))", "undecided:command");
	REFUSES("echo ${x@P}", "undecided:command");
	REFUSES("hash -p /bin/id ls; ls", "command:hash");
}

static void redirections_stay_below_their_folders(void **state)
{
	(void)state;
	REFUSES("echo x > /etc/passwd", "redirect:/etc/passwd");
	REFUSES("echo x > /work/../etc/y", "redirect:/work/../etc/y");
	REFUSES("echo x > /workshop/y", "redirect:/workshop/y");
	REFUSES("echo x >> ../y", "redirect:/work/../y");
	REFUSES("echo x > \"$y\"", "undecided:redirect");
	REFUSES("cd /etc; echo x > passwd", "undecided:redirect");
	REFUSES("ls &> /y", "redirect:/y");
	REFUSES("ls 3<> /y", "redirect:/y");
	REFUSES("ls < /dev/tcp/x/80", "redirect:/dev/tcp");
	REFUSES("ls > /work/a\\\nb/../../etc/x", "undecided:redirect");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_are_found_in_every_construct),
		cmocka_unit_test(words_are_unquoted_as_the_command_gets_them),
		cmocka_unit_test(commands_that_run_other_commands_are_expanded),
		cmocka_unit_test(allowed_commands_are_allowed),
		cmocka_unit_test(other_commands_are_refused),
		cmocka_unit_test(rules_for_arguments_are_applied),
		cmocka_unit_test(undecidable_commands_are_refused),
		cmocka_unit_test(redirections_stay_below_their_folders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
