/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/exec_helper.h"

#include <errno.h>
#include <unistd.h>

#include "base/program.h"
#include "cli/command.h"
#include "cli/report.h"

void dw_helper_add(struct dw_helper *hand, const char *key, const char *value)
{
	struct dw_buf *room = &hand->room[hand->n];

	if (hand->n == DW_HELPER_MAX || !value)
		return;
	dw_buf_init(room, 65536);
	(void)dw_buf_printf(room, "%s%s%s", key, *key ? "=" : "", value);
	if (room->data)
		hand->argv[hand->n++] = room->data;
}

void dw_helper_finish(struct dw_helper *hand)
{
	for (size_t i = 0; i < hand->n; i++)
		dw_buf_finish(&hand->room[i]);
}

int dw_helper_over(struct dw_helper *hand, struct dw_error *err)
{
	char path[512];

	if (dw_program_find(hand->argv[0], NULL, path, sizeof(path), err) < 0)
		return -1;
	(void)execv(path, hand->argv);
	return dw_fail(err, DW_E_INTERNAL, errno, "start %s", path);
}

int dw_helper_command(const struct dw_command *cmd, int argc, char **argv,
                      const char *program, void *set,
                      void (*fill)(struct dw_helper *hand, const void *set))
{
	struct dw_helper hand = {.n = 0};
	struct dw_parsed parsed = {0};
	struct dw_error err = {0};
	int r;

	r = dw_options_parse(cmd, argc, argv, set, &parsed, &err);
	if (r > 0)
		return dw_report_flush();
	if (r == 0 && parsed.n_operands > 0)
		r = dw_fail(&err, DW_E_INVALID, 0,
		            "\"%s\" is too much; see `dewar %s --help`",
		            parsed.operands[0], cmd->name);
	dw_parsed_finish(&parsed);
	if (r == 0) {
		dw_helper_add(&hand, "", program);
		dw_helper_add(&hand, "", cmd->name);
		fill(&hand, set);
		(void)dw_helper_over(&hand, &err);
		dw_helper_finish(&hand);
	}
	return dw_report_error(&err, dw_options_want_json(argc, argv));
}
