/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/doctor.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/command.h"
#include "cli/report.h"

struct settings {
	bool json;
};

static const struct dw_option options[] = {
	{
		.name = "json",
		.help = "Print the findings as JSON",
		.take = dw_take_flag,
		.field = offsetof(struct settings, json),
	},
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
	json_t *array; /* NULL: print each as it comes, for looking takes a while */
	bool colour;
	bool usable;
};

static void on_finding(void *user, const struct dw_doctor_finding *f)
{
	struct visit *visit = user;
	const char *state = states[f->state].name;

	if (strcmp(f->area, "level container") == 0)
		visit->usable = f->state != DW_FINDING_MISSING;

	if (visit->array) {
		(void)json_array_append_new(visit->array,
		                            json_pack("{s:s, s:s, s:o, s:o}", "area",
		                                      f->area, "state", state, "detail",
		                                      dw_report_string(f->detail),
		                                      "remedy",
		                                      dw_report_string(f->remedy[0]
		                                                               ? f->remedy
		                                                               : NULL)));
		return;
	}

	(void)printf("%s%-7s%s  %-18s  %s\n",
	             visit->colour ? states[f->state].colour : "", state,
	             visit->colour ? "\033[0m" : "", f->area, f->detail);
	if (f->remedy[0] != '\0')
		(void)printf("         %s\n", f->remedy);
	(void)fflush(stdout);
}

static int doctor(const struct dw_command *cmd, int argc, char **argv)
{
	struct settings set = {0};
	struct dw_parsed parsed = {0};
	struct dw_error err = {0};
	struct visit visit = {0};
	int r, status;

	r = dw_options_parse(cmd, argc, argv, &set, &parsed, &err);
	if (r > 0)
		return dw_report_flush();
	if (r == 0 && parsed.n_operands > 0)
		r = dw_fail(&err, DW_E_INVALID, 0,
		            "\"%s\" is too much; see `dewar doctor --help`",
		            parsed.operands[0]);
	dw_parsed_finish(&parsed);
	if (r < 0)
		return dw_report_error(&err, dw_options_want_json(argc, argv));

	visit.colour = dw_report_colour(STDOUT_FILENO);
	if (set.json)
		visit.array = json_array();
	if (dw_doctor(on_finding, &visit, &err) < 0) {
		json_decref(visit.array);
		return dw_report_error(&err, set.json);
	}

	status = set.json ? dw_report_json(visit.array) : dw_report_flush();
	if (status != 0)
		return status;
	return visit.usable ? 0 : 1;
}

const struct dw_command dw_command_doctor = {
	.name = "doctor",
	.summary = "Say what this host can isolate, what it cannot, and what would help",
	.usage = {"[--json]"},
	.example = {"dewar doctor", "dewar doctor --json | jq -r '.[].remedy // empty'"},
	.groups = {&group},
	.fits = DW_FITS_NOTHING,
	.run = doctor,
};
