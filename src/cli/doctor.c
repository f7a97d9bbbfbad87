/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/doctor.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/print.h"
#include "cli/subcommand.h"

struct settings {
	bool json;
};

static const struct dw_option options[] = {
	DW_OPTION_FLAG("json", offsetof(struct settings, json),
                       "Print the findings as JSON"),
	{0},
};

static const struct dw_option_group group = {"Output", options};

static const struct {
	const char *name;
	const char *colour;
} states[] = {
	[DW_FINDING_OK] = {"ok", "\033[32m"},
	[DW_FINDING_WEAK] = {"weak", "\033[33m"},
	[DW_FINDING_MISSING] = {"missing", "\033[31m"},
};
_Static_assert(ARRAY_SIZE(states) == DW_FINDING_STATE_COUNT, "a name for each state");

struct visit {
	struct dw_listing *listing;
	bool colour;
	bool unusable;
};

static void print_finding(const struct dw_doctor_finding *f, bool colour)
{
	(void)printf("%s%-7s%s  %-18s  %s\n", colour ? states[f->state].colour : "",
	             states[f->state].name, colour ? "\033[0m" : "", f->area, f->detail);
	if (f->remedy[0] != '\0')
		(void)printf("         %s\n", f->remedy);
	(void)fflush(stdout); /* the next check may take a while */
}

static json_t *finding_json(const struct dw_doctor_finding *f)
{
	return json_pack("{s:s, s:s, s:o, s:o}", "area", f->area, "state",
	                 states[f->state].name, "detail", dw_report_string(f->detail),
	                 "remedy", dw_report_string(f->remedy[0] ? f->remedy : NULL));
}

static void on_finding(void *user, const struct dw_doctor_finding *f)
{
	struct visit *visit = user;

	if (f->needed && f->state == DW_FINDING_MISSING)
		visit->unusable = true;
	if (visit->listing->array)
		(void)dw_listing_add(visit->listing, finding_json(f));
	else
		print_finding(f, visit->colour);
}

static int examine(const void *settings, struct dw_error *err)
{
	const struct settings *set = settings;
	autolisting struct dw_listing listing = dw_listing_start(set->json);
	struct visit visit = {.listing = &listing,
	                      .colour = dw_report_colour(STDOUT_FILENO)};
	int status;

	(void)err;
	dw_doctor(on_finding, &visit);
	status = dw_listing_report(&listing);
	return status != 0 ? status : visit.unusable;
}

const struct dw_command dw_command_doctor = {
	.name = "doctor",
	.summary =
		"Report what this host can isolate, what it cannot, and how to fix that",
	.usage = {"[--json]"},
	.example = {"dewar doctor", "dewar doctor --json | jq -r '.[].remedy // empty'"},
	.groups = {&group},
	.fits = DW_FITS_NOTHING,
	.act = examine,
	.settings_size = sizeof(struct settings),
};
