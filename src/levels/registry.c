/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/values.h"
#include "levels/level.h"

/* Weakest first. */
#define LEVELS(X) X(none), X(process), X(container), X(docker), X(microvm)
#define INSTANCE(name) &dw_level_##name
#define NAME(name) #name

static const struct dw_level *const levels[] = {LEVELS(INSTANCE)};
static const char *const names[] = {LEVELS(NAME), NULL};

const struct dw_level *dw_level_find(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if (strlen(levels[i]->name) == len &&
		    memcmp(levels[i]->name, name, len) == 0)
			return levels[i];
	return NULL;
}

const struct dw_level *dw_level_first(const char *list)
{
	const struct dw_level *first = list ? dw_level_find(list, strcspn(list, ","))
	                                    : NULL;

	return first ? first : dw_level_find(DW_LEVEL_DEFAULT, strlen(DW_LEVEL_DEFAULT));
}

const struct dw_level *dw_level_with(uint32_t guarantees)
{
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		if ((levels[i]->guarantees & guarantees) == guarantees)
			return levels[i];
	return NULL;
}

const char *const *dw_level_names(void)
{
	return names;
}

uint32_t dw_level_guarantees(const char *list)
{
	uint32_t all = UINT32_MAX;
	const struct dw_level *level;

	for (;; list += strcspn(list, ",") + 1) {
		level = dw_level_find(list, strcspn(list, ","));
		all &= level ? level->guarantees : 0;
		if (list[strcspn(list, ",")] == '\0')
			return all;
	}
}

int dw_level_check(const char *what, const char *list, struct dw_error *err)
{
	char word[32];

	for (;; list += strcspn(list, ",") + 1) {
		size_t len = strcspn(list, ",");

		(void)snprintf(word, sizeof(word), "%.*s", (int)len, list);
		if (!dw_level_find(list, len))
			return dw_choose(what, word, names, err);
		if (list[len] == '\0')
			return 0;
	}
}

int dw_level_probe(const char *name, struct dw_error *err)
{
	const struct dw_level *level = dw_level_find(name, strlen(name));

	if (!level)
		return dw_level_check("level", name, err);
	return level->probe(err);
}

const char *dw_level_search_path(const struct dw_level *level)
{
	const char *path = getenv("PATH");

	/* A level without walls runs what the caller's own shell would find. */
	return level->guarantees == 0 && path ? path : DW_RUNTIME_PATH;
}
