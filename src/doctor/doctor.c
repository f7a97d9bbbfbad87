/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/doctor.h"

#include <errno.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/id.h"
#include "cgroup/cgroup.h"
#include "dewar/dewar.h"
#include "levels/host.h"
#include "levels/launched.h"

/* Checks do not rely on versions or settings: each check tries what a run would do. */

struct doctor {
	dw_doctor_fn *fn;
	void *user;
};

static void report(const struct doctor *d, const char *area, enum dw_finding_state state,
                   const char *detail, const char *remedy)
{
	struct dw_doctor_finding f = {.area = area, .state = state};

	(void)snprintf(f.detail, sizeof(f.detail), "%s", detail);
	(void)snprintf(f.remedy, sizeof(f.remedy), "%s", remedy);
	d->fn(d->user, &f);
}

/* Returns true if a level that supports warm cells works. */
static bool check_levels(const struct doctor *d)
{
	bool warm = false;

	for (const char *const *name = dw_level_names(); *name; name++) {
		const struct dw_level *level = dw_level_find(*name, strlen(*name));
		struct dw_doctor_finding f = {.needed = level == dw_level_first(NULL)};
		struct dw_error err = {0};
		char area[32];

		(void)snprintf(area, sizeof(area), "level %s", *name);
		f.area = area;
		if (level->probe(&err) == 0) {
			(void)snprintf(f.detail, sizeof(f.detail), "%s", level->summary);
			warm = warm || (level->guarantees & DW_G_FORK);
		} else {
			f.state = DW_FINDING_MISSING;
			(void)snprintf(f.detail, sizeof(f.detail), "%s", err.text);
			(void)snprintf(f.remedy, sizeof(f.remedy), "%s",
			               dw_failure_cause_remedy(err.text));
		}
		d->fn(d->user, &f);
	}
	return warm;
}

static void check_landlock(const struct doctor *d)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
	                   LANDLOCK_CREATE_RULESET_VERSION);
	char text[256], why[128], remedy[512];

	if (abi < 1) {
		dw_host_landlock(errno, why, sizeof(why), remedy, sizeof(remedy));
		(void)snprintf(text, sizeof(text),
		               "%s: level process then shows every file of the host",
		               why);
		report(d, "landlock", DW_FINDING_WEAK, text, remedy);
		return;
	}
	(void)snprintf(text, sizeof(text), "ABI %ld", abi);
	report(d, "landlock", DW_FINDING_OK, text, "");
}

static void check_limits(const struct doctor *d)
{
	static const struct {
		enum dw_controller controller;
		const char *area, *otherwise;
		enum dw_finding_state state;
	} limits[] = {
		{DW_CONTROLLER_MEMORY, "limit memory",
	         "init samples the memory every few milliseconds instead",
	         DW_FINDING_WEAK},
		{DW_CONTROLLER_CPU, "limit cpu",
	         "only the total CPU time is limited, not the share at each moment",
	         DW_FINDING_MISSING},
		{DW_CONTROLLER_PIDS, "limit pids",
	         "an rlimit enforces the limit, and init counts the processes",
	         DW_FINDING_WEAK},
	};
	struct dw_limits asked = {0};
	struct dw_cgroup cg;
	char text[512], remedy[512], id[DW_ID_MAX];

	if (dw_id_make(id, NULL) < 0)
		return;
	dw_limits_defaults(&asked, dw_level_first(NULL));
	dw_cgroup_create(&cg, id, NULL, &asked, asked.pids);
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		const struct dw_controlled *c = &cg.controllers[limits[i].controller];

		if (c->version != 0) {
			(void)snprintf(text, sizeof(text), "cgroup version %d",
			               c->version);
			report(d, limits[i].area, DW_FINDING_OK, text, "");
		} else {
			(void)snprintf(text, sizeof(text), "%s; %s", c->why,
			               limits[i].otherwise);
			dw_host_limit_remedy(limits[i].controller, remedy,
			                     sizeof(remedy));
			report(d, limits[i].area, limits[i].state, text, remedy);
		}
	}
	(void)dw_cgroup_destroy(&cg, NULL);
}

/*
 * Levels none and process use the folder for temporary files as their working
 * folder, and run compiled programs in it.
 */
static void check_folder(const struct doctor *d)
{
	const char *folder = dw_launched_temp_folder();
	struct statvfs fs;
	char text[128];

	if (access(folder, W_OK | X_OK) < 0) {
		(void)snprintf(text, sizeof(text),
		               "%s: %s; it is the working folder of levels none "
		               "and process",
		               folder, strerrordesc_np(errno));
		report(d, "working folder", DW_FINDING_MISSING, text,
		       "TMPDIR=/var/tmp dewar ...");
	} else if (statvfs(folder, &fs) == 0 && (fs.f_flag & ST_NOEXEC)) {
		(void)snprintf(text, sizeof(text),
		               "%s is mounted noexec: levels none and process cannot run "
		               "compiled programs",
		               folder);
		report(d, "working folder", DW_FINDING_WEAK, text,
		       "TMPDIR=/var/tmp dewar ...");
	} else {
		report(d, "working folder", DW_FINDING_OK, folder, "");
	}
}

static void check_network(const struct doctor *d)
{
	struct dw_error err = {0};

	if (dw_pasta_probe(&err) == 0)
		report(d, "network full", DW_FINDING_OK, "through pasta", "");
	else
		report(d, "network full", DW_FINDING_MISSING, err.text,
		       dw_failure_cause_remedy(err.text));
}

static void check_languages(const struct doctor *d)
{
	size_t n = dw_language_count(), found = 0;
	char text[512] = "", missing[512] = "apt-get install",
	     *at = missing + strlen(missing);

	for (size_t i = 0; i < n; i++) {
		struct dw_language lang;

		if (dw_language_get(i, &lang, NULL) < 0 || lang.path[0] != '\0')
			found++;
		else
			at += snprintf(at, (size_t)(missing + sizeof(missing) - at),
			               " %s", lang.package);
	}
	(void)snprintf(text, sizeof(text), "%zu of %zu installed (dewar languages)",
	               found, n);
	report(d, "languages", found == n ? DW_FINDING_OK : DW_FINDING_WEAK, text,
	       found == n ? "" : missing);
}

void dw_doctor(dw_doctor_fn *fn, void *user)
{
	const struct doctor d = {fn, user};
	bool warm = check_levels(&d);

	check_landlock(&d);
	check_limits(&d);
	check_folder(&d);
	check_network(&d);
	check_languages(&d);
	dw_doctor_versions(fn, user);
	if (warm)
		dw_doctor_warm(fn, user);
}
