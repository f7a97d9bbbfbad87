/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/host_info.h"

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "dewar/dewar.h"

#define FRESH_MS 60000U

struct found {
	pthread_mutex_t lock;
	char *text;
	uint64_t at_ms;
	char *(*find)(void);
};

static char *dump(json_t *root)
{
	char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;

	json_decref(root);
	return text;
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
	return dump(json_pack("{s:o}", "languages", list));
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
	return dump(json_pack("{s:o}", "levels", list));
}

static char *look(struct found *found)
{
	char *copy;

	(void)pthread_mutex_lock(&found->lock);
	if (!found->text || dw_now_ms() - found->at_ms > FRESH_MS) {
		free(found->text);
		found->text = found->find();
		found->at_ms = dw_now_ms();
	}
	copy = found->text ? strdup(found->text) : NULL;
	(void)pthread_mutex_unlock(&found->lock);
	return copy;
}

char *dw_host_info_languages(void)
{
	static struct found found = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, find_languages};

	return look(&found);
}

char *dw_host_info_levels(void)
{
	static struct found found = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, find_levels};

	return look(&found);
}
