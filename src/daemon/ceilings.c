/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/ceilings.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "dewar/dewar.h"
#include "request/limits.h"
#include "run/request_check.h"

void dw_ceilings_from_config(struct dw_ceilings *ret, const struct dw_config *config)
{
	size_t at = 0;

	*ret = (struct dw_ceilings){
		.limits = config->runs.limits,
		.max = config->runs.max,
		.network = config->runs.network,
	};
	for (size_t i = 0; i < config->runs.n_levels && at < sizeof(ret->levels); i++)
		at += (size_t)snprintf(ret->levels + at, sizeof(ret->levels) - at, "%s%s",
		                       i > 0 ? "," : "", config->runs.levels[i]);
	(void)snprintf(ret->level, sizeof(ret->level), "%s",
	               config->runs.level ? config->runs.level : DW_LEVEL_DEFAULT);
	for (size_t i = 0; i < config->n_docker && i < DW_CEILINGS_IMAGES; i++) {
		const struct dw_config_docker *docker = &config->docker[i];

		if (!docker->image)
			continue;
		(void)snprintf(ret->images[ret->n_images].language,
		               sizeof(ret->images[0].language), "%s",
		               dw_language_name(docker->language));
		(void)snprintf(ret->images[ret->n_images++].image,
		               sizeof(ret->images[0].image), "%s", docker->image);
	}
}

const char *dw_ceilings_image(const struct dw_ceilings *ceilings,
                              const struct dw_request *req)
{
	const char *language = req->language ? dw_language_name(req->language) : "sh";

	if (req->image || !language || !(dw_level_guarantees(req->level) & DW_G_ENGINE))
		return NULL;
	for (size_t i = 0; i < ceilings->n_images; i++)
		if (strcmp(ceilings->images[i].language, language) == 0)
			return ceilings->images[i].image;
	return NULL;
}

/* Returns true if the list "a,b" contains the word, which has len bytes. */
static bool is_among(const char *list, const char *word, size_t len)
{
	for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
		if (strcspn(p, ",") == len && strncmp(p, word, len) == 0)
			return true;
	return false;
}

/* Write the list "a,b,c" as "a, b or c". */
static void write_choice(const char *list, char *ret, size_t size)
{
	size_t used = 0;

	for (const char *p = list; *p && used < size;
	     p += strcspn(p, ","), p += *p == ',') {
		bool last = p[strcspn(p, ",")] == '\0';

		used += (size_t)snprintf(ret + used, size - used, "%s%.*s",
		                         p == list ? ""
		                         : last    ? " or "
		                                   : ", ",
		                         (int)strcspn(p, ","), p);
	}
}

static int check_levels(const char *wanted, const char *allowed, const char *hint,
                        struct dw_api_error *why)
{
	char choice[128] = "";

	write_choice(allowed, choice, sizeof(choice));
	for (const char *p = wanted; *p; p += strcspn(p, ","), p += *p == ',')
		if (!is_among(allowed, p, strcspn(p, ",")))
			return dw_api_fail(why, 403, hint,
			                   "level %.*s is not allowed here; use %s",
			                   (int)strcspn(p, ","), p, choice);
	return 0;
}

/*
 * Refuse fields that name a path of the host: the client may be on another host, or may
 * not have the daemon's rights.
 */
static int check_host(const struct dw_request *req, struct dw_api_error *why)
{
	const char *what = NULL, *hint = "pass the contents in files";

	if (req->workspace) {
		what = "workspace";
	} else if (req->n_writable > 0) {
		what = "writable_paths";
		hint = "write to /tmp, and name the files in collect";
	} else if (req->program) {
		what = "program";
	} else if (req->image && !(dw_level_guarantees(req->level) & DW_G_ENGINE)) {
		what = "image"; /* at level docker, the image is a name, not a path */
		hint = "at level docker, image is a name";
	}
	if (!what)
		return 0;
	return dw_api_fail(why, 403, hint,
	                   "%s names a path of the host, which the daemon does not allow",
	                   what);
}

/* Returns the smaller of two ceilings; 0 means no ceiling. */
static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

static int fill_limits(const struct dw_ceilings *ceilings, const struct dw_caller *caller,
                       struct dw_request *req, struct dw_api_error *why)
{
	struct dw_limits asked = req->limits, otherwise;

	dw_limits_fill(&req->limits, &ceilings->limits);
	dw_request_limits(req, &otherwise);

	for (size_t i = 0; i < DW_LIMIT_COUNT; i++) {
		const struct dw_limit_row *row = &dw_limit_rows[i];
		uint64_t most = smaller(dw_limit_get(&ceilings->max, i),
		                        dw_limit_get(&caller->grant.max, i));
		uint64_t wanted = dw_limit_get(&asked, i);
		uint64_t now = dw_limit_get(&otherwise, i);

		if (most > 0 && wanted > most)
			return dw_api_fail(why, 403, "request less, or omit the limit",
			                   "limits.%s must be at most %.10g%s here, not "
			                   "%.10g%s",
			                   row->key, (double)most / (double)row->scale,
			                   row->unit, (double)wanted / (double)row->scale,
			                   row->unit);
		/* A limit of 0 means unlimited, which exceeds any ceiling. */
		*dw_limit_of(&req->limits, i) = smaller(now, most);
	}
	return 0;
}

int dw_ceilings_check(const struct dw_ceilings *ceilings, const struct dw_caller *caller,
                      const struct dw_request *req, struct dw_api_error *why)
{
	struct dw_error err = {0};

	if (dw_request_check(req, &err) < 0 ||
	    dw_level_check("level", req->level, &err) < 0)
		return dw_api_fail_with(why, &err);
	if (check_levels(req->level, ceilings->levels,
	                 "add the level to runs.levels in the daemon's config", why) < 0)
		return -1;
	if (caller->grant.levels[0] != '\0' &&
	    check_levels(req->level, caller->grant.levels,
	                 "use a key that permits this level", why) < 0)
		return -1;
	return check_host(req, why);
}

int dw_ceilings_apply(const struct dw_ceilings *ceilings, const struct dw_caller *caller,
                      struct dw_request *req, struct dw_api_error *why)
{
	if (!(caller->grant.scopes & DW_SCOPE_RUN))
		return dw_api_fail(why, 403, "use a key with the scope run",
		                   "this key may not run code");
	if (!req->level)
		req->level = ceilings->level;
	if (dw_ceilings_check(ceilings, caller, req, why) < 0)
		return -1;
	if (req->network == DW_NETWORK_FULL && !ceilings->network)
		return dw_api_fail(why, 403,
		                   "set runs.network: true in the daemon's config",
		                   "the full network is not allowed");
	return fill_limits(ceilings, caller, req, why);
}
