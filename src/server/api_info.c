/* SPDX-License-Identifier: Apache-2.0 */
#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "dewar/dewar.h"
#include "openapi_embedded.h"
#include "server/door.h"
#include "server/router.h"

/*
 * Languages are asked for their versions, and levels are tried: both take a while,
 * and stay true for long. What was found is kept for a minute.
 */
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

static struct found languages = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, find_languages};
static struct found levels = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, find_levels};

/* Which of the two is meant is in x->state. */
static void look(struct dw_exchange *x)
{
	struct found *found = x->state;

	(void)pthread_mutex_lock(&found->lock);
	if (!found->text || dw_now_ms() - found->at_ms > FRESH_MS) {
		free(found->text);
		found->text = found->find();
		found->at_ms = dw_now_ms();
	}
	(void)pthread_mutex_unlock(&found->lock);
}

static void show(struct dw_exchange *x)
{
	struct found *found = x->state;

	(void)pthread_mutex_lock(&found->lock);
	dw_reply_json(x, 200, found->text);
	(void)pthread_mutex_unlock(&found->lock);
}

void dw_api_languages(struct dw_exchange *x)
{
	x->state = &languages;
	dw_exchange_aside(x, look, show);
}

/*
 * Which of them the daemon lets anybody ask for is not said here: it depends on who
 * asks, and the refusal names them.
 */
void dw_api_levels(struct dw_exchange *x)
{
	x->state = &levels;
	dw_exchange_aside(x, look, show);
}

void dw_api_openapi(struct dw_exchange *x)
{
	dw_reply(x, 200, "application/json", (const char *)dw_openapi,
	         sizeof(dw_openapi));
}

void dw_api_health(struct dw_exchange *x)
{
	dw_reply_json(x, 200, "{\"status\":\"ok\"}");
}

void dw_api_ready(struct dw_exchange *x)
{
	struct dw_error err = {0};
	struct dw_refusal why;

	if (dw_service_ready(dw_exchange_service(x), &err)) {
		dw_reply_json(x, 200, "{\"status\":\"ready\"}");
		return;
	}
	(void)dw_refuse(&why, 503, "", "%s", err.text);
	dw_reply_refusal(x, &why);
}

void dw_api_metrics(struct dw_exchange *x)
{
	autobuf struct dw_buf text;

	dw_buf_init(&text, 1U << 20);
	dw_service_print(dw_exchange_service(x), &text);
	dw_reply(x, 200, "text/plain; version=0.0.4; charset=utf-8", text.data, text.len);
}
