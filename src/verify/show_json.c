/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/error_json.h"
#include "verify/verify.h"

static json_t *text(const char *value)
{
	/* The value may contain output of a cell, which need not be UTF-8. */
	json_t *string = value ? json_string(value) : json_null();

	return string ? string : json_string("(not UTF-8)");
}

static json_t *make_row(const struct dw_row *row)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:s, s:o, s:o, s:s}",
	                 "attack", row->attack->name, "family", row->attack->family,
	                 "level", row->target->level, "way", row->target->way, "verdict",
	                 dw_verdict_name(row->verdict), "wall", text(row->wall),
	                 "control", dw_verdict_name(row->control), "control_at",
	                 row->control_at, "control_detail", text(row->control_detail),
	                 "detail", text(row->detail), "promise", row->attack->promise);
}

int dw_show_json(const struct dw_rows *rows)
{
	struct dw_summary sum = dw_rows_sum(rows, NULL);
	json_t *list = json_array(), *unavailable = json_object();
	json_auto_t *root = NULL;
	int r = -1;

	for (size_t i = 0; i < rows->n; i++)
		(void)json_array_append_new(list, make_row(&rows->list[i]));
	for (size_t i = 0; rows->unavailable[i]; i += 2)
		(void)json_object_set_new(unavailable, rows->unavailable[i],
		                          text(rows->unavailable[i + 1]));
	root = json_pack("{s:o, s:{s:I, s:I, s:I, s:I, s:I}, s:s, s:o}", "rows", list,
	                 "summary", "attacks", (json_int_t)sum.attacks, "contained",
	                 (json_int_t)sum.by[DW_CONTAINED], "escaped",
	                 (json_int_t)sum.by[DW_ESCAPED], "not_promised",
	                 (json_int_t)sum.by[DW_NOT_PROMISED], "cannot_tell",
	                 (json_int_t)sum.by[DW_CANNOT_TELL], "user", rows->user,
	                 "unavailable", unavailable);
	if (root && json_dumpf(root, stdout, JSON_COMPACT) == 0)
		r = 0;
	(void)putchar('\n');
	return fflush(stdout) == 0 ? r : -1;
}

void dw_show_json_error(const struct dw_error *err)
{
	json_auto_t *root = dw_error_json(dw_code_name(err->code), err->text, NULL);

	if (root)
		(void)json_dumpf(root, stdout, JSON_COMPACT);
	(void)putchar('\n');
	(void)fflush(stdout);
}
