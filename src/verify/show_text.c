/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "verify/verify.h"

#define NAME_WIDTH 40
#define CELL_WIDTH 16

static const struct {
	const char *label;
	const char *colour;
} verdicts[] = {
	[DW_CONTAINED] = {"contained", "\033[32m"},
	[DW_ESCAPED] = {"ESCAPED", "\033[1;31m"},
	[DW_NOT_PROMISED] = {"not promised", "\033[33m"},
	[DW_CANNOT_TELL] = {"cannot tell", "\033[35m"},
};
_Static_assert(ARRAY_SIZE(verdicts) == DW_VERDICT_COUNT, "label for each verdict");

static void print_cell(const struct dw_row *row, bool colour)
{
	const char *label = row->wall ? row->wall : verdicts[row->verdict].label;

	(void)printf("  %s%-*s%s", colour ? verdicts[row->verdict].colour : "",
	             CELL_WIDTH, label, colour ? "\033[0m" : "");
}

static void print_matrix(const struct dw_rows *rows, bool colour)
{
	const char *family = "";

	for (size_t i = 0; i < rows->n; i++) {
		const struct dw_row *row = &rows->list[i];
		bool first = i == 0 || rows->list[i - 1].attack != row->attack;

		if (strcmp(family, row->attack->family) != 0) {
			family = row->attack->family;
			(void)printf("%s%s%-*s%s", i ? "\n\n" : "",
			             colour ? "\033[1m" : "", NAME_WIDTH + 2, family,
			             colour ? "\033[0m" : "");
			for (size_t k = 0; k < rows->n_targets; k++)
				(void)printf("  %-*s", CELL_WIDTH,
				             rows->targets[k].title);
		}
		if (first)
			(void)printf("\n  %-*s", NAME_WIDTH, row->attack->name);
		print_cell(row, colour);
	}
	(void)printf("\n");
}

/* Print each row that has this verdict, and its detail. */
static void print_details(const struct dw_rows *rows, enum dw_verdict verdict,
                          const char *title)
{
	bool any = false;

	for (size_t i = 0; i < rows->n; i++) {
		const struct dw_row *row = &rows->list[i];

		if (row->verdict != verdict)
			continue;
		if (!any)
			(void)printf("\n%s\n", title);
		any = true;
		(void)printf("  %s at %s: %s\n", row->attack->name, row->target->title,
		             row->detail);
	}
}

/* Print each sentence once, with the number of rows that it exempts. */
static void print_unpromised(const struct dw_rows *rows)
{
	bool any = false;

	for (size_t i = 0; i < rows->n; i++) {
		const struct dw_row *row = &rows->list[i];
		bool printed = row->verdict != DW_NOT_PROMISED;
		size_t n = 0;

		for (size_t k = 0; k < i && !printed; k++)
			printed = rows->list[k].verdict == DW_NOT_PROMISED &&
			          strcmp(rows->list[k].detail, row->detail) == 0;
		if (printed)
			continue;
		if (!any)
			(void)printf("\nNot promised by the threat model:\n");
		any = true;
		for (size_t k = i; k < rows->n; k++)
			n += rows->list[k].verdict == DW_NOT_PROMISED &&
			     strcmp(rows->list[k].detail, row->detail) == 0;
		(void)printf("  %s (%zu)\n", row->detail, n);
	}
}

static void print_sum(const struct dw_rows *rows, const struct dw_target *target)
{
	struct dw_summary sum = dw_rows_sum(rows, target);

	(void)printf(
		"  %-*s %zu contained, %zu escaped, %zu not promised, %zu cannot tell\n",
		CELL_WIDTH, target->title, sum.by[DW_CONTAINED], sum.by[DW_ESCAPED],
		sum.by[DW_NOT_PROMISED], sum.by[DW_CANNOT_TELL]);
}

int dw_show_text(const struct dw_rows *rows, bool colour)
{
	struct dw_summary sum = dw_rows_sum(rows, NULL);

	print_matrix(rows, colour);
	print_details(rows, DW_ESCAPED, "Escaped:");
	print_details(rows, DW_CANNOT_TELL, "Cannot tell:");
	print_unpromised(rows);

	(void)printf("\n%zu attacks as %s; a wall's name means that this wall stopped "
	             "the attack\n",
	             sum.attacks, rows->user);
	for (size_t i = 0; i < rows->n_targets; i++)
		print_sum(rows, &rows->targets[i]);
	for (const char *const *a = rows->unavailable; *a; a += 2)
		(void)printf("  %-*s not on this host: %s\n", CELL_WIDTH, a[0], a[1]);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : -1;
}
