/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec_helper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/path.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/serve_settings.h"

void dw_helper_add(struct dw_helper *helper, const char *key, const char *value)
{
	struct dw_buf *room = &helper->room[helper->n];

	if (helper->n == DW_HELPER_MAX || !value)
		return;
	dw_buf_init(room, 65536);
	(void)dw_buf_printf(room, "%s%s%s", key, *key ? "=" : "", value);
	if (room->data)
		helper->argv[helper->n++] = room->data;
}

void dw_helper_finish(struct dw_helper *helper)
{
	for (size_t i = 0; i < helper->n; i++)
		dw_buf_finish(&helper->room[i]);
}

static int execute(char *const *argv, struct dw_error *err)
{
	char path[512];

	if (dw_program_find(argv[0], NULL, path, sizeof(path), err) < 0)
		return -1;
	(void)execv(path, argv);
	return dw_fail(err, DW_E_INTERNAL, errno, "cannot execute %s", path);
}

int dw_helper_exec(struct dw_helper *helper, struct dw_error *err)
{
	return execute(helper->argv, err);
}

/* Parse the arguments. Returns 0, 1 if help was printed, or -1 with an error. */
static int parse(const struct dw_command *cmd, int argc, char **argv, void *set,
                 struct dw_error *err)
{
	struct dw_parsed parsed = {0};
	int r = dw_options_parse(cmd, argc, argv, set, &parsed, err);

	if (r == 0 && parsed.n_operands > 0)
		r = dw_fail(err, DW_E_INVALID, 0,
		            "unexpected argument \"%s\"; see `dewar %s --help`",
		            parsed.operands[0], cmd->name);
	dw_parsed_finish(&parsed);
	return r;
}

int dw_helper_serve(const struct dw_command *cmd, int argc, char **argv)
{
	autofree char **copy = calloc((size_t)argc + 2, sizeof(*copy));
	union dw_any_serve_settings set = {0};
	const char *program = "dewar-serve";
	struct dw_error err = {0};
	int r = parse(cmd, argc, argv, &set, &err);

	if (r > 0)
		return dw_report_flush();
	if (r == 0 && copy) {
		copy[0] = (char *)program;
		memcpy(copy + 1, argv, (size_t)argc * sizeof(*copy));
		(void)execute(copy, &err);
	} else if (r == 0) {
		(void)dw_fail(&err, DW_E_INTERNAL, ENOMEM, "cannot execute %s", program);
	}
	return dw_report_error(&err, dw_options_want_json(argc, argv));
}

int dw_helper_command(const struct dw_command *cmd, int argc, char **argv,
                      const char *program, void *set,
                      void (*fill)(struct dw_helper *helper, const void *set))
{
	struct dw_helper helper = {.n = 0};
	struct dw_error err = {0};
	int r = parse(cmd, argc, argv, set, &err);

	if (r > 0)
		return dw_report_flush();
	if (r == 0) {
		dw_helper_add(&helper, "", program);
		dw_helper_add(&helper, "", cmd->name);
		fill(&helper, set);
		(void)dw_helper_exec(&helper, &err);
		dw_helper_finish(&helper);
	}
	return dw_report_error(&err, dw_options_want_json(argc, argv));
}
