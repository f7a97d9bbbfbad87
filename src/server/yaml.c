/* SPDX-License-Identifier: Apache-2.0 */
#include "server/yaml.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/cleanup.h"
#include "base/guess.h"
#include "base/num.h"

/*
 * libyaml by itself, since its documents know the line of each node. libcyaml, which
 * reads by tables too, gives for an unknown key the line of the one before, cuts
 * texts at a NUL, and says nothing of a second document.
 */
struct dw_yaml {
	char *name;
	yaml_document_t doc;
	bool parsed;
};

/* Where we are: the names of the keys above. */
#define WHERE_MAX 128

struct reader {
	const struct dw_yaml *yaml;
	char where[WHERE_MAX];
	struct dw_error *err;
};

static const yaml_node_t *node_at(const struct dw_yaml *yaml, int index)
{
	/* It only reads. */
	return yaml_document_get_node((yaml_document_t *)&yaml->doc, index);
}

static const yaml_node_t *root_of(const struct dw_yaml *yaml)
{
	return yaml_document_get_root_node((yaml_document_t *)&yaml->doc);
}

/* ---- parsing ---- */

static size_t line_at(const char *text, size_t len, size_t offset)
{
	size_t line = 1;

	for (size_t i = 0; i < offset && i < len; i++)
		line += text[i] == '\n';
	return line;
}

static int tell(const struct dw_yaml *yaml, const yaml_parser_t *parser, const char *text,
                size_t len, struct dw_error *err)
{
	/* Bytes that are no text have no line yet. */
	size_t line = parser->error == YAML_READER_ERROR
	                      ? line_at(text, len, parser->problem_offset)
	                      : parser->problem_mark.line + 1;

	if (parser->error == YAML_MEMORY_ERROR)
		return dw_fail(err, DW_E_INTERNAL, ENOMEM, "read %s", yaml->name);
	return dw_fail(err, DW_E_INVALID, 0, "%s:%zu: this is no YAML: %s", yaml->name,
	               line, parser->problem ? parser->problem : "it makes no sense");
}

static int parse(struct dw_yaml *yaml, yaml_parser_t *parser, const char *text,
                 size_t len, struct dw_error *err)
{
	const yaml_node_t *root;
	yaml_document_t second;
	int r = 0;

	yaml_parser_set_input_string(parser, (const unsigned char *)text, len);
	yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING);
	if (!yaml_parser_load(parser, &yaml->doc))
		return tell(yaml, parser, text, len, err);
	yaml->parsed = true;
	if (!root_of(yaml))
		return 0;
	if (!yaml_parser_load(parser, &second))
		return tell(yaml, parser, text, len, err);
	root = yaml_document_get_root_node(&second);
	if (root)
		r = dw_fail(err, DW_E_INVALID, 0, "%s:%zu: a second document begins here",
		            yaml->name, root->start_mark.line + 1);
	yaml_document_delete(&second);
	return r;
}

int dw_yaml_parse(const char *name, const char *text, size_t len, struct dw_yaml **ret,
                  struct dw_error *err)
{
	struct dw_yaml *yaml = calloc(1, sizeof(*yaml));
	yaml_parser_t parser;
	int r = -1;

	if (yaml)
		yaml->name = strdup(name);
	if (yaml && yaml->name && yaml_parser_initialize(&parser)) {
		r = parse(yaml, &parser, text, len, err);
		yaml_parser_delete(&parser);
	} else {
		(void)dw_fail(err, DW_E_INTERNAL, ENOMEM, "read %s", name);
	}
	if (r < 0) {
		dw_yaml_free(yaml);
		return -1;
	}
	*ret = yaml;
	return 0;
}

void dw_yaml_free(struct dw_yaml *yaml)
{
	if (!yaml)
		return;
	if (yaml->parsed)
		yaml_document_delete(&yaml->doc);
	free(yaml->name);
	free(yaml);
}

/* ---- reading ---- */

/* Say where, in front of what is wrong; -1. */
static int blame(const struct reader *rd, const yaml_node_t *node)
{
	if (rd->err && rd->err->code != DW_E_INVALID)
		return -1;
	if (rd->where[0] != '\0')
		(void)dw_wrap(rd->err, "%s", rd->where);
	return dw_wrap(rd->err, "%s:%zu", rd->yaml->name, node->start_mark.line + 1);
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

/* Of a kind, and without a tag, which would change what it means. */
static bool is_a(const yaml_node_t *node, yaml_node_type_t type)
{
	const char *tag = type == YAML_SCALAR_NODE     ? YAML_DEFAULT_SCALAR_TAG
	                  : type == YAML_SEQUENCE_NODE ? YAML_DEFAULT_SEQUENCE_TAG
	                                               : YAML_DEFAULT_MAPPING_TAG;

	return node->type == type && strcmp((const char *)node->tag, tag) == 0;
}

/* The text of a scalar; NULL if it is none that we take. */
static const char *text_of(const struct reader *rd, const yaml_node_t *node)
{
	const char *text = (const char *)node->data.scalar.value;

	if (!is_a(node, YAML_SCALAR_NODE))
		(void)dw_fail(rd->err, DW_E_INVALID, 0,
		              "must be one value, without a tag");
	else if (strlen(text) != node->data.scalar.length)
		(void)dw_fail(rd->err, DW_E_INVALID, 0, "has a NUL in it");
	else if (text[0] == '\0')
		(void)dw_fail(rd->err, DW_E_INVALID, 0, "is empty");
	else
		return text;
	(void)blame(rd, node);
	return NULL;
}

static int check_text(const struct reader *rd, const yaml_node_t *node,
                      const struct dw_yaml_key *key, const void *base, const char *text)
{
	if (key->check && key->check(base, text, rd->err) < 0)
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

/* The texts of a sequence, or of a scalar as one; what is there ends in NULL. */
static int read_texts(const struct reader *rd, const yaml_node_t *node,
                      const struct dw_yaml_key *key, const void *base, char ***ret,
                      size_t *ret_n)
{
	bool many = is_a(node, YAML_SEQUENCE_NODE);
	const yaml_node_item_t *items = many ? node->data.sequence.items.start : NULL;
	size_t n = many ? (size_t)(node->data.sequence.items.top - items) : 1;
	autolist char **list = NULL;

	if (!many && key->type == DW_YAML_LIST) {
		(void)dw_fail(rd->err, DW_E_INVALID, 0, "must be a list: [a, b]");
		return blame(rd, node);
	}
	if (n < key->min || n > key->max) {
		(void)dw_fail(rd->err, DW_E_INVALID, 0,
		              "has %zu entries, and must have %llu to %llu", n,
		              (unsigned long long)key->min, (unsigned long long)key->max);
		return blame(rd, node);
	}
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		return dw_fail(rd->err, DW_E_INTERNAL, ENOMEM, "read %s", rd->yaml->name);
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = many ? node_at(rd->yaml, items[i]) : node;
		const char *text = text_of(rd, item);

		if (!text || check_text(rd, item, key, base, text) < 0)
			return -1;
		list[i] = strdup(text);
		if (!list[i])
			return dw_fail(rd->err, DW_E_INTERNAL, ENOMEM, "read %s",
			               rd->yaml->name);
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
		return dw_fail(rd->err, DW_E_INTERNAL, ENOMEM, "read %s", rd->yaml->name);
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
	(void)dw_fail(rd->err, DW_E_INVALID, 0, "must be true or false");
	return blame(rd, node);
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
			               "\"%.64s\" is finer than a second", text);
		*ret /= 1000;
		return 0;
	default:
		return dw_parse_uint(text, UINT64_MAX, ret, err);
	}
}

static const char *unit_of(enum dw_yaml_type type)
{
	switch (type) {
	case DW_YAML_SIZE:
		return " bytes";
	case DW_YAML_CPUS:
		return "% of a core";
	case DW_YAML_TIME:
		return " ms";
	case DW_YAML_SECONDS:
		return " seconds";
	default:
		return "";
	}
}

static int read_number(const struct reader *rd, const yaml_node_t *node,
                       const struct dw_yaml_key *key, void *base)
{
	bool narrow = key->type == DW_YAML_COUNT || key->type == DW_YAML_SECONDS;
	uint64_t most = narrow && key->max > UINT_MAX ? UINT_MAX : key->max;
	void *field = (char *)base + key->at;
	const char *text = text_of(rd, node);
	uint64_t value;

	if (!text)
		return -1;
	if (parse_number(key->type, text, &value, rd->err) < 0)
		return blame(rd, node);
	if (value == 0 && key->min == 1) {
		(void)dw_fail(rd->err, DW_E_INVALID, 0, "must be more than 0");
		return blame(rd, node);
	}
	if (value < key->min || value > most) {
		(void)dw_fail(rd->err, DW_E_INVALID, 0,
		              "\"%.64s\" is out of range: %llu to %llu%s", text,
		              (unsigned long long)key->min, (unsigned long long)most,
		              unit_of(key->type));
		return blame(rd, node);
	}
	if (narrow)
		*(unsigned *)field = (unsigned)value;
	else
		*(uint64_t *)field = value;
	return check_text(rd, node, key, base, text);
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

	if (!is_a(node, YAML_SEQUENCE_NODE)) {
		(void)dw_fail(rd->err, DW_E_INVALID, 0, "must be a list of mappings");
		return blame(rd, node);
	}
	items = node->data.sequence.items.start;
	n = (size_t)(node->data.sequence.items.top - items);
	if (n > key->max) {
		(void)dw_fail(rd->err, DW_E_INVALID, 0,
		              "has %zu entries, %llu are the most", n,
		              (unsigned long long)key->max);
		return blame(rd, node);
	}
	*field = calloc(n + 1, key->size);
	if (!*field)
		return dw_fail(rd->err, DW_E_INTERNAL, ENOMEM, "read %s", rd->yaml->name);
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = node_at(rd->yaml, items[i]);
		void *one = (char *)*field + i * key->size;

		/* So that what there is of it is freed, too. */
		*count = i + 1;
		if (read_map(rd, item, key->keys, one) < 0)
			return -1;
		if (key->check && key->check(one, NULL, rd->err) < 0)
			return blame(rd, item);
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
		return read_list(rd, node, key, base);
	case DW_YAML_WORDS:
		return read_words(rd, node, key, base);
	case DW_YAML_FLAG:
		return read_flag(rd, node, key, base);
	case DW_YAML_MAP:
		return read_map(rd, node, key->keys, (char *)base + key->at);
	case DW_YAML_MAPS:
		return read_maps(rd, node, key, base);
	default:
		return read_number(rd, node, key, base);
	}
}

static int unknown(const struct reader *rd, const yaml_node_t *node, const char *name,
                   const struct dw_yaml_key *keys)
{
	struct dw_guess guess = {.typed = name};

	for (const struct dw_yaml_key *key = keys; key->name; key++)
		dw_guess_offer(&guess, key->name);
	if (guess.best)
		(void)dw_fail(rd->err, DW_E_INVALID, 0, "unknown key, did you mean %s?",
		              guess.best);
	else
		(void)dw_fail(rd->err, DW_E_INVALID, 0, "unknown key");
	return blame(rd, node);
}

/* Was the key of this pair there before? */
static bool seen_before(const struct reader *rd, const yaml_node_t *map,
                        const yaml_node_pair_t *pair, const char *name)
{
	const yaml_node_pair_t *other;

	for (other = map->data.mapping.pairs.start; other < pair; other++) {
		const yaml_node_t *key = node_at(rd->yaml, other->key);

		if (strcmp((const char *)key->data.scalar.value, name) == 0)
			return true;
	}
	return false;
}

static int read_pair(struct reader *rd, const yaml_node_t *map,
                     const yaml_node_pair_t *pair, const struct dw_yaml_key *keys,
                     void *base)
{
	const yaml_node_t *name_node = node_at(rd->yaml, pair->key);
	const yaml_node_t *value = node_at(rd->yaml, pair->value);
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
		(void)dw_fail(rd->err, DW_E_INVALID, 0, "is there twice");
		r = blame(rd, name_node);
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

	if (!is_a(node, YAML_MAPPING_NODE)) {
		(void)dw_fail(rd->err, DW_E_INVALID, 0,
		              "must be a mapping, of keys with their values");
		return blame(rd, node);
	}
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
	const yaml_node_t *root = root_of(yaml);

	if (!root || is_nothing(root))
		return 0;
	return read_map(&rd, root, keys, base);
}

/* The value of a key in a mapping, or NULL. */
static const yaml_node_t *value_of(const struct dw_yaml *yaml, const yaml_node_t *map,
                                   const char *name, size_t len)
{
	const yaml_node_pair_t *pair;

	if (map->type != YAML_MAPPING_NODE)
		return NULL;
	for (pair = map->data.mapping.pairs.start; pair < map->data.mapping.pairs.top;
	     pair++) {
		const yaml_node_t *key = node_at(yaml, pair->key);

		if (key->type == YAML_SCALAR_NODE && key->data.scalar.length == len &&
		    memcmp(key->data.scalar.value, name, len) == 0)
			return node_at(yaml, pair->value);
	}
	return NULL;
}

int dw_yaml_blame(const struct dw_yaml *yaml, const char *path, struct dw_error *err)
{
	const yaml_node_t *node = root_of(yaml), *next;
	const char *p = path;
	size_t len;

	/* As far as there is anything. */
	for (; node; node = next, p += len + (p[len] == '.')) {
		len = strcspn(p, ".");
		next = len > 0 ? value_of(yaml, node, p, len) : NULL;
		if (!next)
			break;
	}
	return dw_wrap(err, "%s:%zu: %s", yaml->name,
	               node ? node->start_mark.line + 1 : 1, path);
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
			free_list(*(char ***)field);
			break;
		case DW_YAML_MAP:
			dw_yaml_finish(key->keys, field);
			break;
		case DW_YAML_MAPS:
			n = *(size_t *)((char *)base + key->count);
			for (size_t i = 0; i < n; i++)
				dw_yaml_finish(key->keys,
				               *(char **)field + i * key->size);
			free(*(void **)field);
			break;
		default:
			break;
		}
	}
}
