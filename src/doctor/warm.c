/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "dewar/dewar.h"
#include "dewar/pool.h"
#include "doctor/doctor.h"

/*
 * Checks the templates that can be kept warm, and measures the memory of a zygote,
 * of a standby cell and of a run. The measure is PSS, which divides shared pages
 * among the processes that share them, so several cells are measured.
 */

#define CELLS 8U
#define WARM_UP_MS 60000U
#define MB 1048576.0

static bool is_installed(const char *language)
{
	struct dw_language lang;

	for (size_t i = 0; i < dw_language_count(); i++)
		if (dw_language_get(i, &lang, NULL) == 0 &&
		    strcmp(lang.name, language) == 0)
			return lang.path[0] != '\0';
	return false;
}

static double memory_of_run(struct dw_pool *pool, const struct dw_template_config *t)
{
	struct dw_result *res = NULL;
	struct dw_request req;
	double mb = -1;

	dw_request_init(&req);
	req.language = t->language;
	req.template = t->name;
	req.code = (struct dw_bytes){"\n", 1};
	if (dw_pool_run(pool, &req, &res, NULL) == 0)
		mb = res->memory_used_mb;
	dw_result_free(res);
	return mb;
}

static void describe(struct dw_pool *pool, const struct dw_template_config *t,
                     struct dw_doctor_finding *f)
{
	struct dw_template_stats s;
	size_t len = 0;
	double run;

	dw_pool_stats(pool, 0, &s);
	run = memory_of_run(pool, t);
	if (s.zygote_bytes > 0)
		len = (size_t)snprintf(f->detail, sizeof(f->detail), "zygote %.1f MB, ",
		                       (double)s.zygote_bytes / MB);
	len += (size_t)snprintf(f->detail + len, sizeof(f->detail) - len,
	                        "each of %u standby cells %.1f MB", CELLS,
	                        (double)s.standby_bytes / MB);
	if (run >= 0)
		(void)snprintf(f->detail + len, sizeof(f->detail) - len,
		               ", a short run %.1f MB", run);
}

static void check(const struct dw_template_config *t, struct dw_doctor_finding *f)
{
	const struct dw_pool_config config = {.templates = t, .n_templates = 1};
	struct dw_pool *pool = NULL;
	struct dw_error err = {0};

	if (dw_pool_new(&config, &pool, &err) == 0 &&
	    dw_pool_warm_up(pool, t->name, CELLS, WARM_UP_MS, &err) == 0) {
		f->state = DW_FINDING_OK;
		describe(pool, t, f);
	} else {
		f->state = DW_FINDING_WEAK;
		(void)snprintf(f->detail, sizeof(f->detail), "runs are cold: %.400s",
		               err.text);
	}
	dw_pool_free(pool);
}

void dw_doctor_warm(dw_doctor_fn *fn, void *user)
{
	size_t n;
	const struct dw_template_config *all = dw_pool_templates(&n);
	char area[64];

	for (size_t i = 0; i < n; i++) {
		struct dw_doctor_finding f = {.area = area};

		if (!is_installed(all[i].language))
			continue;
		(void)snprintf(area, sizeof(area), "warm %s", all[i].name);
		check(&all[i], &f);
		fn(user, &f);
	}
}
