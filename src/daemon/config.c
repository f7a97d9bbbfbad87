/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "base/values.h"
#include "base/yaml.h"
#include "daemon/listen.h"
#include "daemon/log.h"
#include "daemon/service_own.h"
#include "dewar/dewar.h"
#include "request/limits.h"

#define KB (UINT64_C(1) << 10)
#define MB (UINT64_C(1) << 20)
#define GB (UINT64_C(1) << 30)
#define TB (UINT64_C(1) << 40)
#define HOUR_S 3600
#define DAY_S (24 * HOUR_S)

/* ---- checks of values ---- */

static int check_listen(const void *base, const char *text, struct dw_error *err)
{
	(void)base;
	if (!dw_listen_is_address(text))
		return dw_fail(err, DW_E_INVALID, 0,
		               "\"%.64s\" is not an address and a port, such as "
		               "127.0.0.1:7443 "
		               "or [::1]:7443",
		               text);
	return 0;
}

/* Paths are absolute: they must not depend on the folder that the daemon starts in. */
static int check_path(const void *base, const char *text, struct dw_error *err)
{
	(void)base;
	if (text[0] != '/')
		return dw_fail(err, DW_E_INVALID, 0,
		               "\"%.64s\" must be a path that begins with /", text);
	if (strlen(text) >= PATH_MAX)
		return dw_fail(err, DW_E_INVALID, 0, "the path is too long");
	return 0;
}

static int check_socket(const void *base, const char *text, struct dw_error *err)
{
	struct sockaddr_un un;

	if (check_path(base, text, err) < 0)
		return -1;
	if (strlen(text) >= sizeof(un.sun_path))
		return dw_fail(
			err, DW_E_INVALID, 0,
			"is too long: the path of a socket must have at most %zu bytes",
			sizeof(un.sun_path) - 1);
	return 0;
}

/*
 * A policy is the name of a profile or an absolute path: a daemon has no folder of its
 * own.
 */
static int check_policy(const void *base, const char *text, struct dw_error *err)
{
	size_t len = strlen(text);

	if (strchr(text, '/') || (len > 5 && strcmp(text + len - 5, ".yaml") == 0))
		return check_path(base, text, err);
	return 0;
}

#define DW_LIMIT(id, member, ...)                                                       \
	static int check_##id(const void *base, const char *text, struct dw_error *err) \
	{                                                                               \
		(void)text;                                                             \
		return dw_limit_check(DW_LIMIT_##id,                                    \
		                      ((const struct dw_limits *)base)->member, err);   \
	}
#include "dewar/limits.def"

static int check_level(const void *base, const char *text, struct dw_error *err)
{
	(void)base;
	return dw_choose(NULL, text, dw_level_names(), err) < 0 ? -1 : 0;
}

#define HOST_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_"

static int check_host(const void *base, const char *text, struct dw_error *err)
{
	(void)base;
	if (strspn(text, HOST_CHARS) != strlen(text))
		return dw_fail(err, DW_E_INVALID, 0,
		               "\"%.64s\" is not a plain host name without a port, such "
		               "as dewar.example.org",
		               text);
	return 0;
}

/*
 * Require the exact form that browsers send, because the header is compared byte by byte.
 */
static int check_origin(const void *base, const char *text, struct dw_error *err)
{
	size_t scheme = strncmp(text, "https://", 8) == 0  ? 8
	                : strncmp(text, "http://", 7) == 0 ? 7
	                                                   : 0;

	(void)base;
	if (scheme == 0 || text[scheme] == '\0' ||
	    strspn(text + scheme, HOST_CHARS "[]:") != strlen(text + scheme))
		return dw_fail(err, DW_E_INVALID, 0,
		               "\"%.64s\" is not an origin: https://app.example.org, "
		               "without a path",
		               text);
	return 0;
}

static int check_template_name(const void *base, const char *text, struct dw_error *err)
{
	struct dw_template_stats stats;

	(void)base;
	if (strspn(text, HOST_CHARS) != strlen(text) ||
	    strlen(text) >= sizeof(stats.name))
		return dw_fail(err, DW_E_INVALID, 0,
		               "\"%.64s\" is not a name for a template: use at most %zu "
		               "letters, digits, dots, - and _",
		               text, sizeof(stats.name) - 1);
	return 0;
}

static int check_language(const void *base, const char *text, struct dw_error *err)
{
	(void)base;
	return dw_language_check(text, err);
}

/* Only the languages of the built-in templates can be kept warm. */
static int check_warm_language(const void *base, const char *text, struct dw_error *err)
{
	const char *name = dw_language_name(text);
	const struct dw_template_config *all;
	size_t n;

	if (check_language(base, text, err) < 0)
		return -1;
	all = dw_pool_templates(&n);
	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].language, name) == 0)
			return 0;
	return dw_fail(err, DW_E_INVALID, 0, "%s does not support warm cells", name);
}

static int check_docker(const void *base, const char *text, struct dw_error *err)
{
	const struct dw_config_docker *docker = base;

	(void)text;
	if (!docker->language || (!docker->image && docker->standby == 0))
		return dw_fail(err, DW_E_INVALID, 0,
		               "set language, and image or standby");
	return 0;
}

static int check_template(const void *base, const char *text, struct dw_error *err)
{
	const struct dw_template_config *template = base;

	(void)text;
	if (!template->name || !template->language)
		return dw_fail(err, DW_E_INVALID, 0,
		               "a template must have a name and a language");
	return 0;
}

/* ---- conversion of lists ---- */

/* Join the words as "a,b" in size bytes. Fails if a word is given twice. */
static int join(const char *const *words, size_t n, char *ret, size_t size,
                struct dw_error *err)
{
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++)
			if (strcmp(words[i], words[j]) == 0)
				return dw_fail(err, DW_E_INVALID, 0,
				               "\"%.64s\" is given twice", words[i]);
		used += (size_t)snprintf(ret + used, size - used, "%s%s",
		                         i > 0 ? "," : "", words[i]);
		if (used >= size)
			return dw_fail(err, DW_E_INVALID, 0, "is too long");
	}
	return 0;
}

static int take_default_level(void *base, const char *const *words, size_t n,
                              struct dw_error *err)
{
	struct dw_config *config = base;
	char text[64] = "", *copy;

	if (join(words, n, text, sizeof(text), err) < 0)
		return -1;
	copy = strdup(text);
	if (!copy)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot read the config");
	free(config->runs.level);
	config->runs.level = copy;
	return 0;
}

static int take_local_levels(void *base, const char *const *words, size_t n,
                             struct dw_error *err)
{
	struct dw_config *config = base;

	return join(words, n, config->local.levels, sizeof(config->local.levels), err);
}

static int take_scopes(void *base, const char *const *words, size_t n,
                       struct dw_error *err)
{
	struct dw_config *config = base;
	unsigned scopes = 0, scope;

	for (size_t i = 0; i < n; i++) {
		if (dw_scope_parse(words[i], &scope, err) < 0)
			return -1;
		scopes |= scope;
	}
	config->local.scopes = scopes;
	return 0;
}

/* ---- the table of keys ---- */

#define AT(member) .at = offsetof(struct dw_config, member)
#define COUNTED(member, number)                   \
	.at = offsetof(struct dw_config, member), \
	.count = offsetof(struct dw_config, number)
#define RANGE(lo, hi) .min = (lo), .max = (hi)
#define TEMPLATE(member) .at = offsetof(struct dw_template_config, member)

#define YAML_TIME DW_YAML_TIME
#define YAML_SIZE DW_YAML_SIZE
#define YAML_CPUS DW_YAML_CPUS
#define YAML_COUNT DW_YAML_NUMBER

/*
 * The keys of limits, from the table of limits. The value 0 means the default, so every
 * check refuses it.
 */
static const struct dw_yaml_key limits_keys[] = {
#define DW_LIMIT(id, member, kind, option, ...)                         \
	{option, YAML_##kind, .at = offsetof(struct dw_limits, member), \
	 .max = UINT64_MAX, .check = check_##id},
#include "dewar/limits.def"
	{0},
};

static const struct dw_yaml_key runs_keys[] = {
	{"concurrent", DW_YAML_COUNT, AT(runs.concurrent), RANGE(1, DW_WORKERS_MAX)},
	{"queue", DW_YAML_COUNT, AT(runs.queue), .max = 1000000},
	{"drain", DW_YAML_SECONDS, AT(runs.drain_s), .max = DAY_S},
	{"keep", DW_YAML_COUNT, AT(runs.keep), .max = 1000000},
	{"keep_bytes", DW_YAML_SIZE, AT(runs.keep_bytes), RANGE(MB, TB)},
	{"keep_time", DW_YAML_SECONDS, AT(runs.keep_s), RANGE(1, 30 * DAY_S)},
	{"levels", DW_YAML_LIST, COUNTED(runs.levels, runs.n_levels), RANGE(1, 8),
         .check = check_level},
	{"level", DW_YAML_WORDS, RANGE(1, 8), .check = check_level,
         .take = take_default_level},
	{"limits", DW_YAML_MAP, AT(runs.limits), .keys = limits_keys},
	{"max", DW_YAML_MAP, AT(runs.max), .keys = limits_keys},
	{"network", DW_YAML_FLAG, AT(runs.network)},
	{0},
};

static const struct dw_yaml_key http_keys[] = {
	{"connections", DW_YAML_COUNT, AT(http.connections), RANGE(1, 1000000)},
	{"body_bytes", DW_YAML_SIZE, AT(http.body_bytes), RANGE(KB, GB)},
	{"body_time", DW_YAML_SECONDS, AT(http.body_s), RANGE(1, HOUR_S)},
	{"idle", DW_YAML_SECONDS, AT(http.idle_s), RANGE(1, DAY_S)},
	{"hosts", DW_YAML_LIST, COUNTED(http.hosts, http.n_hosts), .max = 256,
         .check = check_host},
	{"origins", DW_YAML_LIST, COUNTED(http.origins, http.n_origins), .max = 256,
         .check = check_origin},
	{0},
};

static const struct dw_yaml_key template_keys[] = {
	{"name", DW_YAML_TEXT, TEMPLATE(name), .check = check_template_name},
	{"language", DW_YAML_TEXT, TEMPLATE(language), .check = check_warm_language},
	{"image", DW_YAML_TEXT, TEMPLATE(image), .check = check_path},
	{"preload", DW_YAML_LIST, TEMPLATE(preload), .max = 64},
	{"rehearsal", DW_YAML_TEXT, TEMPLATE(rehearsal)},
	{"standby", DW_YAML_COUNT, TEMPLATE(standby), .max = 1000},
	{0},
};

static const struct dw_yaml_key pool_keys[] = {
	{"disabled", DW_YAML_FLAG, AT(pool.off)},
	{"memory", DW_YAML_SIZE, AT(pool.memory_bytes), RANGE(MB, 1024 * TB)},
	{"standby_max", DW_YAML_COUNT, AT(pool.standby_max), RANGE(1, 10000)},
	{"idle", DW_YAML_SECONDS, AT(pool.idle_s), RANGE(1, 30 * DAY_S)},
	{"templates", DW_YAML_MAPS, COUNTED(pool.templates, pool.n_templates), .max = 64,
         .keys = template_keys, .size = sizeof(struct dw_template_config),
         .check = check_template},
	{0},
};

#define DOCKER(member) .at = offsetof(struct dw_config_docker, member)

static const struct dw_yaml_key docker_keys[] = {
	{"language", DW_YAML_TEXT, DOCKER(language), .check = check_language},
	{"image", DW_YAML_TEXT, DOCKER(image)},
	{"standby", DW_YAML_COUNT, DOCKER(standby), .max = 1000},
	{0},
};

static const struct dw_yaml_key audit_keys[] = {
	{"path", DW_YAML_TEXT, AT(audit.path), .check = check_path},
	{"keep_days", DW_YAML_COUNT, AT(audit.keep_days), RANGE(1, 36500)},
	{"keep_bytes", DW_YAML_SIZE, AT(audit.keep_bytes), RANGE(MB, 1024 * TB)},
	{0},
};

static const struct dw_yaml_key log_keys[] = {
	{"level", DW_YAML_TEXT, AT(log_level), .words = dw_log_level_words},
	{"format", DW_YAML_TEXT, AT(log_format), .words = dw_log_format_words},
	{0},
};

static const struct dw_yaml_key local_keys[] = {
	{"scopes", DW_YAML_WORDS, RANGE(1, 8), .take = take_scopes},
	{"concurrent", DW_YAML_COUNT, AT(local.concurrent), RANGE(1, 1000000)},
	{"runs_per_minute", DW_YAML_COUNT, AT(local.runs_per_minute), RANGE(1, UINT_MAX)},
	{"cpu_seconds_per_day", DW_YAML_NUMBER, AT(local.cpu_s_per_day),
         RANGE(1, INT64_MAX)},
	{"levels", DW_YAML_WORDS, RANGE(1, 8), .check = check_level,
         .take = take_local_levels},
	{"max", DW_YAML_MAP, AT(local.max), .keys = limits_keys},
	{0},
};

static const struct dw_yaml_key all_keys[] = {
	{"listen", DW_YAML_TEXT, AT(listen), .check = check_listen},
	{"socket", DW_YAML_TEXT, AT(socket), .check = check_socket},
	{"state", DW_YAML_TEXT, AT(state), .check = check_path},
	{"policy", DW_YAML_TEXT, AT(policy), .check = check_policy},
	{"runs", DW_YAML_MAP, .keys = runs_keys},
	{"http", DW_YAML_MAP, .keys = http_keys},
	{"pool", DW_YAML_MAP, .keys = pool_keys},
	{"docker", DW_YAML_MAPS, COUNTED(docker, n_docker), .max = 64,
         .keys = docker_keys, .size = sizeof(struct dw_config_docker),
         .check = check_docker},
	{"audit", DW_YAML_MAP, .keys = audit_keys},
	{"log", DW_YAML_MAP, .keys = log_keys},
	{"local", DW_YAML_MAP, .keys = local_keys},
	{0},
};

/* ---- checks across keys ---- */

/* Check that each level in "a,b" is one of runs.levels. */
static int check_allowed(const struct dw_config *config, const char *text,
                         struct dw_error *err)
{
	size_t len, i;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		for (i = 0; i < config->runs.n_levels; i++)
			if (strlen(config->runs.levels[i]) == len &&
			    strncmp(config->runs.levels[i], text, len) == 0)
				break;
		if (i == config->runs.n_levels)
			return dw_fail(err, DW_E_INVALID, 0,
			               "%.*s is not one of runs.levels", (int)len, text);
		if (text[len] == '\0')
			return 0;
	}
}

static int check_together(const struct dw_config *config, const struct dw_yaml *yaml,
                          struct dw_error *err)
{
	const struct dw_template_config *templates = config->pool.templates;

	for (size_t i = 0; i < config->runs.n_levels; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(config->runs.levels[i], config->runs.levels[j]) == 0) {
				(void)dw_fail(err, DW_E_INVALID, 0, "%s is given twice",
				              config->runs.levels[i]);
				return dw_yaml_blame(yaml, "runs.levels", err);
			}
	if (config->runs.level && check_allowed(config, config->runs.level, err) < 0)
		return dw_yaml_blame(yaml, "runs.level", err);
	if (!config->runs.level && check_allowed(config, DW_LEVEL_DEFAULT, NULL) < 0) {
		(void)dw_fail(err, DW_E_INVALID, 0,
		              "the default level, " DW_LEVEL_DEFAULT
		              ", is not in the list; set runs.level");
		return dw_yaml_blame(yaml, "runs.levels", err);
	}
	if (config->local.levels[0] != '\0' &&
	    check_allowed(config, config->local.levels, err) < 0)
		return dw_yaml_blame(yaml, "local.levels", err);
	for (size_t i = 0; i < config->pool.n_templates; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(templates[i].name, templates[j].name) == 0) {
				(void)dw_fail(err, DW_E_INVALID, 0, "%s is given twice",
				              templates[i].name);
				return dw_yaml_blame(yaml, "pool.templates", err);
			}
	for (size_t i = 0; i < config->n_docker; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(dw_language_name(config->docker[i].language),
			           dw_language_name(config->docker[j].language)) == 0) {
				(void)dw_fail(err, DW_E_INVALID, 0, "%s is given twice",
				              config->docker[i].language);
				return dw_yaml_blame(yaml, "docker", err);
			}
	return 0;
}

/* A default above its ceiling would refuse every request that sets no limit. */
static int check_defaults(const struct dw_config *config, const struct dw_yaml *yaml,
                          struct dw_error *err)
{
	const struct dw_limits *limits = &config->runs.limits, *max = &config->runs.max;
	char path[64];

	for (size_t i = 0; i < DW_LIMIT_COUNT; i++) {
		const char *name = dw_limit_rows[i].option;

		if (dw_limit_get(max, i) == 0 ||
		    dw_limit_get(limits, i) <= dw_limit_get(max, i))
			continue;
		(void)snprintf(path, sizeof(path), "runs.limits.%s", name);
		(void)dw_fail(err, DW_E_INVALID, 0, "must be at most runs.max.%s", name);
		return dw_yaml_blame(yaml, path, err);
	}
	return 0;
}

/* ---- reading the file ---- */

static struct dw_config *make_defaults(void)
{
	static const char *const levels[] = {DW_LEVEL_DEFAULT, "docker"};
	struct dw_config *config = calloc(1, sizeof(*config));

	if (!config)
		return NULL;
	config->runs.queue = 256;
	config->runs.drain_s = 30;
	config->runs.keep = 1000;
	config->runs.keep_bytes = 64 * MB;
	config->runs.keep_s = HOUR_S;
	config->http.connections = 4096;
	config->http.body_bytes = 16 * MB;
	config->http.body_s = 30;
	config->http.idle_s = 60;
	config->local.scopes = DW_SCOPE_ALL;

	config->log_level = strdup("info");
	config->log_format = strdup("json");
	config->runs.levels = calloc(ARRAY_SIZE(levels) + 1, sizeof(char *));
	if (!config->log_level || !config->log_format || !config->runs.levels) {
		dw_config_free(config);
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		config->runs.levels[i] = strdup(levels[i]);
		if (!config->runs.levels[i]) {
			dw_config_free(config);
			return NULL;
		}
		config->runs.n_levels++;
	}
	return config;
}

int dw_config_parse(const char *name, const char *text, size_t len,
                    struct dw_config **ret, struct dw_error *err)
{
	struct dw_config *config = make_defaults();
	struct dw_yaml *yaml = NULL;
	int r;

	if (!config)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "cannot read the config");
	r = dw_yaml_parse(name, text, len, &yaml, err);
	if (r == 0)
		r = dw_yaml_read(yaml, all_keys, config, err);
	if (r == 0)
		r = check_together(config, yaml, err);
	if (r == 0)
		r = check_defaults(config, yaml, err);
	dw_yaml_free(yaml);
	if (r < 0) {
		dw_config_free(config);
		return -1;
	}
	*ret = config;
	return 0;
}

int dw_config_load(const char *path, struct dw_config **ret, struct dw_error *err)
{
	autofree char *text = NULL;
	struct stat st;
	size_t len;

	if (!path)
		return dw_config_parse("the defaults", "", 0, ret, err);
	if (dw_yaml_read_file("config", path, &st, &text, &len, err) < 0)
		return -1;
	return dw_config_parse(path, text, len, ret, err);
}

void dw_config_free(struct dw_config *config)
{
	if (!config)
		return;
	dw_yaml_finish(all_keys, config);
	free(config->runs.level);
	free(config);
}
