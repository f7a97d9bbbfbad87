/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/service.h"

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/lock.h"
#include "dewar/dewar.h"

#define CACHE_MS 60000U

struct cache {
	pthread_mutex_t lock;
	char *text;
	uint64_t at_ms;
	char *(*find)(void);
};

/* Returns {KEY: LIST} as JSON. Takes ownership of the list. */
static char *dump(const char *key, json_t *list)
{
	json_auto_t *root = json_pack("{s:o}", key, list);

	return root ? json_dumps(root, JSON_COMPACT) : NULL;
}

static json_t *split(const char *words)
{
	json_t *list = json_array();

	for (size_t n; *words; words += n) {
		n = strcspn(words, " ");
		if (n > 0)
			(void)json_array_append_new(list, json_stringn(words, n));
		n += words[n] == ' ';
	}
	return list;
}

static char *find_languages(void)
{
	json_t *list = json_array();
	struct dw_language l;
	struct dw_error err;

	for (size_t i = 0; i < dw_language_count(); i++) {
		if (dw_language_get(i, &l, &err) < 0)
			continue;
		(void)json_array_append_new(list,
		                            json_pack("{s:s, s:o, s:b, s:s?, s:s}",
		                                      "name", l.name, "aliases",
		                                      split(l.aliases), "installed",
		                                      l.path[0] != '\0', "version",
		                                      l.version[0] ? l.version : NULL,
		                                      "package", l.package));
	}
	return dump("languages", list);
}

static char *find_levels(void)
{
	json_t *list = json_array();

	for (const char *const *name = dw_level_names(); *name; name++) {
		struct dw_error err = {0};
		bool works = dw_level_probe(*name, &err) == 0;

		(void)json_array_append_new(list,
		                            json_pack("{s:s, s:b, s:s?}", "name", *name,
		                                      "available", works, "why",
		                                      works ? NULL : err.text));
	}
	return dump("levels", list);
}

static char *read_cache(struct cache *cache)
{
	HOLD_LOCK(&cache->lock);
	if (!cache->text || dw_now_ms() - cache->at_ms > CACHE_MS) {
		free(cache->text);
		cache->text = cache->find();
		cache->at_ms = dw_now_ms();
	}
	return cache->text ? strdup(cache->text) : NULL;
}

char *dw_host_info_languages(void)
{
	static struct cache cache = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, find_languages};

	return read_cache(&cache);
}

char *dw_host_info_levels(void)
{
	static struct cache cache = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, find_levels};

	return read_cache(&cache);
}
