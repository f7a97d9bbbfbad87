/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each command has a text and a position; an empty allow-list permits no command that is a
 * program.
 */
#undef NDEBUG
#include "analysis/shell.h"

#include "base/cleanup.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct dw_shell_rule none[] = {{0}};
	const struct dw_shell_allow nothing = {.rules = none};
	const struct dw_shell_allow allow = {.rules = dw_shell_rules, .folder = "/work"};
	struct fuzz_input in = {data, size};
	struct dw_findings found = {0}, fewer = {0};
	struct dw_shell shell = {0};
	struct dw_error err = {0};
	bool program = false;
	size_t len;
	autofree char *code = fuzz_copy(&in, in.size, &len);

	if (dw_shell_read(&shell, code, len, &err) < 0) {
		assert(err.code == DW_E_UNSUPPORTED);
		fuzz_check_refusal(&err);
		return 0;
	}
	assert(shell.n_commands <= DW_SHELL_COMMANDS_MAX);
	for (size_t i = 0; i < shell.n_commands; i++) {
		const struct dw_shell_command *c = &shell.commands[i];

		assert(c->line >= 1 && c->column >= 1);
		for (size_t k = 0; k < c->n_args; k++)
			assert(!c->args[k].text || strlen(c->args[k].text) <= len + 1);
		program = program || (c->name.text && strcmp(c->name.text, "ls") == 0 &&
		                      !(c->flags & DW_SHELL_FUNCTION));
	}
	for (size_t i = 0; i < shell.n_notes; i++)
		assert(shell.notes[i].text && shell.notes[i].line >= 1);
	assert(dw_shell_check(&shell, &nothing, &found, &err) == 0);
	assert(dw_shell_check(&shell, &allow, &fewer, &err) == 0);
	assert(!program || found.n > 0);
	dw_findings_finish(&found);
	dw_findings_finish(&fewer);
	dw_shell_finish(&shell);
	return 0;
}
