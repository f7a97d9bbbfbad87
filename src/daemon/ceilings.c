/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/ceilings.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "dewar/dewar.h"
#include "run/check.h"

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

const char *dw_ceilings_image(const struct dw_ceilings *rules,
                              const struct dw_request *req)
{
	const char *language = req->language ? dw_language_name(req->language) : "sh";

	if (req->image || !language || !(dw_level_guarantees(req->level) & DW_G_ENGINE))
		return NULL;
	for (size_t i = 0; i < rules->n_images; i++)
		if (strcmp(rules->images[i].language, language) == 0)
			return rules->images[i].image;
	return NULL;
}

/* Is the word of that length one of those in the list, which has commas? */
static bool is_among(const char *list, const char *word, size_t len)
{
	for (const char *p = list; *p; p += strcspn(p, ","), p += *p == ',')
		if (strcspn(p, ",") == len && strncmp(p, word, len) == 0)
			return true;
	return false;
}

static int check_levels(const char *wanted, const char *allowed, const char *hint,
                        struct dw_api_error *why)
{
	for (const char *p = wanted; *p; p += strcspn(p, ","), p += *p == ',')
		if (!is_among(allowed, p, strcspn(p, ",")))
			return dw_api_fail(why, 403, hint,
			                   "level %.*s is not allowed: %s is",
			                   (int)strcspn(p, ","), p, allowed);
	return 0;
}

/*
 * What names something of the host's: who calls us is somewhere else, or may not be
 * who our user is.
 */
static int check_host(const struct dw_request *req, struct dw_api_error *why)
{
	const char *what = NULL;

	if (req->workspace)
		what = "workspace";
	else if (req->n_writable > 0)
		what = "writable";
	else if (req->program)
		what = "program";
	else if (req->image && !(dw_level_guarantees(req->level) & DW_G_ENGINE))
		what = "image"; /* else it is the engine's, which has no path */
	if (!what)
		return 0;
	return dw_api_fail(why, 403, "give what the program needs in files",
	                   "%s names a path of the host, which the daemon does not show",
	                   what);
}

struct bound {
	const char *name;
	const char *unit;
	uint64_t factor; /* what one unit is to us */
	size_t at;
};

#define AT(member) offsetof(struct dw_limits, member)

static const struct bound bounds[] = {
	{"timeout_s", " s", 1000, AT(timeout_ms)},
	{"memory_mb", " MB", 1 << 20, AT(memory_bytes)},
	{"cpu_percent", " %", 1, AT(cpu_percent)},
	{"output_bytes", " bytes", 1, AT(output_bytes)},
	{"tmp_mb", " MB", 1 << 20, AT(tmp_bytes)},
	{"pids", "", 1, AT(pids)},
	{"files", "", 1, AT(files)},
};

static uint64_t *limit_at(struct dw_limits *limits, const struct bound *b)
{
	return (uint64_t *)((char *)limits + b->at);
}

static uint64_t limit_of(const struct dw_limits *limits, const struct bound *b)
{
	return *(const uint64_t *)((const char *)limits + b->at);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

static int fill_limits(const struct dw_ceilings *rules, const struct dw_caller *caller,
                       struct dw_request *req, struct dw_api_error *why)
{
	struct dw_limits asked = req->limits, otherwise;

	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++)
		if (limit_of(&asked, &bounds[i]) == 0)
			*limit_at(&req->limits, &bounds[i]) = limit_of(&rules->limits,
			                                               &bounds[i]);
	dw_request_limits(req, &otherwise);

	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
		const struct bound *b = &bounds[i];
		uint64_t most = smaller(limit_of(&rules->max, b),
		                        limit_of(&caller->grant.max, b));
		uint64_t now = limit_of(&otherwise, b);

		if (most > 0 && limit_of(&asked, b) > most)
			return dw_api_fail(
				why, 403, "ask for less, or for none",
				"limits.%s is %llu%s at most here, and %llu%s were "
				"asked for",
				b->name, (unsigned long long)(most / b->factor), b->unit,
				(unsigned long long)(limit_of(&asked, b) / b->factor),
				b->unit);
		*limit_at(&req->limits, b) = most > 0 && now > most ? most : now;
	}
	return 0;
}

int dw_ceilings_check(const struct dw_ceilings *rules, const struct dw_caller *caller,
                      const struct dw_request *req, struct dw_api_error *why)
{
	struct dw_error err = {0};

	if (dw_request_check(req, &err) < 0)
		return dw_api_fail_with(why, &err);
	if (check_levels(req->level, rules->levels, "the daemon's config has runs.levels",
	                 why) < 0)
		return -1;
	if (caller->grant.levels[0] != '\0' &&
	    check_levels(req->level, caller->grant.levels, "the key has its levels",
	                 why) < 0)
		return -1;
	return check_host(req, why);
}

int dw_ceilings_apply(const struct dw_ceilings *rules, const struct dw_caller *caller,
                      struct dw_request *req, struct dw_api_error *why)
{
	if (!(caller->grant.scopes & DW_SCOPE_RUN))
		return dw_api_fail(why, 403, "use a key with the scope run",
		                   "this key may not run anything");
	if (!req->level)
		req->level = rules->level;
	if (dw_ceilings_check(rules, caller, req, why) < 0)
		return -1;
	if (req->network == DW_NETWORK_FULL && !rules->network)
		return dw_api_fail(why, 403, "the daemon's config has runs.network",
		                   "the full network is not allowed");
	return fill_limits(rules, caller, req, why);
}
