/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/values.h"
#include "base/yaml_own.h"

/* The size of the longest path of keys in an error. */
#define WHERE_MAX 128

struct reader {
	const struct dw_yaml *yaml;
	char where[WHERE_MAX]; /* the path of keys to the current node: "rules.when" */
	struct dw_error *err;
};

/* Put file, line and key in front of the error, and return -1. */
static int blame(const struct reader *rd, const yaml_node_t *node)
{
	if (rd->err && rd->err->code != DW_E_INVALID)
		return -1;
	if (rd->where[0] != '\0')
		(void)dw_wrap(rd->err, "%s", rd->where);
	return dw_wrap(rd->err, "%s:%zu", rd->yaml->name, node->start_mark.line + 1);
}

__attribute__((format(printf, 3, 4))) static int refuse(const struct reader *rd,
                                                        const yaml_node_t *node,
                                                        const char *fmt, ...)
{
	char text[DW_ERROR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	(void)dw_fail(rd->err, DW_E_INVALID, 0, "%s", text);
	return blame(rd, node);
}

static int no_memory(const struct reader *rd)
{
	return dw_fail(rd->err, DW_E_INTERNAL, ENOMEM, "cannot read %s", rd->yaml->name);
}

static bool is_plain(const yaml_node_t *node, const char *text)
{
	return node->type == YAML_SCALAR_NODE &&
	       node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
	       strcmp((const char *)node->data.scalar.value, text) == 0;
}

static bool is_nothing(const yaml_node_t *node)
{
	return is_plain(node, "") || is_plain(node, "~") || is_plain(node, "null");
}

/* Returns true if the node has this type, and no tag, which could change its meaning. */
static bool is_a(const yaml_node_t *node, yaml_node_type_t type)
{
	const char *tag = type == YAML_SCALAR_NODE     ? YAML_DEFAULT_SCALAR_TAG
	                  : type == YAML_SEQUENCE_NODE ? YAML_DEFAULT_SEQUENCE_TAG
	                                               : YAML_DEFAULT_MAPPING_TAG;

	return node->type == type && strcmp((const char *)node->tag, tag) == 0;
}

/* The text of a scalar; NULL with an error if the node is not an acceptable scalar. */
static const char *text_of(const struct reader *rd, const yaml_node_t *node)
{
	const char *text = (const char *)node->data.scalar.value;

	if (!is_a(node, YAML_SCALAR_NODE))
		(void)refuse(rd, node, "must be one value, without a tag");
	else if (strlen(text) != node->data.scalar.length)
		(void)refuse(rd, node, "must not contain a NUL");
	else if (text[0] == '\0')
		(void)refuse(rd, node, "must not be empty");
	else
		return text;
	return NULL;
}

static int check_text(const struct reader *rd, const yaml_node_t *node,
                      const struct dw_yaml_key *key, const void *base, const char *text)
{
	if ((key->words && dw_choose(NULL, text, key->words, rd->err) < 0) ||
	    (key->check && key->check(base, text, rd->err) < 0))
		return blame(rd, node);
	return 0;
}

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

static void cleanup_list(char ***list)
{
	free_list(*list);
}
#define autolist __attribute__((cleanup(cleanup_list)))

/* Read the strings of a sequence, or one scalar as a list of one; *ret ends in NULL. */
static int read_texts(const struct reader *rd, const yaml_node_t *node,
                      const struct dw_yaml_key *key, const void *base, char ***ret,
                      size_t *ret_n)
{
	bool many = is_a(node, YAML_SEQUENCE_NODE);
	const yaml_node_item_t *items = many ? node->data.sequence.items.start : NULL;
	size_t n = many ? (size_t)(node->data.sequence.items.top - items) : 1;
	autolist char **list = NULL;

	if (!many && key->type == DW_YAML_LIST)
		return refuse(rd, node, "must be a list, such as [a, b]");
	if (n < key->min || n > key->max) {
		return refuse(rd, node, "must have %llu to %llu entries, not %zu",
		              (unsigned long long)key->min, (unsigned long long)key->max,
		              n);
	}
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return no_memory(rd);
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = many ? dw_yaml_node(rd->yaml, items[i]) : node;
		const char *text = text_of(rd, item);

		if (!text || check_text(rd, item, key, base, text) < 0)
			return -1;
		list[i] = strdup(text);
		if (!list[i])
			return no_memory(rd);
	}
	*ret = TAKE_PTR(list);
	*ret_n = n;
	return 0;
}

static int read_text(const struct reader *rd, const yaml_node_t *node,
                     const struct dw_yaml_key *key, void *base)
{
	char **field = (char **)((char *)base + key->at);
	const char *text = text_of(rd, node);
	char *copy;

	if (!text || check_text(rd, node, key, base, text) < 0)
		return -1;
	copy = strdup(text);
	if (!copy)
		return no_memory(rd);
	free(*field);
	*field = copy;
	return 0;
}

static int read_list(const struct reader *rd, const yaml_node_t *node,
                     const struct dw_yaml_key *key, void *base)
{
	char ***field = (char ***)((char *)base + key->at);
	char **list;
	size_t n;

	if (read_texts(rd, node, key, base, &list, &n) < 0)
		return -1;
	free_list(*field);
	*field = list;
	if (key->count)
		*(size_t *)((char *)base + key->count) = n;
	return 0;
}

static int read_words(const struct reader *rd, const yaml_node_t *node,
                      const struct dw_yaml_key *key, void *base)
{
	autolist char **list = NULL;
	size_t n;

	if (read_texts(rd, node, key, base, &list, &n) < 0)
		return -1;
	if (key->take(base, (const char *const *)list, n, rd->err) < 0)
		return blame(rd, node);
	return 0;
}

static int read_flag(const struct reader *rd, const yaml_node_t *node,
                     const struct dw_yaml_key *key, void *base)
{
	bool *field = (bool *)((char *)base + key->at);

	if (is_a(node, YAML_SCALAR_NODE) &&
	    (is_plain(node, "true") || is_plain(node, "false"))) {
		*field = is_plain(node, "true");
		return 0;
	}
	return refuse(rd, node, "must be true or false");
}

static int parse_number(enum dw_yaml_type type, const char *text, uint64_t *ret,
                        struct dw_error *err)
{
	switch (type) {
	case DW_YAML_SIZE:
		return dw_parse_size(text, ret, err);
	case DW_YAML_CPUS:
		return dw_parse_cpus(text, ret, err);
	case DW_YAML_TIME:
		return dw_parse_time(text, ret, err);
	case DW_YAML_SECONDS:
		if (dw_parse_time(text, ret, err) < 0)
			return -1;
		if (*ret % 1000 != 0)
			return dw_fail(err, DW_E_INVALID, 0,
			               "must be whole seconds, not \"%.64s\"", text);
		*ret /= 1000;
		return 0;
	default:
		return dw_parse_uint(text, UINT64_MAX, ret, err);
	}
}

/* Format a number as a file may contain it. */
static const char *number_text(enum dw_yaml_type type, uint64_t value,
                               char ret[DW_VALUE_TEXT_MAX])
{
	if (type == DW_YAML_SIZE)
		return dw_size_text(value, ret);
	if (type == DW_YAML_TIME || type == DW_YAML_SECONDS)
		return dw_time_text(type == DW_YAML_TIME ? value : value * 1000, ret);
	(void)snprintf(ret, DW_VALUE_TEXT_MAX, "%llu%s", (unsigned long long)value,
	               type == DW_YAML_CPUS ? "%" : "");
	return ret;
}

static int read_number(const struct reader *rd, const yaml_node_t *node,
                       const struct dw_yaml_key *key, void *base)
{
	bool narrow = key->type == DW_YAML_COUNT || key->type == DW_YAML_SECONDS;
	uint64_t most = narrow && key->max > UINT_MAX ? UINT_MAX : key->max;
	void *field = (char *)base + key->at;
	const char *text = text_of(rd, node);
	char low[DW_VALUE_TEXT_MAX], high[DW_VALUE_TEXT_MAX];
	uint64_t value;

	if (!text)
		return -1;
	if (parse_number(key->type, text, &value, rd->err) < 0)
		return blame(rd, node);
	if (value == 0 && key->min == 1)
		return refuse(rd, node, "must be at least 1");
	if (key->min == most && value != most)
		return refuse(rd, node, "must be %s, not \"%.64s\"",
		              number_text(key->type, most, high), text);
	if (value < key->min || value > most)
		return refuse(rd, node, "must be %s to %s, not \"%.64s\"",
		              number_text(key->type, key->min, low),
		              number_text(key->type, most, high), text);
	if (narrow)
		*(unsigned *)field = (unsigned)value;
	else
		*(uint64_t *)field = value;
	return check_text(rd, node, key, base, text);
}

/* Returns true if an earlier pair has the same key. */
static bool seen_before(const struct reader *rd, const yaml_node_t *map,
                        const yaml_node_pair_t *pair, const char *name)
{
	const yaml_node_pair_t *other;

	for (other = map->data.mapping.pairs.start; other < pair; other++) {
		const yaml_node_t *key = dw_yaml_node(rd->yaml, other->key);

		if (strcmp((const char *)key->data.scalar.value, name) == 0)
			return true;
	}
	return false;
}

static int no_mapping(const struct reader *rd, const yaml_node_t *node)
{
	return refuse(rd, node, "%smust be a mapping of keys to values",
	              rd->where[0] == '\0' ? "the file " : "");
}

static int too_many(const struct reader *rd, const yaml_node_t *node, size_t n,
                    uint64_t most)
{
	return refuse(rd, node, "has %zu entries; at most %llu are allowed", n,
	              (unsigned long long)most);
}

static int read_map(struct reader *rd, const yaml_node_t *node,
                    const struct dw_yaml_key *keys, void *base);

static int read_maps(struct reader *rd, const yaml_node_t *node,
                     const struct dw_yaml_key *key, void *base)
{
	void **field = (void **)((char *)base + key->at);
	size_t *count = (size_t *)((char *)base + key->count);
	const yaml_node_item_t *items;
	size_t n;

	if (!is_a(node, YAML_SEQUENCE_NODE))
		return refuse(rd, node, "must be a list of mappings");
	items = node->data.sequence.items.start;
	n = (size_t)(node->data.sequence.items.top - items);
	if (n > key->max)
		return too_many(rd, node, n, key->max);
	*field = calloc(n + 1, key->size);
	if (!*field)
		return no_memory(rd);
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = dw_yaml_node(rd->yaml, items[i]);
		void *one = (char *)*field + i * key->size;

		/* Count it first, so that it is freed on failure. */
		*count = i + 1;
		if (read_map(rd, item, key->keys, one) < 0)
			return -1;
		if (key->check && key->check(one, NULL, rd->err) < 0)
			return blame(rd, item);
	}
	return 0;
}

/* Read a mapping of names to mappings. */
static int read_named(struct reader *rd, const yaml_node_t *node,
                      const struct dw_yaml_key *key, void *base)
{
	void **field = (void **)((char *)base + key->at);
	size_t *count = (size_t *)((char *)base + key->count);
	const yaml_node_pair_t *pairs;
	size_t n, len = strlen(rd->where);

	if (!is_a(node, YAML_MAPPING_NODE))
		return no_mapping(rd, node);
	pairs = node->data.mapping.pairs.start;
	n = (size_t)(node->data.mapping.pairs.top - pairs);
	if (n > key->max)
		return too_many(rd, node, n, key->max);
	*field = calloc(n + 1, key->size);
	if (!*field)
		return no_memory(rd);
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *name_node = dw_yaml_node(rd->yaml, pairs[i].key);
		const yaml_node_t *value = dw_yaml_node(rd->yaml, pairs[i].value);
		const char *name = text_of(rd, name_node);
		char *one = (char *)*field + i * key->size;

		if (!name)
			return -1;
		(void)snprintf(rd->where + len, sizeof(rd->where) - len, ".%.64s", name);
		*count = i + 1;
		*(char **)one = strdup(name);
		if (!*(char **)one)
			return no_memory(rd);
		if (seen_before(rd, node, &pairs[i], name))
			return refuse(rd, name_node, "is set twice");
		if (!is_nothing(value) && read_map(rd, value, key->keys, one) < 0)
			return -1;
		if (key->check && key->check(one, name, rd->err) < 0)
			return blame(rd, name_node);
		rd->where[len] = '\0';
	}
	return 0;
}

static int read_value(struct reader *rd, const yaml_node_t *node,
                      const struct dw_yaml_key *key, void *base)
{
	switch (key->type) {
	case DW_YAML_TEXT:
		return read_text(rd, node, key, base);
	case DW_YAML_LIST:
	case DW_YAML_SOME:
		return read_list(rd, node, key, base);
	case DW_YAML_WORDS:
		return read_words(rd, node, key, base);
	case DW_YAML_FLAG:
		return read_flag(rd, node, key, base);
	case DW_YAML_MAP:
		return read_map(rd, node, key->keys, (char *)base + key->at);
	case DW_YAML_MAPS:
		return read_maps(rd, node, key, base);
	case DW_YAML_NAMED:
		return read_named(rd, node, key, base);
	default:
		return read_number(rd, node, key, base);
	}
}

static int unknown(const struct reader *rd, const yaml_node_t *node, const char *name,
                   const struct dw_yaml_key *keys)
{
	struct dw_guess guess = {.typed = name};

	for (const struct dw_yaml_key *key = keys; key->name; key++)
		if (key->type != DW_YAML_LINE)
			dw_guess_offer(&guess, key->name);
	(void)dw_fail(rd->err, DW_E_INVALID, 0, "unknown key");
	(void)dw_suggest(rd->err, &guess, "");
	return blame(rd, node);
}

static int read_pair(struct reader *rd, const yaml_node_t *map,
                     const yaml_node_pair_t *pair, const struct dw_yaml_key *keys,
                     void *base)
{
	const yaml_node_t *name_node = dw_yaml_node(rd->yaml, pair->key);
	const yaml_node_t *value = dw_yaml_node(rd->yaml, pair->value);
	size_t len = strlen(rd->where);
	const struct dw_yaml_key *key;
	const char *name = text_of(rd, name_node);
	int r;

	if (!name)
		return -1;
	(void)snprintf(rd->where + len, sizeof(rd->where) - len, "%s%.64s",
	               len > 0 ? "." : "", name);
	for (key = keys; key->name && strcmp(key->name, name) != 0; key++)
		;
	if (!key->name) {
		r = unknown(rd, name_node, name, keys);
	} else if (seen_before(rd, map, pair, name)) {
		r = refuse(rd, name_node, "is set twice");
	} else {
		r = is_nothing(value) ? 0 : read_value(rd, value, key, base);
	}
	rd->where[len] = '\0';
	return r;
}

static int read_map(struct reader *rd, const yaml_node_t *node,
                    const struct dw_yaml_key *keys, void *base)
{
	const yaml_node_pair_t *pair;

	if (!is_a(node, YAML_MAPPING_NODE))
		return no_mapping(rd, node);
	for (const struct dw_yaml_key *key = keys; key->name; key++)
		if (key->type == DW_YAML_LINE)
			*(unsigned *)((char *)base +
			              key->at) = (unsigned)node->start_mark.line + 1;
	for (pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top;
	     pair++)
		if (read_pair(rd, node, pair, keys, base) < 0)
			return -1;
	return 0;
}

int dw_yaml_read(const struct dw_yaml *yaml, const struct dw_yaml_key *keys, void *base,
                 struct dw_error *err)
{
	struct reader rd = {.yaml = yaml, .err = err};
	const yaml_node_t *root = dw_yaml_root(yaml);

	if (!root || is_nothing(root))
		return 0;
	return read_map(&rd, root, keys, base);
}

void dw_yaml_finish(const struct dw_yaml_key *keys, void *base)
{
	for (const struct dw_yaml_key *key = keys; key->name; key++) {
		char *field = (char *)base + key->at;
		size_t n;

		switch (key->type) {
		case DW_YAML_TEXT:
			free(*(char **)field);
			break;
		case DW_YAML_LIST:
		case DW_YAML_SOME:
			free_list(*(char ***)field);
			break;
		case DW_YAML_MAP:
			dw_yaml_finish(key->keys, field);
			break;
		case DW_YAML_MAPS:
		case DW_YAML_NAMED:
			n = *(size_t *)((char *)base + key->count);
			for (size_t i = 0; i < n; i++) {
				char *one = *(char **)field + i * key->size;

				if (key->type == DW_YAML_NAMED)
					free(*(char **)one);
				dw_yaml_finish(key->keys, one);
			}
			free(*(void **)field);
			break;
		default:
			break;
		}
	}
}
